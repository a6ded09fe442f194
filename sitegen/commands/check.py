"""``sitegen check``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.commands.printing import print_document, print_text, print_workflow_command
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.gate_report.annotations import Annotation, annotation_of_error, annotations_of
from sitegen.gate_report.document import gate_json
from sitegen.gate_report.junit import gate_junit, junit_of_error
from sitegen.gate_report.markdown import gate_markdown, markdown_of_error
from sitegen.gate_report.reading import LARGEST, read_report
from sitegen.project import Options
from sitegen.questions.gate import check as compare

FAILED: Final = 1
"""Exit code if the gate does not pass."""


class ReportForms(NamedTuple):
    """In which forms the report is wanted, and where."""

    as_json: bool = False
    """On standard output, in the place of Markdown."""
    markdown: Path | None = None
    junit: Path | None = None
    annotations: bool | None = None
    """None: in a GitHub workflow."""


def check(options: Options, base: str | None, forms: ReportForms, *, exact: bool = False) -> None:
    """Compare, write every form of the report, and then exit with 1 if the gate does not pass.

    An error is written too, but for standard output, before it ends the command.
    """
    try:
        report = compare(options, base or _base_of_workflow(), exact=exact)
    except SitegenError as error:
        _write_forms(forms, markdown_of_error(error), junit_of_error(error))
        _print_annotations(forms, [annotation_of_error(error)])
        raise
    text = gate_markdown(report)
    _write_forms(forms, text, gate_junit(report))
    if forms.as_json:
        print_document(gate_json(report))
    else:
        print_text(text)
    _print_annotations(forms, annotations_of(report))
    if not report.passed:
        sys.exit(FAILED)


def print_report_of(file: Path, markdown_file: Path | None) -> None:
    """Write the Markdown of a report that another run wrote as JSON. Raises SitegenError if it is none.

    The exit code says nothing of its verdict: the run that came to it has said that.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST + 1)
    except OSError as error:
        raise SitegenError(
            f"The file cannot be read: {error.strerror}.", where=str(file), fix="Name another."
        ) from None
    text = gate_markdown(read_report(content))
    if markdown_file:
        markdown_file.write_bytes(text.encode("utf-8", "backslashreplace"))
    else:
        print_text(text)


def _base_of_workflow() -> str:
    """The branch that a pull request of a GitHub workflow goes to."""
    branch = os.environ.get("GITHUB_BASE_REF")
    if not branch:
        raise ConfigurationError(
            "There is nothing to compare with.", fix="Name the branch that the work goes to, --base main."
        )
    return f"origin/{branch}"


def _write_forms(forms: ReportForms, text: str, junit: bytes) -> None:
    content = text.encode("utf-8", "backslashreplace")
    if forms.markdown:
        forms.markdown.write_bytes(content)
    if forms.junit:
        forms.junit.write_bytes(junit)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "ab") as file:
            file.write(content)


def _print_annotations(forms: ReportForms, annotations: Iterable[Annotation]) -> None:
    """GitHub reads both streams; one JSON document is alone on the first."""
    wanted = os.environ.get("GITHUB_ACTIONS") == "true" if forms.annotations is None else forms.annotations
    for annotation in annotations if wanted else ():
        print_workflow_command(annotation, error=forms.as_json)
