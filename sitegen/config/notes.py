"""Reads ``notes.yaml`` in the folder of an eval: what people say about its cases and values."""

from datetime import date
from typing import Final, TypeAlias

from sitegen.config.findings import adapter_of, describe, finding_of, unreadable, valid_part
from sitegen.config.models import Note
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.model.problems import Finding, Parsed

NOTES_FILE: Final = "notes.yaml"
"""The name of the file, in the folder of the eval."""

_VERDICTS: Final = {  # what people write, in lower case
    **dict.fromkeys(("right", "pass", "passed", "correct", "good", "ok", "true", "yes"), "right"),
    **dict.fromkeys(("wrong", "fail", "failed", "incorrect", "bad", "false", "no"), "wrong"),
}

Notes: TypeAlias = tuple[tuple[int, Note], ...]
"""The line on which each note begins, and the note, in the order of the file."""


def read_notes(content: bytes) -> Parsed[Notes]:
    """Read a list of notes. A note with an unknown key or a wrong value loses that key alone, with a finding.

    A date is the text that it is written as. Of equal notes, the first counts.
    """
    if not content.strip():
        return Parsed(())  # as a rule: YAML takes time to import
    try:
        root, lines, _ = read_configuring_yaml(content)
    except UnreadableError as error:
        return Parsed((), (unreadable("The file of notes", error),))
    if not isinstance(root, list | None):
        message = f"The file of notes is {describe(root)}, a list of notes is wanted."
        return Parsed((), (Finding("warning", message, "Begin each note with `- case: ...`.", line=1),))
    findings: list[Finding] = []
    notes: dict[Note, int] = {}
    for index, stated in enumerate(root or ()):
        line = lines.get((index,), 1)
        if not isinstance(stated, dict):
            message = f"A note is {describe(stated)}, a mapping is wanted."
            findings.append(Finding("warning", message, "Write it as `case: ...`, `note: ...`.", line=line))
            continue
        texts = {key: str(value) if isinstance(value, date) else value for key, value in stated.items()}
        if "verdict" in texts:
            texts["verdict"] = _VERDICTS.get(str(texts["verdict"]).strip().lower(), texts["verdict"])
        entry, misfits = valid_part(Note, texts)
        findings += [finding_of(misfit, lines.get((index, *place), line), Note) for place, misfit in misfits]
        first = notes.setdefault(adapter_of(Note).validate_python(entry), line) if entry else line
        if first != line:
            findings.append(Finding("warning", f"A note repeats that of line {first}.", "Remove one.", line=line))
    placed = tuple((line, note) for note, line in notes.items())
    return Parsed(placed, tuple(finding.without_effect("warning") for finding in findings))
