"""Last stage: writes the pages and files that a site has once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import chain, groupby
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.causes import causes_of, count_causes
from sitegen.analysis.memo import Memo
from sitegen.errors import POINTER
from sitegen.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.commits import COMMITS
from sitegen.pages.other_pages import failed_page, unfinished_page
from sitegen.pages.overview.focus import most_costly_patterns, words_of
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer, digest, is_page
from sitegen.scoring.own import installed_versions
from sitegen.stages.built_site import Site
from sitegen.stages.cached_kinds import COMMIT_EFFECTS
from sitegen.stages.commits import Commits, newest_commit
from sitegen.stages.evals import Evals, ScoredEvals
from sitegen.stages.failures import attempt
from sitegen.stages.history_lists import write_search_log
from sitegen.stages.instructions import WrittenInstructions, count_effects
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.site_pages import PageMaker, SitePages
from sitegen.stages.timeline import Timeline
from sitegen.stages.unmatched import unmatched, unmatched_redactions
from sitegen.text.plain import line

OWNER: Final = "site"
SHORT_REPORT: Final = 3_000
"""Bytes that a short report takes at most, unless its commit or its eval has an extraordinary name."""


class SiteFile(Frozen):
    """A file that a site has once."""

    path: str
    content: bytes | None
    """None: the output folder already has the file, and it is not made again."""
    size: int
    """In bytes."""
    key: str = ""
    """The digest of the file's inputs; empty: the digest of its content is used."""


class RenderedFiles(Frozen):
    """All files that a site has once, rendered."""

    files: tuple[SiteFile, ...]
    failures: tuple[Problem, ...]
    """One problem for each part that sitegen failed to make."""


def write_site(
    timeline: Timeline,
    evals: Evals,
    instructions: WrittenInstructions,
    commits: Commits,
    memo: Memo,
    site_files: SiteFiles,
    writer: Writer,
) -> Site:
    """Write the pages that a site has once. ``writer``: the writer of the files of ``OWNER``."""
    failures = (*evals.failures, *instructions.failures, *commits.failures)
    problems = problems_of(timeline, evals, failures)
    entries = write_search_log(timeline, evals, memo, site_files)
    renderer = timeline.context.renderer()
    pages = SitePages.of(timeline, evals, instructions, commits, memo, entries)
    once = render_once(renderer, pages, problems, writer)
    if site_files.holds_pages:
        _put_held(timeline, site_files, once, writer)
    memo.forget(COMMIT_EFFECTS.name)
    failures += once.failures
    if more := (*once.failures, *_too_large(timeline, evals, site_files, once)):
        problems += more  # pages that list or count problems have to be rendered again
        once = render_once(renderer, pages, problems, writer)
    write_files(once.files, writer)
    site_files.record(OWNER, writer.files)
    counts = count_causes(causes_of(problems))
    return Site(
        page=str(timeline.project.out / links.overview()),
        head=timeline.head.sha,
        commits=timeline.commits,
        evals=len(evals.summaries),
        iterations=sum(len(summary.headlines) for summary in evals.summaries),
        errors=counts.error,
        warnings=counts.warning,
        notes=counts.note,
        past=counts.past,
        failed=sum(POINTER not in problem.message for problem in failures) + evals.lost_contents,
        not_fetched=sum(POINTER in problem.message for problem in problems),
        unmatched_redactions=tuple(redaction.glob for redaction in unmatched_redactions(timeline, evals)),
        extensions=installed_versions(timeline.manifest.evals),
        patterns=tuple(
            line(f"{summary.info.name}: {words_of(summary).share}{words_of(summary).rest}.", 400)
            for summary in most_costly_patterns(summary for summary in evals.summaries if not summary.deleted)
        ),
    )


