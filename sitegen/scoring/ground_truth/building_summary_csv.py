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
    at: int
    columns: dict[int, str]


def fits(rows: list[list[str]], mapping: Mapping) -> bool:
    """Sections, or mostly rows that begin with an empty cell and go on with a name and a value."""
    if any(_section(row) for row in rows):
        return True
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    fields = [row for row in filled if len(row) > 2 and not row[0].strip() and row[1].strip()]
    return 2 * len(fields) > len(filled) and not any(row[0].strip() for row in filled if len(row) > 2)


def read(rows: list[list[str]], mapping: Mapping) -> GroundTruth:
    """Read the one document of a report."""
    lists = {_key(said.csv_section): (path, said) for path, said in mapping.array_mappings.items() if said.csv_section}
    tree = Tree()
    items: dict[str, list[Value]] = {}
    left_over: list[str] = []
    seen: set[str] = set()
    findings: list[Finding] = []
    section: CsvSection | None = None
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0]:
            section = None
            continue
        header = _section(row)
        if header is not None:
            section = header
            path, said = lists.get(_key(section.name), (None, None))
            if path is None:
                left_over.append(section.name)
            else:
                items.setdefault(path, [])
        elif section is not None:
            path, said = lists.get(_key(section.name), (None, None))
            if path is not None and said is not None and not _continues(cells, section):
                items[path].append(_item(row, section, said, left_over))
        elif cells[1]:
            if cells[1] in seen and cells[1] in mapping.csv_to_json:
                what = "A field stands twice; the first one counts"
                fix = "Map the second one in a list."
                findings.append(Finding("warning", what, fix, number, "ground_truth", value=repr(cells[1])))
            elif cells[1] in mapping.csv_to_json:
                tree.put(mapping.csv_to_json[cells[1]], row[2] if len(row) > 2 else "")
            else:
                left_over.append(cells[1])
            seen.add(cells[1])
    for path, given in items.items():
        tree.put(path, given)
    findings += tree.findings
    return GroundTruth((TruthDocument("", tree.value()),), True, None, (*findings, *unmapped(left_over)))


def _key(name: str | None) -> str:
    return normalise(name or "").rstrip(":").strip()


def _section(row: list[str]) -> CsvSection | None:
    """A header: its first filled cell, in the second or third column, ends in a colon."""
    at = next((place for place, cell in enumerate(row) if cell.strip()), 0)
    if at not in (1, 2) or not row[at].strip().endswith(":") or len(row) <= at + 1:
        return None
    columns = {place: cell.strip() for place, cell in enumerate(row) if place > at and cell.strip()}
    return CsvSection(row[at].strip(), at, columns) if columns else None


def _continues(cells: list[str], section: CsvSection) -> bool:
    filled = [place for place, cell in enumerate(cells) if cell]
    return len(filled) == 1 and filled[0] > section.at + 1


def _item(row: list[str], section: CsvSection, said: ArrayMapping, left_over: list[str]) -> dict[str, Value]:
    """One item; the cell below the section's own name is called ``Name`` if no column is."""
    columns = section.columns
    if "Name" not in columns.values():
        columns = {section.at: "Name", **columns}
    item = Tree()
    for place, column in columns.items():
        key = said.fields.get(column)
        if key:
            item.put(key, row[place] if place < len(row) else "")
        elif column not in ("Name", "Layers:"):
            left_over.append(f"{section.name} {column}")
    return item.value()
