"""The types into which every layout of ground truth is read, and functions that the layouts share."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from msgspec import field
from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.scoring.mapping import Mapping as FieldMapping
from sitegen.scoring.paths import PathError, PathStep, parse_path, path_text

ENVELOPES: Final = ("documents", "data", "result", "results", "output")
"""Keys around documents. The first one has no other meaning."""
_MAX_ITEMS: Final = 10_000  # items of a list
_PLAIN_PATH: Final = r"[^\W\d]\w*(\.[^\W\d]\w*|\[\d+\])+"


class TruthDocument(Frozen):
    """The expected values of one document."""

    id: str
    root: dict[str, Value]
    lines: dict[str, int] = field(default_factory=dict)
    """Lines of the file by the path of the value, item or document that each states; empty if they are not known."""


class ByIndex(dict[str, Value]):
    """Values that the mapping places at indices of a list of the output, by index: it says nothing of other items."""


class GroundTruth(Frozen):
    """The expected values of every document."""

    documents: tuple[TruthDocument, ...]
    written: bool | Literal["yaml"]
    """If they are texts of CSV, whose undeclared types are inferred; or of YAML, where ``yes`` may be a boolean."""
    key: str | None
    """The key that names documents in the file and in the output, not scored itself; None if they have no names."""
    findings: tuple[Finding, ...]
    side: str = ""
    """The key of what is expected in rows that also state the question; empty if a row is the document itself."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The file of each document in a folder, by the document's name, also of those that cannot be read; empty for one
    file."""

    @property
    def names(self) -> dict[str, None]:
        """The ids of the documents, each once."""
        return dict.fromkeys(document.id for document in self.documents)

    @property
    def fields(self) -> set[str]:
        """The fields of all documents on their highest level."""
        return set().union(*(document.root for document in self.documents))


def truth_warning(message: str, fix: str, line: int | None = None) -> Finding:
    """Return a warning about the file of the ground truth."""
    return Finding(severity="warning", message=message, fix=fix, line=line, about="ground_truth")


def located(finding: Finding, lines: Mapping[str, int]) -> Finding:
    """Return a finding about a value with the line that states the value, or the item or document that has it."""
    steps: tuple[PathStep, ...] = ()
    with suppress(PathError):
        steps = parse_path(finding.path) if finding.path else ()
    above = (path_text(steps[:length]) for length in range(len(steps), -1, -1))
    return replace(finding, line=next((lines[path] for path in above if path in lines), None))


class Tree:
    """Builds the tree of a document from paths and values; ``a[0].b`` makes a list."""

    def __init__(self) -> None:
        self._root: dict[PathStep, object] = {}
        self._by_index: set[tuple[PathStep, ...]] = set()
        self.findings: list[Finding] = []
        self.lines: dict[str, int] = {}

    def put(self, path: str, value: Value, line: int | None = None, *, is_mapped: bool = False) -> None:
        """Set a value of a line. If the path cannot be read, or has a value already, a finding is added instead.

        ``is_mapped``: an index in the path is an index in the list of the output.
        """
        try:
            *above, last = steps = parse_path(path)
            if any(isinstance(step, int) and step >= _MAX_ITEMS for step in steps):
                raise PathError(f"the index in {path[:80]!r} is larger than {_MAX_ITEMS - 1}")
        except PathError as error:
            self._report(str(error), "Map the column to a path such as 'walls[0].area'.")
            return
        if any(isinstance(step, int) and step < 0 for step in steps):
            # No output has such a key, so that the value is an omission (rule 19).
            self._root.setdefault(path_text(steps), value)
            message = f"Nothing can stand at {path[:80]!r}, which has a negative index: its values count as missing"
            self.findings.append(truth_warning(message, "Count items from 0."))
            return
        holder = self._root
        for step in above:
            below = holder.setdefault(step, {})
            if not isinstance(below, dict):
                break
            holder = below
        else:
            if last not in holder:
                holder[last] = value
                if is_mapped:
                    self._by_index |= {steps[:place] for place, step in enumerate(steps) if isinstance(step, int)}
                if line is not None:
                    self.lines[path_text(steps)] = line
                return
        self._report(f"the path {path!r} has a value already", "Map each column to a path of its own.")

    def _report(self, reason: str, fix: str) -> None:
        self.findings.append(truth_warning(f"A column is not scored: {reason}", fix))

    def value(self) -> dict[str, Value]:
        """Return the finished tree."""
        return {str(step): self._with_lists(below, (step,)) for step, below in self._root.items()}

    def _with_lists(self, node: object, steps: tuple[PathStep, ...]) -> Value:
        if not isinstance(node, dict):
            return node  # type: ignore[return-value]
        below = {step: self._with_lists(child, (*steps, step)) for step, child in node.items()}
        if steps in self._by_index and all(isinstance(step, int) for step in below):
            return ByIndex({str(step): child for step, child in below.items()})
        if below and all(isinstance(step, int) for step in below):
            return [below.get(index) for index in range(max(below) + 1)]
        return {str(step): child for step, child in below.items()}


def is_plain_path(label: str) -> bool:
    """Whether a label is clearly a path below a key: ``items[0].name``, ``seller.name``."""
    return re.fullmatch(_PLAIN_PATH, label) is not None


def mapped_path(label: str, mapping: FieldMapping) -> str | None:
    """Return the field path of a column or a row; None if it is not mapped.

    Without ``csv_to_json`` every label is a path. With it, a label that is a path below a key needs no entry.
    """
    if not mapping.csv_to_json:
        return label
    return mapping.csv_to_json.get(label) or (label if is_plain_path(label) else None)


_NAMED: Final = 40  # number of columns that a finding names
_LONGEST_NAME: Final = 200  # characters of the longest name of a column that a finding maps
COLUMNS: Final = "Map them in csv_to_json"
"""How columns are mapped."""


def unmapped(values: dict[str, int], how: str = COLUMNS, paste: dict[str, Any] | None = None) -> Iterator[Finding]:
    """Findings on all columns that are not mapped, in their order, with ``how`` to map them; none if there are none.

    ``values``: the number of values by name of a column or a row. Headings have none, and do not change a score.
    ``paste``: the entries of a mapping that map them; by default each is a field of its own.
    """
    they = f"{'Columns' if paste is None else 'Sections'} of the ground truth"
    for has_value, key, said, otherwise in (
        (True, "unmapped_values", "are not mapped and not scored", ", or name their fields under `ignore`."),
        (False, "unmapped_blanks", "without any value are not mapped", " if they should count."),
    ):
        names = [label for label, number in values.items() if (number > 0) == has_value]
        if not names:
            continue
        shown = ", ".join(name[:60].rstrip(":") for name in names[:_NAMED]) + ", ..." * (len(names) > _NAMED)
        finding = Finding.of_type(key, f"{they} {said}", how + otherwise, about="ground_truth", value=shown)
        fields = {name: field_name(name) for name in names[:_NAMED] if len(name) <= _LONGEST_NAME}
        entries = {"csv_to_json": fields} if paste is None else paste
        number = sum(values[name] for name in names)
        yield replace(finding, values=number, paste=json.dumps(entries)) if has_value else finding


def field_name(label: str) -> str:
    """Return a name for the field of a column, as a first guess: ``floor_area`` for ``Floor Area:``."""
    return re.sub(r"\W+", "_", label.lower()).strip("_")
