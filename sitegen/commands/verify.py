"""``sitegen verify-one`` and ``verify-all``: score outputs of the work tree, and print or save the results."""

from __future__ import annotations

import shlex
import webbrowser
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from sitegen.commands import verified_text
from sitegen.commands.printing import print_document, print_error, print_line
from sitegen.commands.signatures.requests import VerifyRequest
from sitegen.config.evaluation import evaluation_methods
from sitegen.config.evaluation_config import EVALUATION_FILE
from sitegen.config.findings import error_of
from sitegen.data_files.project_files import named_place, real, write_inside, write_named
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.history.layout import RECORDED, REPORT
from sitegen.model.kinds import traits_of
from sitegen.questions.verifying import saving
from sitegen.questions.verifying.project import WorktreeProject
from sitegen.questions.verifying.verify import Verified, metadata_of, unsaved_output, verify
from sitegen.scoring.documents import Document, results_document
from sitegen.scoring.kinds import scorer
from sitegen.stats.counts import Averages
from sitegen.text.json_bytes import to_json_bytes
from sitegen.text.plain import counted, encodable, line


def verify_one(request: VerifyRequest) -> None:
    """Score an output, and print or save the result."""
    output, methods = request.words
    project = WorktreeProject.open(request.repo)
    if request.config:
        project = project.configured(request.eval_id, request.config)
    verified = verify(project, request.eval_id, real(Path(output)) if output else None, request.settings)
    answers_cases = traits_of(verified.place.kind).answers_cases
    for misread in project.misread:
        if answers_cases or request.config or misread.path != EVALUATION_FILE:
            print_error(error_of(misread))
    if answers_cases:
        methods = methods or evaluation_methods(verified.place.entry.settings)
    elif methods:
        raise ConfigurationError("--methods is for evals of kind responses.", fix="Leave it out.")
    if request.debug:
        for row in verified_text.debug(project, verified):
            print_line(row, error=True)
    timestamp = datetime.now(UTC).replace(microsecond=0).isoformat()
    document = _document(project, verified, timestamp=timestamp, methods=methods)
    if request.save:
        results, document = saving.save(project, verified, document)
        print_line(f"saved {results.parent if results.name == RECORDED else results}", error=True)
        _write_report(project, verified, document, results, verified.place.folder)
    if request.output_dir:
        results = saving.save_into(named_place(request.output_dir, project.root), verified, document)
        _write_report(project, verified, document, results, results.parent)
    rows = [] if request.as_json else verified_text.one_eval(project, verified, methods)
    _print_or_write_results(request, document, rows, project.root)
    if output is None and (unsaved := unsaved_output(project, verified)):
        message = f"{line(project.shown_path(unsaved))} is not an iteration yet and was not scored."
        fix = f"sitegen verify-one {shlex.quote(request.eval_id)} {shlex.quote(str(unsaved))} --save"
        print_error(SitegenError(message, fix=fix))
    if request.open_report:
        from sitegen.questions.preview import write_preview

        page = write_preview(project, verified)
        print_line(f"report {page}", error=True)
        webbrowser.open(page.as_uri())


def _write_report(project: WorktreeProject, verified: Verified, document: Document, results: Path, below: Path) -> None:
    """Write the report beside the saved results, following no link below the folder *below*, and print its path."""
    from sitegen.questions.preview import report_file

    report = results.with_name(REPORT) if results.name == RECORDED else results.with_suffix(".html")
    html = report_file(project, verified, document.metadata, results.name)
    write_inside(below, report.relative_to(below).as_posix(), html)
    print_line(f"report {report}", error=True)


def _print_or_write_results(request: VerifyRequest, document: Document, rows: Iterable[str], top: Path) -> None:
    if request.results_file:
        write_named(request.results_file, to_json_bytes(document), top)
        print_line(f"wrote {request.results_file}", error=True)
    if request.as_json:
        print_document(to_json_bytes(document))
    for row in rows:
        print_line(row)


def verify_all(repo: Path, evals_dir: Path | None = None, *, as_json: bool = False) -> None:
    """Score the newest output of every eval, and print all results with their averages."""
    project = WorktreeProject.open(repo, evals_dir)
    verified, missing = [], []
    for eval_id in project.eval_ids:
        try:
            verified.append(verify(project, eval_id))
        except SitegenError as error:
            missing.append(error)
    if not verified and missing:
        raise missing[0]
    # Averages include only kinds with an F1, because metrics of other kinds have no common meaning.
    with_f1 = [output for output in verified if any(spec.name == "f1" for spec in scorer(output.place.kind).metrics)]
    averages = Averages.of([output.result.scorecard.counts for output in with_f1])
    if as_json:
        documents = [_document(project, output, timestamp=None) for output in verified]
        print_document(to_json_bytes({"evals": documents, **averages.named()}))
    else:
        for row in verified_text.every_eval(project, verified, averages):
            print_line(row)
    for failure in missing:
        print_error(failure)
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        print_line(f"{counted(len(missing), 'eval')} {verb} left out of the means.", error=True)


def _document(
    project: WorktreeProject, verified: Verified, *, timestamp: str | None, methods: tuple[str, ...] = ()
) -> Document:
    place = verified.place
    return results_document(
        place.kind,
        verified.result,
        eval_id=encodable(place.entry.id),
        metadata=metadata_of(project, verified, timestamp=timestamp),
        thresholds=place.entry.thresholds,
        methods=methods,
    )
