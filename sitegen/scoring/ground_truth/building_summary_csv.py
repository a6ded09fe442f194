"""Layout ``building_summary_csv``: the detailed report that CBECC-Res and EnergyPro print.

``,Field,Value,Unit`` rows, and sections ``,Exterior Walls:, Name, Zone, ...`` whose items follow with one comma more.
A section within a section stands one column further right. A row with a single cell further right continues the one
above it (layers of a construction). A blank row ends a section; a section may stand several times.
"""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.ground_truth.truth import GroundTruth, Tree, TruthDocument, unmapped
from sitegen.scoring.mapping import ArrayMapping, Mapping
from sitegen.text.similarity import normalise


class CsvSection(NamedTuple):
    """A section header: its name, and the columns that it names by their place in the row."""

    name: str
    column: int
    """Where the name stands in its row."""
    columns: dict[int, str]


def is_layout(rows: list[list[str]], mapping: Mapping) -> bool:
    """Sections, or mostly rows that begin with an empty cell and go on with a name and a value."""
    if any(_section_header(row) for row in rows):
        return True
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    fields = [row for row in filled if len(row) > 2 and not row[0].strip() and row[1].strip()]
    return 2 * len(fields) > len(filled) and not any(row[0].strip() for row in filled if len(row) > 2)


def read_rows(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the one document of a report."""
    lists = {
        _section_key(said.csv_section): (path, said)
        for path, said in mapping.array_mappings.items()
        if said.csv_section
    }
    tree = Tree()
    items: dict[str, list[Value]] = {}
    unmapped_names: list[str] = []
    seen: set[str] = set()
    findings: list[Finding] = []
    section: CsvSection | None = None
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0]:
            section = None
            continue
        header = _section_header(row)
        if header is not None:
            section = header
            path, stated = lists.get(_section_key(section.name), (None, None))
            if path is None:
                unmapped_names.append(section.name)
            else:
                items.setdefault(path, [])
        elif section is not None:
            path, stated = lists.get(_section_key(section.name), (None, None))
            if path is not None and stated is not None and not _continues(cells, section):
                items[path].append(_section_item(row, section, stated, unmapped_names))
        elif cells[1]:
            if cells[1] in seen and cells[1] in mapping.csv_to_json:
                what = "A field stands twice; the first one counts"
                fix = "Map the second one in a list."
                findings.append(
                    Finding(
                        severity="warning", what=what, fix=fix, line=number, about="ground_truth", value=repr(cells[1])
                    )
                )
            elif cells[1] in mapping.csv_to_json:
                tree.put(mapping.csv_to_json[cells[1]], row[2] if len(row) > 2 else "")
            else:
                unmapped_names.append(cells[1])
            seen.add(cells[1])
    for path, given in items.items():
        tree.put(path, given)
    findings += tree.findings
    return GroundTruth(
        documents=(TruthDocument("", tree.value()),),
        written=True,
        key=None,
        findings=(*findings, *unmapped(unmapped_names)),
    )


def _section_key(name: str | None) -> str:
    return normalise(name or "").rstrip(":").strip()


def _section_header(row: list[str]) -> CsvSection | None:
    """A header: its first filled cell, in the second or third column, ends in a colon."""
    first = next((place for place, cell in enumerate(row) if cell.strip()), 0)
    if first not in (1, 2) or not row[first].strip().endswith(":") or len(row) <= first + 1:
        return None
    columns = {place: cell.strip() for place, cell in enumerate(row) if place > first and cell.strip()}
    return CsvSection(row[first].strip(), first, columns) if columns else None


def _continues(cells: list[str], section: CsvSection) -> bool:
    filled = [place for place, cell in enumerate(cells) if cell]
    return len(filled) == 1 and filled[0] > section.column + 1


def _section_item(
    row: list[str], section: CsvSection, stated: ArrayMapping, unmapped_names: list[str]
) -> dict[str, Value]:
    """One item; the cell below the section's own name is called ``Name`` if no column is."""
    columns = section.columns
    if "Name" not in columns.values():
        columns = {section.column: "Name", **columns}
    item = Tree()
    for place, column in columns.items():
        key = stated.fields.get(column)
        if key:
            item.put(key, row[place] if place < len(row) else "")
        elif column not in ("Name", "Layers:"):
            unmapped_names.append(f"{section.name} {column}")
    return item.value()