def _too_large(timeline: Timeline, evals: Evals, site_files: SiteFiles, once: RenderedFiles) -> tuple[Problem, ...]:
    """Return a problem if the site has more than ``limits.site_bytes``. It names the ``reports_kept`` that fits."""
    limit, complete = timeline.config.limits.site_bytes, timeline.update.complete
    size = sum(file.size for file in once.files)
    if size + site_files.most_bytes() <= limit:
        return ()
    size += sum(row.size for row in site_files.files(complete=complete) if row.owner != OWNER)
    if size <= limit:
        return ()
    sizes = {row.path: row.size for row in site_files.files(complete=complete)}
    kept, rest = _reports_that_fit(evals.summaries, sizes, size - limit)
    fix = f"Write reports_kept = {kept} under [limits]: older reports of each eval become short pages."
    if not kept:
        fix = f"Even reports_kept = 1 leaves about {limit + rest:,} bytes. Raise site_bytes if your host allows it."
    what = f"The site has {size:,} bytes, more than the {limit:,} of site_bytes."
    return (Problem.of_type("large_site", what, fix, path="sitegen.toml"),)


def _reports_that_fit(summaries: Iterable[EvalSummary], sizes: Mapping[str, int], excess: int) -> tuple[int, int]:
    """Return the largest number of full reports of each eval with which the site fits, and the excess that is left.

    The number is 0 if even one of each eval is too many. ``excess``: bytes of the site above its limit.
    """
    saved_by_age: list[int] = []
    for summary in summaries:
        for age, at in enumerate(reversed(summary.headlines)):
            saved_by_age += [0] * (age == len(saved_by_age))
            files = (sizes.get(address(summary.info.id, at.slug), 0) for address in links.REPORT_FILES)
            saved_by_age[age] += max(0, sum(files) - SHORT_REPORT)
    for age in range(len(saved_by_age) - 1, 0, -1):
        excess -= saved_by_age[age]
        if excess <= 0:
            return age, excess
    return 0, excess


