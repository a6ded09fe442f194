"""What was found, as the files of a configuration: with comments that say what each entry is for and why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sitegen.discovery.instruction_files import InstructionGlob
from sitegen.text.plain import line

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_OWN: Final = (".claude/instructions/**/*.md", ".claude/agents/*.md")
_COMMENT: Final = 110


def manifest_text(entries: Sequence[tuple[str, Mapping[str, Any], Sequence[str]]], about: str) -> str:
    """``manifest.yaml``. Each entry: id, keys, sentences that stand above it."""
    rows = [*_comments(about, ""), 'version: "2.0"', "evals:" if entries else "evals: {}"]
    for eval_id, keys, sentences in entries:
        rows.append(f"  {_scalar(eval_id)}:")
        for sentence in sentences:
            rows += _comments(sentence, "    ")
        rows += [f"    {_scalar(key)}: {_flow(value)}" for key, value in keys.items()]
    return "\n".join(rows) + "\n"


def site_text(globs: Sequence[InstructionGlob]) -> str:
    """``sitegen.toml`` with the globs of the instruction files, and of those that ``init`` writes itself."""
    named = {found.glob for found in globs}
    own = [
        InstructionGlob(glob=glob, what="what init writes itself", files=0, edits=0)
        for glob in _OWN
        if glob not in named
    ]
    rows = ["# Which files instruct the model: sitegen follows every edit of them.", *instruction_lines([*globs, *own])]
    return "\n".join(rows) + "\n"


def instruction_lines(globs: Sequence[InstructionGlob]) -> tuple[str, ...]:
    """The key of the configuration, one glob a line."""
    rows = [(f"  {_quoted(found.glob)},", f"# {counted(found)}") for found in globs]
    width = min(60, max((len(glob) for glob, _ in rows), default=0))
    return ("instructions = [", *(f"{glob:<{width}}  {comment}" for glob, comment in rows), "]")


def counted(glob: InstructionGlob) -> str:
    """What a glob names: ``3 files, 12 versions: rules of Cursor``."""
    if not glob.files:
        return glob.what
    files = f"{glob.files:,} {'file' if glob.files == 1 else 'files'}"
    return f"{files}, {glob.edits:,} {'version' if glob.edits == 1 else 'versions'}: {glob.what}"


def _comments(text: str, indent: str) -> list[str]:
    rows, row = [], ""
    for word in line(text).split():
        if row and len(indent) + len(row) + len(word) > _COMMENT:
            rows.append(row)
            row = ""
        row = f"{row} {word}" if row else word
    return [f"{indent}# {text}" for text in (*rows, row) if text]


def _flow(value: object) -> str:
    """A value in YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    """A text that YAML reads as this text."""
    return text if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes, as YAML and TOML both read them."""
    return json.dumps(text, ensure_ascii=False)
