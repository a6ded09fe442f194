"""Reading ``sitegen.toml`` and the manifest: text into the frozen values of ``sitegen.config``, or an error that helps.

pydantic and yaml are imported where they are needed: a build whose configuration is known needs neither.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from sitegen.config import SITE_FILES, EvalConfig, Manifest, SiteConfig
from sitegen.errors import ConfigurationError
from sitegen.model.problems import Finding

_LARGEST: Final = 1_000_000
_MOST_ALIASES: Final = 100
_MOST_NODES: Final = 200_000
_DEEPEST: Final = 60
_UNKNOWN: Final = ("unexpected_keyword_argument", "extra_forbidden")
"""What pydantic calls a key that nobody knows."""
_ENTRY_KEYS: Final = frozenset(each.name for each in fields(EvalConfig)) - {"id", "metadata"}

Read = Callable[[str], bytes | None]
Location = tuple[str | int, ...]


def read_site(root: Path | None, *, read: Read | None = None) -> SiteConfig:
    """The site's configuration: ``sitegen.toml``, else ``[tool.sitegen]`` of ``pyproject.toml``, else the defaults.

    *read* gives a file's content by its path, for a repository without a work tree. Raises ConfigurationError.
    """
    for name, content in _site_contents(root, read):
        table: Any = _toml(name, content)
        if name == "pyproject.toml":
            tool = table.get("tool")
            if not isinstance(tool, dict) or "sitegen" not in tool:
                continue
            table = tool["sitegen"]
        prefix = "tool.sitegen." if name == "pyproject.toml" else ""
        return _site(name, content.decode("utf-8-sig", "replace"), table, prefix)
    return SiteConfig()


def read_site_file(file: Path) -> SiteConfig:
    """The configuration in a file of any name, written as ``sitegen.toml`` is. Raises ConfigurationError."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"{file.name} cannot be read: {error.strerror}.", where=str(file), fix="Name a file that is there."
        ) from error
    return _site(str(file), content.decode("utf-8-sig", "replace"), _toml(str(file), content), "")


def site_config_bytes(root: Path | None, *, read: Read | None = None) -> bytes:
    """Everything that ``read_site`` looks at, for a fingerprint."""
    return b"\0".join(
        b"%s\0%d\0%s" % (name.encode(), len(content), content) for name, content in _site_contents(root, read)
    )


def read_manifest(content: bytes, path: str, evals_dir: str) -> Manifest:
    """The manifest of the built revision. Raises ConfigurationError for the first thing that cannot be understood."""
    manifest, findings = _manifest(content, path, evals_dir)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors or manifest is None:
        first = errors[0]
        where = path if first.line is None else f"{path}:{first.line}"
        raise ConfigurationError(first.what, where=where, fix=first.fix)
    return manifest


def read_entry(eval_id: str, content: bytes, path: str) -> EvalConfig:
    """A file of its own with the keys of one eval's entry, YAML or JSON. Raises ConfigurationError."""
    try:
        root, lines = _yaml(content)
    except _UnreadableError as error:
        read: EvalConfig | Finding = error.finding
    else:
        read = _entry(eval_id, {} if root is None else root, {("evals", eval_id, *at): n for at, n in lines.items()})
    if isinstance(read, EvalConfig):
        return read
    where = path if read.line is None else f"{path}:{read.line}"
    raise ConfigurationError(read.what, where=where, fix=read.fix)


def overlaid(entry: EvalConfig, said: EvalConfig) -> EvalConfig:
    """An entry with every key that the other one says; of settings and thresholds, key by key."""
    changed = {
        each.name: value for each in fields(EvalConfig) if (value := getattr(said, each.name)) != _default(each.name)
    }
    changed["settings"] = _canonical({**json.loads(entry.settings), **json.loads(said.settings)})
    changed["thresholds"] = tuple({**dict(entry.thresholds), **dict(said.thresholds)}.items())
    return replace(entry, **changed)


def _default(name: str) -> object:
    return getattr(EvalConfig(id=""), name)


def read_manifest_leniently(content: bytes, path: str, evals_dir: str) -> tuple[Manifest | None, tuple[Finding, ...]]:
    """The manifest of an old commit: entries that cannot be understood are left out, and said.

    None if the whole cannot be read.
    """
    return _manifest(content, path, evals_dir)


def _site_contents(root: Path | None, read: Read | None) -> list[tuple[str, bytes]]:
    contents = []
    for name in SITE_FILES:
        content = None
        if root is not None:
            try:
                content = (root / name).read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                content = None
            except OSError as error:
                raise ConfigurationError(
                    f"{name} cannot be read: {error.strerror}.", where=str(root / name), fix="Make it readable."
                ) from error
        elif read is not None:
            content = read(name)
        if content is not None:
            contents.append((name, content))
    return contents


def _toml(name: str, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{name} is not UTF-8.", where=name, fix="Save it as UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"line (\d+)", str(error))
        where = f"{name}:{match[1]}" if match else name
        raise ConfigurationError(f"{name} is no TOML: {error}.", where=where, fix="Correct the line.") from error


