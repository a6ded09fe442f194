"""Layout ``building_summary_csv``: the detailed report that CBECC-Res and EnergyPro print.

It has rows ``,Field,Value,Unit``, and sections ``,Exterior Walls:, Name, Zone, ...`` whose items follow with one comma
more. A section within a section starts one column further right. A row with a single cell further right continues the
row above it (layers of a construction). A blank row ends a section, so that items below it belong to none, which
is reported; a section may occur several times.
"""

from collections import Counter
from collections.abc import Container, Iterator
from typing import Any, Final

from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.scoring.ground_truth.truth import GroundTruth, Tree, TruthDocument, field_name, truth_warning, unmapped
from sitegen.scoring.mapping import ArrayMapping, Mapping
from sitegen.text.similarity import normalise

_ENTRY: Final = 'walls: {csv_section: "Exterior Walls:", fields: {Area: area}}'
"""An example of an entry of ``array_mappings``."""

SECTIONS: Final = (
    f"Map fields in csv_to_json, and a section in array_mappings, under the path of its list in the output (`{_ENTRY}`)"
)
"""How fields and sections are mapped."""


class CsvSection(Frozen):
    """The header row of a section."""

    name: str
    column: int
    """The index of the name in its row."""
    columns: dict[int, str]
    """Names of the columns, by their index in the row."""

    def item(self, row: list[str], array: ArrayMapping, unmapped_values: Counter[str]) -> dict[str, Value]:
        """Read an item. If no column is called ``Name``, the cell below the name of the section is the item's name."""
        columns = self.columns
        if "Name" not in columns.values():
            columns = {self.column: "Name", **columns}
        item = Tree()
        for place, column in columns.items():
            key = array.fields.get(column)
            if key:
                item.put(key, row[place] if place < len(row) else "")
            elif column not in ("Name", "Layers:"):
                unmapped_values[f"{self.name} {column}"] += place < len(row) and bool(row[place].strip())
        return item.value()


def is_layout(rows: list[list[str]]) -> bool:
    """Whether there are sections, or mostly rows with an empty cell followed by a name and a value."""
    if any(_section_header(row) for row in rows):
        return True
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    fields = [row for row in filled if len(row) > 2 and not row[0].strip() and row[1].strip()]
    return 2 * len(fields) > len(filled) and not any(row[0].strip() for row in filled if len(row) > 2)


def read_rows(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the one document of a report."""
    lists = {
        _section_key(array.csv_section): (path, array)
        for path, array in mapping.array_mappings.items()
        if array.csv_section
    }
    tree = Tree()
    items: dict[str, list[Value]] = {}
    lines: dict[str, int] = {}
    unmapped_values: Counter[str] = Counter()
    paste: dict[str, Any] = {}
    fields: set[str] = set()
    findings = []
    section: CsvSection | None = None
    mapped: tuple[str, ArrayMapping] | None = None  # where the items of the section go
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0]:
            section = None
            continue
        header = _section_header(row)
        if header is not None:
            section, mapped = header, lists.get(_section_key(header.name))
            if mapped:
                items.setdefault(mapped[0], [])
            else:
                unmapped_values[section.name] += 0
                columns = {column: field_name(column) for column in section.columns.values() if column != "Layers:"}
                entry = {"csv_section": section.name, "fields": columns}
                paste.setdefault("array_mappings", {}).setdefault(field_name(section.name), entry)
        elif section is not None:
            if mapped is None:
                unmapped_values[section.name] += sum(map(bool, cells))
            elif any(cells[: section.column + 2]) or sum(map(bool, cells)) != 1:  # else it continues the row above
                path, array = mapped
                lines[f"{path}[{len(items[path])}]"] = number
                items[path].append(section.item(row, array, unmapped_values))
        elif field := cells[1]:
            if field not in mapping.csv_to_json:
                unmapped_values[field] += len(cells) > 2 and bool(cells[2])
                paste.setdefault("csv_to_json", {})[field] = field_name(field)
            elif field in fields:
                message, fix = "A field occurs twice; the first one counts", "Map the second one in a list."
                findings.append(replace(truth_warning(message, fix, number), value=repr(field)))
            else:
                tree.put(mapping.csv_to_json[field], row[2] if len(row) > 2 else "", number, is_mapped=True)
            fields.add(field)
    without = [path[:80] for path, array in mapping.array_mappings.items() if not array.csv_section]
    message = "'array_mappings.{}' names no section of the ground truth, and maps nothing"
    fix = f"Add its csv_section, as `{_ENTRY}`."
    findings += (Finding("warning", message.format(path), fix, about="mapping") for path in without[:1])
    findings += _below_blank_rows(rows, lists)
    for path, section_items in items.items():
        tree.put(path, section_items)
    findings += tree.findings
    return GroundTruth(
        documents=(TruthDocument("", tree.value(), {**lines, **tree.lines}),),
        written=True,
        key=None,
        findings=(*findings, *unmapped(unmapped_values, SECTIONS, paste)),
    )


def _below_blank_rows(rows: list[list[str]], lists: Container[str]) -> Iterator[Finding]:
    """Yield a finding about items that are in no section, unless the last section is not mapped anyway."""
    lost: list[int] = []
    is_open, is_mapped = False, True
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        header = _section_header(row)
        if not any(cells) or cells[0]:
            is_open = False
        elif header is not None:
            is_open, is_mapped = True, _section_key(header.name) in lists
        elif not is_open and is_mapped and not cells[1]:
            lost.append(number)
    if lost:
        they = "1 row is" if len(lost) == 1 else f"{len(lost)} rows are"
        message = f"{they} below a blank row, which ends a section, and not scored"
        yield truth_warning(message, "Remove the blank row, or repeat the header of the section below it.", lost[0])


def _section_key(name: str | None) -> str:
    return normalise(name or "").rstrip(":").strip()


def _section_header(row: list[str]) -> CsvSection | None:
    """Return the header in a row whose first filled cell, in the second or third column, ends in a colon; else None."""
    first = next((place for place, cell in enumerate(row) if cell.strip()), 0)
    if first not in (1, 2) or not row[first].strip().endswith(":") or len(row) <= first + 1:
        return None
    columns = {place: cell.strip() for place, cell in enumerate(row) if place > first and cell.strip()}
    return CsvSection(row[first].strip(), first, columns) if columns else None
