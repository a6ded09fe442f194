"""Writes proposals as configuration files, with comments that describe each entry and its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from sitegen.model.named_tuple import NamedTuple
from sitegen.recognition.instruction_files import InstructionGlob
from sitegen.text.plain import counted, line

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_OWN: Final = (".claude/instructions/**/*.md", ".claude/agents/*.md")
_COMMENT: Final = 110
"""The length of a comment's lines, in characters."""


class WrittenEntry(NamedTuple):
    """An entry of a manifest."""

    eval_id: str
    keys: Mapping[str, Any]
    comment: Sequence[str] = ()
    """Sentences above the keys."""


def manifest_text(entries: Sequence[WrittenEntry], about: str) -> str:
    """Return the text of ``manifest.yaml``."""
    rows = [*_comments(about, ""), 'version: "2.0"', "evals:" if entries else "evals: {}"]
    for eval_id, keys, comment in entries:
        rows.append(f"  {_yaml_text(eval_id)}:")
        for sentence in comment:
            rows += _comments(sentence, "    ")
        rows += [f"    {_yaml_text(key)}: {_flow(value)}" for key, value in keys.items()]
    return "\n".join(rows) + "\n"


def site_text(globs: Sequence[InstructionGlob]) -> str:
    """Return the text of ``sitegen.toml``: the globs of the instruction files, including files that ``init`` writes."""
    patterns = {glob.glob for glob in globs}
    rows = [(glob.glob, glob_summary(glob)) for glob in globs]
    rows += [(pattern, "what init writes itself") for pattern in _OWN if pattern not in patterns]
    keys = [(f"  {_quoted(pattern)},", f"# {comment}") for pattern, comment in rows]
    width = min(60, max(len(key) for key, _ in keys))
    lines = [
        "# Which files instruct the model: sitegen follows every edit of them.",
        "instructions = [",
        *(f"{key:<{width}}  {comment}" for key, comment in keys),
        "]",
    ]
    return "\n".join(lines) + "\n"


def glob_summary(glob: InstructionGlob) -> str:
    """``3 files, 12 versions: rules of Cursor``."""
    return f"{counted(glob.files, 'file')}, {counted(glob.edits, 'version')}: {glob.meaning}"


def _comments(text: str, indent: str) -> list[str]:
    width = _COMMENT - len(indent) + 1
    return [
        f"{indent}# {row}"
        for row in wrap(" ".join(line(text).split()), width, break_long_words=False, break_on_hyphens=False)
    ]


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml_text(str(key))}: {_flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _yaml_text(value) if isinstance(value, str) else json.dumps(value)


def _yaml_text(text: str) -> str:
    """Return a text as a YAML scalar, quoted only if YAML would otherwise read another value."""
    return text if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS else _quoted(text)


def _quoted(text: str) -> str:
    """Return a text in double quotes, which YAML and TOML read alike."""
    return json.dumps(text, ensure_ascii=False)
