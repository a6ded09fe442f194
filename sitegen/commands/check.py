"""``sitegen check``: compares a revision with its base, and exits with 1 if the gate does not pass."""

import os
import sys
from typing import Final

from sitegen.commands.printing import print_document, print_markdown
from sitegen.commands.requests import CheckRequest
from sitegen.data_files.project_files import named_place, write_named
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.history.repository_place import top_of
from sitegen.questions.gate import check as compare
from sitegen.questions.gate_junit import gate_junit, junit_of_error
from sitegen.questions.gate_markdown import gate_markdown, markdown_of_error
from sitegen.questions.gate_report import REPORT_BYTES, read_report
from sitegen.text.values import schema_first

FAILED: Final = 1
"""Exit code if the gate does not pass."""


def check(request: CheckRequest) -> None:
    """Compare, write the report in every requested format, then exit with 1 if the gate does not pass.

    An error is written to the files too, before it ends the command. With a report of another run, only its Markdown is
    written.
    """
    top = top_of(request.options.repo)
    for file in (request.markdown, request.junit):
        if file:
            named_place(file, top)  # an error now is better than one after all has been compared
    if request.report:  # the exit code does not depend on the verdict, which was already that of the other run
        try:
            with request.report.open("rb") as opened:
                content = opened.read(REPORT_BYTES + 1)
        except OSError as error:
            message = f"The file cannot be read: {error.strerror}."
            raise SitegenError(message, where=str(request.report), fix="Name another file.") from None
        text = gate_markdown(read_report(content))
        if request.markdown:
            write_named(request.markdown, text.encode("utf-8", "backslashreplace"), top)
        else:
            print_markdown(text)
        return
    try:
        branch = os.environ.get("GITHUB_BASE_REF")
        if not request.base and not branch:
            fix = "Name the target branch, for example --base main."
            raise ConfigurationError("There is nothing to compare with.", fix=fix)
        report = compare(request.options, request.base or f"origin/{branch}", exact=request.exact)
    except SitegenError as error:
        _write_forms(request, markdown_of_error(error), junit_of_error(error))
        raise
    text = gate_markdown(report)
    _write_forms(request, text, gate_junit(report))
    if request.as_json:
        print_document(schema_first(report))
    else:
        print_markdown(text)
    if not report.passed:
        sys.exit(FAILED)


def _write_forms(request: CheckRequest, text: str, junit: bytes) -> None:
    content = text.encode("utf-8", "backslashreplace")
    for named, form in ((request.markdown, content), (request.junit, junit)):
        if named:
            write_named(named, form, top_of(request.options.repo))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "ab") as file:
            file.write(content)
