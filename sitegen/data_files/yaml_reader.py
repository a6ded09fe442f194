"""Reads YAML and TOML within bounds. Nothing else reads either.

YAML has two sets of types: those of JSON for data, those of PyYAML's safe loader for configurations.

``read_yaml`` builds data itself from the events of PyYAML's parser: its loader would turn ``no`` into false, ``012``
into 10 and ``2024-01-02`` into a date, and its C composer crashes the process on deep nesting. Tags are never executed.
Both readers go through ``_bounded_events``, since a few aliases of aliases can expand to millions of values.
The bounds of TOML hold before ``tomllib`` sees the file.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

from sitegen.data_files import reading
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding, Parsed

_MAX_NODES: Final = 2_000_000
"""Largest number of keys and values of a file; an alias counts as all values that it stands for."""
_MAX_CONFIGURING_NODES: Final = 200_000  # largest number of keys and values of a configuration
_INTEGER: Final = r"-?(0|[1-9][0-9]*)"
_FRACTION: Final = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_CONSTANTS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}
_NOT_NUMBERS: Final = (".nan", ".inf", "-.inf", "+.inf")
_TAG_HANDLE: Final = r"(tag handle) '.*'"
"""The only text of a file that the parser quotes; messages about an invalid file contain none of it."""
_BEYOND_NESTING: Final = "exceeded maximum nesting depth"
"""The message of libyaml 0.2.6 about more than a thousand levels; earlier versions have no such bound."""
_QUOTED: Final = ("'", '"', "|", ">")
_TEXT: Final = "tag:yaml.org,2002:str"
_T = TypeVar("_T")

KeyLines: TypeAlias = dict[reading.Location, int]
"""The line, from 1, of each key and item."""


def read_yaml(content: bytes) -> tuple[tuple[Value, ...], KeyLines, tuple[Finding, ...]]:
    """Parse every document of a YAML file as data. Raises UnreadableError, never anything else.

    Returns the documents, the lines of the keys of the first one, and the findings.
    """
    text = reading.text_of(content)
    builder = _ValueBuilder(text, _MAX_NODES)
    values = _unreadable_if_invalid(lambda: tuple(builder.documents()))
    twice = (
        Finding("warning", reading.DUPLICATE_KEY, "Remove one.", line=line, value=repr(str(path[-1])[:80]))
        for path, line in builder.repeated[: reading.MAX_ODDITIES]
    )
    return values, builder.lines, (*twice, *builder.findings)


def read_data(ending: str, content: bytes) -> Parsed[Value]:
    """Parse CSV, JSON Lines or YAML if the name ends so, else JSON. Raises UnreadableError, also for a single line.

    Rows of texts, JSON Lines and several YAML documents become a list.
    """
    findings: list[Finding] = []
    values: list[Value] = []
    if ending == "csv":
        return Parsed([{**row} for row in reading.csv_dicts(content)])
    if ending in reading.LINES:
        for _, parsed in reading.each_line(content):
            if isinstance(parsed, reading.UnreadableError):
                raise parsed
            values.append(parsed.value)
            findings += parsed.findings
        return Parsed(values, tuple(findings))
    if ending in ("yaml", "yml"):
        documents, _, odd = read_yaml(content)
        return Parsed(documents[0] if len(documents) == 1 else [*documents], odd)
    return reading.read_json(content)


def read_configuring_yaml(content: bytes) -> tuple[Any, KeyLines, KeyLines]:
    """Return the one document as PyYAML's safe loader reads it, the lines of its keys, and those of repeated keys.

    Of a key that stands twice in one mapping the last value counts. Raises UnreadableError, never anything else.
    """
    if (size := len(content)) > reading.MAX_CONFIGURING_BYTES:
        raise reading.UnreadableError(
            f"it has {size:,} bytes", f"Keep it under {reading.MAX_CONFIGURING_BYTES:,} bytes."
        )

    def load() -> tuple[Any, KeyLines, KeyLines]:
        builder = _ValueBuilder(content, _MAX_CONFIGURING_NODES)
        for _ in builder.documents():
            pass  # the loader builds everything at once, so the bounds have to be checked before
        loader = _configuring_loader()(content)
        try:
            node = loader.get_single_node()
            root = None if node is None else loader.construct_document(node)
            return root, builder.lines, dict(builder.repeated)
        finally:
            loader.dispose()

    return _unreadable_if_invalid(load)


def _loader_class() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _configuring_loader() -> Any:
    """PyYAML's safe loader with a bound on whole numbers, since Python refuses to print those of many digits.

    A key that is a list or a mapping is "?", as in data, so that it is lost alone: PyYAML refuses the file.
    """
    import yaml

    def whole_number(loader: Any, node: Any) -> Any:
        if len(node.value) > reading.MAX_DIGITS:
            reason = f"a number is longer than {reading.MAX_DIGITS} characters"
            raise reading.UnreadableError(reason, "Shorten it.", node.start_mark.line + 1)
        return loader.construct_yaml_int(node)

    def mapping(loader: Any, node: Any, deep: bool = False) -> Any:
        for index, (key, value) in enumerate(node.value):
            if key.id != "scalar":
                node.value[index] = yaml.ScalarNode(_TEXT, "?", key.start_mark), value
        return _loader_class().construct_mapping(loader, node, deep)

    bounded: Any = type("ConfiguringLoader", (_loader_class(),), {"construct_mapping": mapping})
    bounded.add_constructor("tag:yaml.org,2002:int", whole_number)
    return bounded


def _unreadable_if_invalid(read: Callable[[], _T]) -> _T:
    """Return what ``read`` returns; any exception of PyYAML becomes an UnreadableError."""
    import yaml

    try:
        return read()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        if problem == _BEYOND_NESTING:
            raise reading.too_deep(line) from None
        reason = re.sub(_TAG_HANDLE, r"\1", problem)
        where = f" at line {line}" if line else ""
        raise reading.UnreadableError(f"it is not valid YAML: {reason}{where}", "Write valid YAML.", line) from None
    except (ValueError, TypeError, OverflowError) as error:  # such as a date with a 13th month
        reason = " ".join(str(error).split())[:200]
        raise reading.UnreadableError(f"it is not valid YAML: {reason}", "Write valid YAML.") from None


def _bounded_events(source: bytes | str, max_nodes: int) -> Iterator[Any]:
    """Yield the events of a parser, up to the bounds on nesting and size. Raises UnreadableError beyond them.

    An anchor is defined only once its value is complete, so that no value can contain itself.
    """
    import yaml

    nodes = 0
    sizes: dict[str, int] = {}  # by anchor
    open_collections: list[tuple[str | None, int]] = []  # anchor, nodes before it
    events: Iterator[Any] = yaml.parse(source, Loader=_loader_class())
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            mark: Any = event.start_mark
            line = mark.line + 1
            if len(open_collections) > reading.MAX_DEPTH:
                raise reading.too_deep(line)
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in sizes:
                    inside = any(anchor == event.anchor for anchor, _ in open_collections)
                    reason = "an alias refers to a value that contains it" if inside else "an alias stands for nothing"
                    raise reading.UnreadableError(reason, "Write it out.", line)
                nodes += sizes[event.anchor]
            elif isinstance(event, yaml.CollectionStartEvent):
                open_collections.append((event.anchor, nodes))
            elif event.anchor is not None:
                sizes[event.anchor] = 1
            nodes += 1
            if nodes > max_nodes:
                reason = f"it grows beyond {max_nodes:,} keys and values"
                raise reading.UnreadableError(reason, "Write it without aliases of aliases.", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_collections.pop()
            if anchor is not None:
                sizes[anchor] = nodes - before
        elif isinstance(event, yaml.DocumentStartEvent):
            sizes.clear()
        yield event


class _ValueBuilder:
    """Builds values of JSON's types from events."""

    def __init__(self, source: str | bytes, max_nodes: int) -> None:
        import yaml

        self._yaml: Any = yaml
        self._events = _bounded_events(source, max_nodes)
        self._anchors: dict[str, Value] = {}
        self._in_first = True
        self.lines: KeyLines = {}
        self.repeated: list[tuple[reading.Location, int]] = []
        """Keys that stand twice in one mapping, with the lines of their last places."""
        self.findings: list[Finding] = []

    def documents(self) -> Iterator[Value]:
        for event in self._events:
            if isinstance(event, self._yaml.DocumentStartEvent):
                self._anchors.clear()
                yield self._value_of(next(self._events), ())
                self._in_first = False

    def _value_of(self, event: Any, path: reading.Location) -> Value:
        if isinstance(event, self._yaml.AliasEvent):
            return self._anchors[event.anchor]
        if isinstance(event, self._yaml.MappingStartEvent):
            value: Value = self._members(path)
        elif isinstance(event, self._yaml.SequenceStartEvent):
            value = self._items(path)
        else:
            value = _plain_value(event)
            if isinstance(value, Unusable) and len(self.findings) < reading.MAX_ODDITIES:
                message, line = reading.UNUSABLE.format(value.reason), event.start_mark.line + 1
                self.findings.append(Finding("warning", message, reading.FINITE, line=line, value=value.literal))
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _items(self, path: reading.Location) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := next(self._events), self._yaml.SequenceEndEvent):
            below = (*path, len(items))
            if self._in_first:
                self.lines[below] = event.start_mark.line + 1
            items.append(self._value_of(event, below))
        return items

    def _members(self, path: reading.Location) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        members: dict[str, Value] = {}
        while not isinstance(event := next(self._events), self._yaml.MappingEndEvent):
            is_scalar = isinstance(event, self._yaml.ScalarEvent)
            key = event.value if is_scalar else "?"
            if not is_scalar or event.anchor is not None:
                self._value_of(event, (*path, key))
            below = (*path, key)
            value = self._value_of(next(self._events), below)
            if key == "<<" and is_scalar and event.style not in _QUOTED:
                for mapping in value if isinstance(value, list) else [value]:
                    merged |= mapping if isinstance(mapping, dict) else {}
                continue
            line = event.start_mark.line + 1
            if key in members:
                self.repeated.append((below, line))
            if self._in_first:
                self.lines[below] = line
            members[key] = value
        return {**merged, **members}