def problems_of(timeline: Timeline, evals: Evals, failures: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return all problems, failures of sitegen itself first."""
    return (*failures, *_of_history(timeline), *unmatched(timeline, evals), *evals.problems)


def render_once(
    renderer: Renderer, site_pages: SitePages, problems: tuple[Problem, ...], writer: Writer, *, without: str = ""
) -> RenderedFiles:
    """Render every page, or in its place a page that explains the failure; and all other files, or none of them.

    ``without``: path of a page that is not rendered.
    """
    files, failures, causes = _assets(renderer, writer, site_pages.templates), [], causes_of(problems)
    for maker in site_pages.pages(problems, causes):
        path = maker.path
        if path == without:
            continue
        if row := maker.key and writer.up_to_date_row(path, maker.key):
            files.append(SiteFile(path, None, row.size, key=maker.key))
            continue
        file = attempt(f"the page {path}", partial(_page_file, renderer, maker))
        if isinstance(file, Problem):
            failures.append(file)
            file = _site_file(RawFile(path, renderer.render(failed_page(path, file))))
        files.append(file)
    other_files = attempt("the files for machines and for search", lambda: tuple(site_pages.other_files(causes)))
    if isinstance(other_files, Problem):
        failures.append(other_files)
    else:
        files += map(_site_file, other_files)
    return RenderedFiles(files=tuple(files), failures=tuple(failures))


def write_files(files: Iterable[SiteFile], writer: Writer) -> None:
    """Write the files that the output folder does not have already."""
    for file in files:
        if file.content is None:
            writer.is_fresh(OWNER, file.path, file.key)
        else:
            writer.write(OWNER, file.path, file.content, file.key)


def _assets(renderer: Renderer, writer: Writer, templates: str) -> list[SiteFile]:
    """Return the styles, scripts and pictures, which are read only if any of them, or a template, changed."""
    key = digest("assets", templates)
    if rows := writer.up_to_date_rows(key):
        return [SiteFile(row.path, None, row.size, key=key) for row in rows]
    return [SiteFile(file.path, file.content, len(file.content), key=key) for file in renderer.assets()]


def _site_file(file: RawFile) -> SiteFile:
    return SiteFile(file.path, file.content, len(file.content))


def _page_file(renderer: Renderer, maker: PageMaker) -> SiteFile:
    page = maker.make()
    content = renderer.render(page)
    return SiteFile(page.path, content, len(content), key=maker.key)


def _of_history(timeline: Timeline) -> tuple[Problem, ...]:
    """Return the problems of history. Problems of earlier manifests are past: the built revision's one is valid."""
    manifest = f"{timeline.config.evals_dir}/manifest.yaml"
    return tuple(
        replace(problem, past=problem.path == manifest and problem.commit != timeline.head.sha)
        for problem in timeline.problems
    )


def write_first_pages(
    timeline: Timeline, scored: ScoredEvals, memo: Memo, site_files: SiteFiles, writer: Writer
) -> str | None:
    """Write the pages that are read first, and placeholders. Returns the path of the overview; None if it failed.

    Files that link to nothing are written first, then the placeholders, then the pages: whenever the build is stopped,
    every link of a page that is there leads somewhere. The last stage makes the pages that a site has once again, most
    of them with the same bytes. ``writer``: the writer of the last stage.
    """
    evals = scored.result()
    rendered = _rendered_early(timeline, evals, memo, writer)
    if rendered is None:
        scored.write_first_pages()
        return None
    _write_other_files(rendered, writer)
    later = chain(scored.first_pages, _later_pages(timeline, evals))
    _reserve(timeline, site_files, chain(_navigation(rendered), later))
    scored.write_first_pages()
    write_files((file for file in rendered.files if is_page(file.path)), writer)
    return str(timeline.project.out / links.overview())


def _put_held(timeline: Timeline, site_files: SiteFiles, once: RenderedFiles, writer: Writer) -> None:
    """Put the pages that were held into their places, in the order of ``write_first_pages``."""
    _write_other_files(once, writer)
    _reserve(timeline, site_files, chain(_navigation(once), site_files.held))
    site_files.put_held()


def _write_other_files(once: RenderedFiles, writer: Writer) -> None:
    write_files((file for file in once.files if not is_page(file.path)), writer)


def _navigation(once: RenderedFiles) -> tuple[str, ...]:
    """Return the paths of the pages to which every placeholder links, so their own placeholders come first."""
    return (*(file.path for file in once.files if is_page(file.path)), links.instructions(), links.commits())


def _reserve(timeline: Timeline, site_files: SiteFiles, paths: Iterable[str]) -> None:
    """Write placeholders for those of these pages that are not there."""
    placeholder = cache(lambda root: timeline.context.renderer().render(unfinished_page(root)))
    for root, of_root in groupby(paths, key=links.up):
        site_files.reserve(of_root, partial(placeholder, root))


def _rendered_early(timeline: Timeline, evals: Evals, memo: Memo, writer: Writer) -> RenderedFiles | None:
    """Render the files that a site has once, while edits and commits are not written; None if any cannot be made."""
    if not evals.summaries:
        return None  # the overview then shows the sizes of edits, which are not known yet
    instructions = count_effects(timeline, evals)
    commits = Commits(newest=newest_commit(timeline, memo), uncommitted=None)
    problems = problems_of(timeline, evals, evals.failures)
    pages = SitePages.of(timeline, evals, instructions, commits, memo, 0)
    rendered = render_once(timeline.context.renderer(), pages, problems, writer, without=links.instructions())
    return None if rendered.failures else rendered


def _later_pages(timeline: Timeline, evals: Evals) -> Iterator[str]:
    """Yield the paths of the pages that other pages link to and that later stages write."""
    for summary in evals.summaries:
        for at in reversed(summary.headlines):
            yield links.report(summary.info.id, at.slug)
        if len(summary.headlines) > 1:
            yield links.compare(summary.info.id)
    for fields in evals.fields:
        yield from (links.field(fields.eval_id, attribute) for attribute in fields.attributes)
    for file in timeline.instructions:
        yield links.instruction(file.path)
        for edit in file.edits:
            yield links.edit(file.path, edit.commit.sha)
    for record in timeline.update.records:
        yield links.commit(record.commit.sha)
    for number in range(timeline.commits // COMMITS):
        yield links.older_commits(number + 1)
