"""Reads ground truth that has the form of an output: JSON, YAML, and JSON Lines with one document a line."""

from __future__ import annotations

from sitegen.data_files.json_reader import parse_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.data_files.yaml_reader import read_json_or_yaml
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.ground_truth.truth import GroundTruth, TruthDocument
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.paths import PathError, follow, parse_path


def read_tree_truth(ending: str, content: bytes, mapping: Mapping) -> GroundTruth:
    """One object, a list of objects, or an object with the list at ``documents.path``. Raises UnreadableError.

    A JSON line that cannot be read makes the file unreadable: its document would be missing from every mean.
    """
    if ending not in ("jsonl", "ndjson"):
        value, odd = read_json_or_yaml(ending, content)
        return _truth_of_documents(value, mapping, odd)
    values: list[Value] = []
    findings: list[Finding] = []
    for number, line in enumerate(text_of(content).split("\n"), 1):
        if line.strip():
            value, odd = parse_json(line, number)
            values.append(value)
            findings += odd
    return _truth_of_documents(values, mapping, tuple(findings))


def _truth_of_documents(value: Value, mapping: Mapping, findings: tuple[Finding, ...]) -> GroundTruth:
    stated = mapping.documents
    key = stated.key if stated else "id"
    about = tuple(finding._replace(about="ground_truth") for finding in findings)
    if stated and stated.path and isinstance(value, dict):
        try:
            below = follow(value, parse_path(stated.path))
        except PathError:
            below = None
        value = below if isinstance(below, list) else value
    if isinstance(value, dict):
        return GroundTruth(documents=(TruthDocument("", value),), written=False, key=None, findings=about)
    if not isinstance(value, list) or not value:
        raise UnreadableError("it holds no object", "Write an object, or a list of objects.")
    documents: dict[str, TruthDocument] = {}
    for number, root in enumerate(value, 1):
        if not isinstance(root, dict):
            raise UnreadableError(f"document {number} is no object", "Write a list of objects.")
        name = _document_name(root.get(key), number, key)
        if name in documents:
            raise UnreadableError(f"the document {name[:80]!r} stands twice", f"Give every document its own {key!r}.")
        documents[name] = TruthDocument(name, {field: below for field, below in root.items() if field != key})
    return GroundTruth(documents=tuple(documents.values()), written=False, key=key, findings=about)


def _document_name(value: object, number: int, key: str) -> str:
    if value is None or isinstance(value, dict | list | bool):
        raise UnreadableError(f"document {number} has no {key!r}", f"Add a key {key!r} to every document.")
    return str(value).strip()
