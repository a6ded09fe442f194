"""``sitegen check``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.comparing.gate.annotations import annotate
from sitegen.comparing.gate.document import to_json_bytes
from sitegen.comparing.gate.junit import to_junit_bytes
from sitegen.comparing.gate.markdown import markdown
from sitegen.errors import ConfigurationError
from sitegen.model.gate import GateReport
from sitegen.project import Options
from sitegen.stages.gate import check as compare

FAILED: Final = 1
"""Exit code if the gate does not pass."""


class Forms(NamedTuple):
    """In which forms the report is wanted, and where."""

    as_json: bool = False
    """On standard output, in the place of Markdown."""
    markdown: Path | None = None
    junit: Path | None = None
    annotations: bool | None = None
    """None: in a GitHub workflow."""


def check(options: Options, base: str | None, forms: Forms, *, exact: bool = False) -> None:
    """Compare, write every form of the report, and then exit with 1 if the gate does not pass."""
    report = compare(options, base or _base_of_workflow(), exact=exact)
    _write(report, forms)
    if not report.passed:
        sys.exit(FAILED)


def _base_of_workflow() -> str:
    """The branch that a pull request of a GitHub workflow goes to."""
    branch = os.environ.get("GITHUB_BASE_REF")
    if not branch:
        raise ConfigurationError(
            "There is nothing to compare with.", fix="Name the branch that the work goes to, --base main."
        )
    return f"origin/{branch}"


def _write(report: GateReport, forms: Forms) -> None:
    text = markdown(report)
    content = text.encode("utf-8", "backslashreplace")
    if forms.markdown:
        forms.markdown.write_bytes(content)
    if forms.junit:
        forms.junit.write_bytes(to_junit_bytes(report))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "ab") as file:
            file.write(content)
    if forms.as_json:
        sys.stdout.buffer.write(to_json_bytes(report))
        sys.stdout.buffer.flush()
    else:
        print(text, end="")
    if forms.annotations if forms.annotations is not None else os.environ.get("GITHUB_ACTIONS") == "true":
        # GitHub reads both streams; one JSON document is alone on the first.
        for one in annotate(report):
            print(one, file=sys.stderr if forms.as_json else sys.stdout)