def _site(name: str, text: str, table: Any, prefix: str) -> SiteConfig:
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(table, dict):
        raise ConfigurationError(
            f"[tool.sitegen] is {_found(table)}, a table is wanted.", where=name, fix="Write [tool.sitegen]."
        )
    try:
        return TypeAdapter(SiteConfig).validate_python(table)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] not in _UNKNOWN)  # before the key that it leaves out
        finding = _finding(first, lambda location: _toml_line(text, location, prefix), _site_keys)
        where = name if finding.line is None else f"{name}:{finding.line}"
        raise ConfigurationError(finding.what, where=where, fix=finding.fix) from None


def _site_keys(location: Location) -> tuple[str, ...]:
    """The keys of the table that a key stands in."""
    from sitegen.config import Engine, EvalLimits, Gate, Limit, Limits, Llm, Mute, Public, Regressions

    tables = {
        (): SiteConfig,
        ("limits",): Limits,
        ("engine",): Engine,
        ("llm",): Llm,
        ("regressions",): Regressions,
        ("regressions", "mute"): Mute,
        ("public",): Public,
        ("gate",): Gate,
        ("gate", "metrics", "*"): Limit,
        ("gate", "evals", "*"): EvalLimits,
        ("gate", "evals", "*", "metrics", "*"): Limit,
    }
    parts = [part for part in location[:-1] if isinstance(part, str)]
    named = parts[:1] == ["gate"]  # below these two tables every second key is a name that the user chose
    owner = tables.get(tuple("*" if named and at in (2, 4) else part for at, part in enumerate(parts)))
    return tuple(each.name for each in fields(owner)) if owner else ()


def _toml_line(text: str, location: Location, prefix: str) -> int | None:
    """The line that a key stands on: found by its spelling, since tomllib does not tell."""
    keys = [part for part in location if isinstance(part, str)]
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            table = header[1].replace('"', "").replace(" ", "") + "."
            if table == f"{prefix}{'.'.join(keys)}.":
                return number
        elif match := re.match(r"\s*([\w\"'.\- ]+?)\s*=", line):
            key = f"{table}{match[1]}".replace('"', "").replace("'", "").replace(" ", "")
            if key == prefix + ".".join(keys):
                return number
    return None


def _manifest(content: bytes, path: str, evals_dir: str) -> tuple[Manifest | None, tuple[Finding, ...]]:
    try:
        root, lines = _yaml(content)
    except _UnreadableError as error:
        return None, (error.finding,)
    if root is None:
        return Manifest(), ()
    if not isinstance(root, dict):
        return None, (Finding("error", f"The manifest is {_found(root)}.", "Write a mapping with the key evals.", 1),)
    findings = [
        _unknown_key((str(key),), ("version", "evals"), lines.get((str(key),)))
        for key in root
        if key not in ("version", "evals")
    ]
    entries = root.get("evals")
    if not isinstance(entries, dict | None):
        what = f"evals is {_found(entries)}, a mapping from ids to entries is wanted."
        return None, (Finding("error", what, "Write the id of each eval as a key below evals.", lines.get(("evals",))),)
    evals = []
    for eval_id, entry in (entries or {}).items():
        read = _entry(str(eval_id), {} if entry is None else entry, lines)
        if isinstance(read, EvalConfig):
            evals.append(read)
        else:
            findings.append(read)
    version = root.get("version", "2.0")
    return Manifest(version=str(version), evals=tuple(evals)), tuple(findings)


def _entry(eval_id: str, entry: Any, lines: Mapping[Location, int]) -> EvalConfig | Finding:
    from pydantic import ValidationError

    line = lines.get(("evals", eval_id))
    if not isinstance(entry, dict):
        return Finding(
            "error", f"evals.{eval_id} is {_found(entry)}, a mapping is wanted.", "Write its keys below it.", line
        )
    known: dict[str, Any] = {"id": eval_id}
    metadata = []
    for key, value in entry.items():
        if key in _ENTRY_KEYS:
            known[key] = value
        elif key != "id":
            metadata.append((str(key), _as_text(value)))
    for key, wanted in (("settings", "a mapping"), ("thresholds", "a mapping from metrics to numbers")):
        value = known.get(key)
        if value is None:
            known.pop(key, None)
        elif isinstance(value, dict):
            known[key] = _canonical(value) if key == "settings" else [(str(name), each) for name, each in value.items()]
        else:
            what = f"evals.{eval_id}.{key} is {_found(value)}, {wanted} is wanted."
            return Finding("error", what, "Correct the value.", lines.get(("evals", eval_id, key), line))
    for key in ("instructions", "aliases", "redact"):
        if isinstance(known.get(key), str):
            known[key] = [known[key]]
        elif known.get(key) is None:
            known.pop(key, None)
    try:
        validated: EvalConfig = _entry_adapter().validate_python({**known, "metadata": metadata})
        return validated
    except ValidationError as error:
        return _finding(
            error.errors()[0],
            lambda location: _first_line(lines, ("evals", eval_id, *location)) or line,
            lambda location: tuple(sorted(_ENTRY_KEYS)),
            prefix=f"evals.{eval_id}.",
        )


