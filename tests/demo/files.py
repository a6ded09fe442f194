"""The files of the demo's evals: ground truths in five layouts, outputs, mappings and the manifest, as bytes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

from tests.demo.documents import Cell, Cells, EvalSpec

Documents = Mapping[str, Cells]
"""The cells of each document, by its id."""

TRUTH_NAMES = {
    "wide": "ground_truth.csv",
    "long": "ground_truth.csv",
    "json": "ground_truth.json",
    "jsonl": "ground_truth.jsonl",
    "yaml": "ground_truth.yaml",
}


def nested(cells: Cells) -> dict[str, object]:
    """``{"a[0].b": 1}`` -> ``{"a": [{"b": 1}]}``; what is None is left out."""
    root: dict[str, object] = {}
    for path, cell in cells.items():
        if cell is None:
            continue
        name, bracket, rest = path.partition("[")
        if bracket:
            index, _, key = rest.partition("].")
            items = root.setdefault(name, [])
            assert isinstance(items, list)
            while len(items) <= int(index):
                items.append({})
            items[int(index)][key] = cell
        else:
            _put(root, path.split("."), cell)
    return root


def _put(root: dict[str, object], names: list[str], cell: Cell) -> None:
    for name in names[:-1]:
        inner = root.setdefault(name, {})
        assert isinstance(inner, dict)
        root = inner
    root[names[-1]] = cell


def as_json(value: object) -> bytes:
    """JSON as people like to read it, with a line break at its end."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def output(spec: EvalSpec, documents: Documents) -> bytes:
    """``extracted.json``: the document itself, or a list of documents with their ids."""
    if len(spec.documents) == 1:
        return as_json(nested(documents[spec.documents[0]]))
    return as_json({"documents": [{"id": name, **nested(cells)} for name, cells in documents.items()]})


def truth(spec: EvalSpec, documents: Documents) -> bytes:
    """The ground truth in the eval's own layout."""
    if spec.truth == "wide":
        return _wide(documents)
    if spec.truth == "jsonl":
        rows = [{"id": name, **nested(cells)} for name, cells in documents.items()]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if spec.truth == "json":
        return output(spec, documents)
    cells = documents[spec.documents[0]]
    if spec.truth == "yaml":
        return "".join(_yaml(nested(cells), "")).encode()
    return _csv([["field", "expected"], *(row for path, cell in cells.items() for row in _long(path, cell))])


def _long(path: str, cell: Cell) -> list[list[str]]:
    """A row, or one for each element of a list."""
    if isinstance(cell, list):
        return [[f"{path}[{index}]", element] for index, element in enumerate(cell)]
    return [[path, _text(cell)]]


def _wide(documents: Documents) -> bytes:
    columns = list(dict.fromkeys(path for cells in documents.values() for path in cells))
    columns.sort(key=lambda path: "[" in path)
    rows = [[name, *(_text(cells.get(column)) for column in columns)] for name, cells in documents.items()]
    return _csv([["id", *columns], *rows])


def _csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return ", ".join(cell) if isinstance(cell, list) else str(cell)


def _yaml(value: Mapping[str, object], indent: str) -> list[str]:
    """Block YAML for objects and lists of objects; everything else is JSON, which YAML reads."""
    lines = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            lines += [f"{indent}{key}:\n", *_yaml(inner, indent + "  ")]
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            lines.append(f"{indent}{key}:\n")
            for item in inner:
                first, *others = _yaml(item, indent + "    ")
                lines += [f"{indent}  - {first.lstrip()}", *others]
        else:
            lines.append(f"{indent}{key}: {json.dumps(inner, ensure_ascii=False)}\n")
    return lines


def mapping(spec: EvalSpec, columns: list[str], extra: Mapping[str, object]) -> bytes:
    """``field_mapping.yaml``: types of all fields, how lists are matched, and what the story adds (key -> value)."""
    types: dict[str, list[str]] = {}
    fields: dict[str, dict[str, object]] = {}
    for attribute, field in spec.attributes().items():
        path = attribute.replace("[]", "[*]")
        if field.type == "date":
            fields[path] = {"type": "date", "formats": ["%Y-%m-%d"]}
        elif field.type == "list":
            fields[path] = {"ordered": False}
        else:
            types.setdefault(field.type, []).append(path)
    lines = [f"# How {spec.name.lower()} are compared.\n"]
    if spec.truth == "wide":
        lines += ["csv_to_json:\n", *(f"  {json.dumps(name)}: {json.dumps(name)}\n" for name in ("id", *columns))]
    lines += ["field_types:\n", *(f"  {name}: {json.dumps(paths)}\n" for name, paths in types.items())]
    lines += ["fields:\n", *(f"  {json.dumps(path)}: {json.dumps(rule)}\n" for path, rule in fields.items())]
    keys = [field.path for field in spec.items.fields]
    rule = {"match_fields": ["description"], "score_fields": keys, "threshold": 0.8, "algorithm": "greedy"}
    lines += ["lists:\n", f"  {spec.items.path}: {json.dumps(rule)}\n"]
    lines += [f"{key}: {json.dumps(value)}\n" for key, value in extra.items()]
    return "".join(lines).encode()


def manifest(
    entries: Mapping[str, tuple[EvalSpec, Mapping[str, object]]], others: Mapping[str, Mapping[str, object]]
) -> bytes:
    """``manifest.yaml``: the evals by id, each with what the story adds to its entry (key -> value).

    *others* are of other kinds: their entries whole.
    """
    lines = ['version: "2.0"\n', "evals:\n"]
    for eval_id, (spec, extra) in entries.items():
        settings: dict[str, object] = {}
        if len(spec.documents) > 1:
            settings["documents"] = {"path": "documents", "key": "id"}
        inner = extra.get("settings", {})
        assert isinstance(inner, dict)
        lines += [f"  {eval_id}:\n", f"    name: {json.dumps(spec.name)}\n"]
        lines += [f"    description: {json.dumps(spec.description)}\n", "    kind: fields\n"]
        lines += [f"    instructions: {json.dumps(spec.instructions)}\n"]
        lines += [f"    {key}: {json.dumps(value)}\n" for key, value in extra.items() if key != "settings"]
        if settings | inner:
            lines.append(f"    settings: {json.dumps(settings | inner)}\n")
        lines += [f"    documents_read: {len(spec.documents)}\n", "\n"]
    for eval_id, entry in others.items():
        lines += [f"  {eval_id}:\n", *(f"    {key}: {json.dumps(value)}\n" for key, value in entry.items()), "\n"]
    return "".join(lines[:-1]).encode()
