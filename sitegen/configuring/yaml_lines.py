"""YAML of a manifest, with the line of each key; bounded, since a few aliases may stand for millions of values."""

from __future__ import annotations

from typing import Any, Final

from sitegen.configuring.findings import Location
from sitegen.model.problems import Finding

_LARGEST: Final = 1_000_000
_MOST_ALIASES: Final = 100
_MOST_NODES: Final = 200_000
_DEEPEST: Final = 60


class UnreadableManifestError(Exception):
    """The text is no manifest as a whole; ``finding`` says why."""

    def __init__(self, what: str, fix: str, line: int | None = None) -> None:
        super().__init__(what)
        self.finding = Finding("error", what, fix, line)


def read_yaml(content: bytes) -> tuple[Any, dict[Location, int]]:
    """A YAML document and the line of each key. Raises UnreadableError."""
    import yaml

    if len(content) > _LARGEST:
        raise UnreadableManifestError(f"The manifest has {len(content):,} bytes.", f"Keep it under {_LARGEST:,} bytes.")
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
        raise UnreadableManifestError(f"The manifest is no YAML: {error.problem}.", "Correct the line.", line) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        raise UnreadableManifestError(
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
            raise UnreadableManifestError("The manifest holds itself.", "Remove the alias.", node.start_mark.line + 1)
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


def _too_much(mark: Any) -> UnreadableManifestError:
    what = f"The manifest has too many aliases (more than {_MOST_ALIASES}), levels ({_DEEPEST}) or values."
    return UnreadableManifestError(what, "Write the values out, and fewer of them.", mark.line + 1)


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