def _plain_value(event: Any) -> Value:
    text: str = event.value
    if event.style in _QUOTED or event.tag == _TEXT:
        return text
    lower = text.lower()
    if lower in _CONSTANTS:
        return _CONSTANTS[lower]
    if lower in _NOT_NUMBERS:
        return reading.constant(text)
    if re.fullmatch(_INTEGER, text):
        return reading.integer(text)
    return reading.fraction(text) if re.fullmatch(_FRACTION, text) else text


_MAX_PARTS: Final = 10
"""Largest number of parts of a dotted key. ``tomllib`` keeps every prefix of a key, so memory grows with the square."""

_TOML_TEXT: Final = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^\\"\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
"""Texts and comments. One that does not end where it should hides nothing, because tomllib reads nothing after it."""

_LONG: Final = re.compile(
    rf"(?<![\w+-])(?:(?P<word>[\w+-]{{{reading.MAX_DIGITS + 1}}})|[\w+-]++(?:[ \t]*+\.[ \t]*+[\w+-]++){{{_MAX_PARTS}}})"
)


def read_toml(content: bytes) -> dict[str, Any]:
    """Parse a configuration. Raises UnreadableError, never anything else."""
    import tomllib

    if (size := len(content)) > reading.MAX_CONFIGURING_BYTES:
        raise reading.UnreadableError(
            f"it has {size:,} bytes", f"Keep it under {reading.MAX_CONFIGURING_BYTES:,} bytes."
        )
    text = reading.text_of(content)
    outside_texts = _TOML_TEXT.sub(lambda match: "_" + "\n" * match[0].count("\n"), text)
    if long := _LONG.search(outside_texts):
        line = outside_texts.count("\n", 0, long.start()) + 1
        if long["word"]:
            raise reading.UnreadableError(
                f"a key or a number is longer than {reading.MAX_DIGITS} characters", "Shorten it.", line
            )
        raise reading.UnreadableError(f"a key has more than {_MAX_PARTS} parts", "Write fewer dots.", line)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise reading.too_deep() from None
    except ValueError as error:
        found = re.search(r"line (\d+)", str(error))
        message = f"it is not valid TOML: {error}"
        raise reading.UnreadableError(message, "Correct the line.", int(found[1]) if found else None) from None
    reading.check_depth(table)
    return table