def _entry_adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(EvalConfig)


def _finding(
    error: Any,
    line: Callable[[Location], int | None],
    keys: Callable[[Location], Iterable[str]],
    prefix: str = "",
) -> Finding:
    """The first complaint of pydantic in our words."""
    location: Location = tuple(error["loc"])
    name = prefix + ".".join(str(part) for part in location)
    if error["type"] in _UNKNOWN:
        return _unknown_key((*location[:-1], str(location[-1])), tuple(keys(location)), line(location), prefix)
    if error["type"] == "missing":
        return Finding("error", f"The key {name!r} is missing.", "Write it.", line(location[:-1]))
    wanted = error["msg"].removeprefix("Input should be ")
    what = f"{name} is {_found(error['input'])}, {wanted} is wanted."
    return Finding("error", what, "Correct the value.", line(location))


def _unknown_key(location: Location, known: Iterable[str], line: int | None, prefix: str = "") -> Finding:
    key = str(location[-1])
    known = tuple(known)
    near = get_close_matches(key, known, 1, 0.5)
    fix = f"Did you mean {near[0]!r}?" if near else f"Known keys: {', '.join(sorted(known))}."
    return Finding("error", f"The key {prefix}{'.'.join(map(str, location))!r} is not known.", fix, line)


def _found(value: Any) -> str:
    """A value as a message shows it: what it is, and its beginning."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value", int: "a number", float: "a number"}
    kind = "empty" if value is None else names.get(type(value), type(value).__name__)
    if value is None or isinstance(value, dict | list):
        return kind
    text = repr(value)
    return f"{kind} ({text if len(text) <= 60 else text[:59] + '…'})"


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return _canonical(value) if isinstance(value, dict | list) else "" if value is None else _scalar(value)


def _scalar(value: Any) -> str:
    return json.dumps(value, default=str).strip('"')


def _canonical(value: Any) -> str:
    return json.dumps(_text_keys(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _text_keys(each) for key, each in value.items()}
    return [_text_keys(each) for each in value] if isinstance(value, list) else value


def _first_line(lines: Mapping[Location, int], location: Location) -> int | None:
    for end in range(len(location), 0, -1):
        if location[:end] in lines:
            return lines[location[:end]]
    return None


class _UnreadableError(Exception):
    def __init__(self, what: str, fix: str, line: int | None = None) -> None:
        super().__init__(what)
        self.finding = Finding("error", what, fix, line)


def _yaml(content: bytes) -> tuple[Any, dict[Location, int]]:
    """A YAML document and the line of each key. Raises _UnreadableError."""
    import yaml

    if len(content) > _LARGEST:
        raise _UnreadableError(f"The manifest has {len(content):,} bytes.", f"Keep it under {_LARGEST:,} bytes.")
    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_size(content, loader_class)
        loader = loader_class(content)
        try:
            node = loader.get_single_node()
            if node is None:
                return None, {}
            _expanded_size(node, {})
            return loader.construct_document(node), _key_lines(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise _UnreadableError(f"The manifest is no YAML: {error.problem}.", "Correct the line.", line) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        raise _UnreadableError(
            f"The manifest is no YAML: {' '.join(str(error).split())[:200]}.", "Correct it."
        ) from None


def _check_size(content: bytes, loader_class: Any) -> None:
    """Refuse what would grow when it is built: many aliases, deep nesting."""
    import yaml

    aliases = depth = nodes = 0
    for event in yaml.parse(content, loader_class):
        aliases += isinstance(event, yaml.AliasEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if aliases > _MOST_ALIASES or depth > _DEEPEST or nodes > _MOST_NODES:
            raise _too_much(event.start_mark)


def _expanded_size(node: Any, sizes: dict[int, int]) -> int:
    """The number of values if each alias were written out; an anchor stands before its aliases, so none is in doubt."""
    if id(node) in sizes:
        if not sizes[id(node)]:
            raise _UnreadableError("The manifest holds itself.", "Remove the alias.", node.start_mark.line + 1)
        return sizes[id(node)]
    sizes[id(node)] = 0
    children = [] if node.id == "scalar" else node.value
    size = 1 + sum(
        _expanded_size(each, sizes) for child in children for each in (child if isinstance(child, tuple) else (child,))
    )
    if size > _MOST_NODES:
        raise _too_much(node.start_mark)
    sizes[id(node)] = size
    return size


def _too_much(mark: Any) -> _UnreadableError:
    what = f"The manifest has too many aliases (more than {_MOST_ALIASES}), levels ({_DEEPEST}) or values."
    return _UnreadableError(what, "Write the values out, and fewer of them.", mark.line + 1)


def _key_lines(node: Any, location: Location = (), lines: dict[Location, int] | None = None) -> dict[Location, int]:
    """Location -> line (from 1) of each key, four levels deep; aliases are not followed twice."""
    lines = {} if lines is None else lines
    if node.id != "mapping" or len(location) > 4:
        return lines
    for key, value in node.value:
        if key.id == "scalar":
            lines.setdefault((*location, key.value), key.start_mark.line + 1)
            _key_lines(value, (*location, key.value), lines)
    return lines
