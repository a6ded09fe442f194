import re
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from sitegen.analysis.effects import BestInstructions, EvalThen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, EvalInfo, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.effects import grade_counts
from sitegen.pages.instruction import LISTED_EDITS, SPARK_POINTS, CountedEdit, InstructionView, show_text, thinned
from sitegen.pages.instructions import (
    COSTS,
    DELETED,
    FILES,
    NAMED_FILES,
    VERSIONS,
    FileRecord,
    edits_by_variant,
    instructions_page,
)
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.rows import in_table
from tests.sites import renderer_of, written

COUNTS = (
    PatchCounts(added=38, removed=0, version_before=None, version_after="1.0.0"),
    PatchCounts(added=6, removed=7, version_before="1.0.0", version_after="1.1.0"),
    PatchCounts(1, 2),
)
RECORDS = [
    FileRecord(
        history=replace(sample.FILE, path="prompts/b.md"),
        counts=COUNTS,
        grades=grade_counts(["cannot tell", "worse", "cannot tell"]),
        effects=sample.EFFECTS,
        measured=sample.FILE.edits[1].commit,
    ),
    FileRecord(history=sample.FILE, counts=COUNTS, grades=(("likely better", 4),)),
    FileRecord(history=replace(sample.FILE, path="prompts/a.md"), counts=(None, None, None), grades=()),
    FileRecord(history=replace(sample.FILE, path="AGENTS.md", deleted=True), counts=COUNTS, grades=()),
    FileRecord(history=replace(sample.FILE, path="CLAUDE.md"), counts=COUNTS, grades=()),
]


def test_files_whose_edits_changed_evals_most_surely_come_first_and_deleted_ones_stand_apart():
    page = instructions_page(RECORDS, (), ())
    assert page.path == "instructions/index.html"
    html = written(renderer_of(sample.SITE), page)
    names = re.findall(r'<a class="mono" href="(?:\.\./)*instructions/[^"]*">([^<]*)</a>', html)
    assert list(dict.fromkeys(names)) == ["b.md", "packet-reader/instructions.md", "CLAUDE.md", "a.md", "AGENTS.md"]
    assert '<span class="pill bad">1 worse</span><span class="pill">2 cannot tell</span>' in html
    assert "<span>15 edits</span>" in html


def test_a_variant_is_found_by_the_path_or_the_name_of_its_prompt():
    edits = [replace(sample.FILE.edits[0], path=path) for path in ("prompts/short.md", "kind.md")]
    moved = {(edits[0].path, edits[0].commit.sha): "prompts/brief.md"}
    found = {name: [each.file for each in own] for name, own in edits_by_variant(edits, moved).items()}
    names = dict.fromkeys(("prompts/short.md", "short.md", "prompts.short", "short"), "prompts/brief.md")
    assert found == {name: [path] for name, path in {**names, "kind.md": "kind.md", "kind": "kind.md"}.items()}


def numbered(count: int, folder: str, *, deleted: bool = False) -> list[FileRecord]:
    """Files ``FOLDER/000.md`` and so on, edited in this order."""
    commits = [replace(sample.FILE.edits[0].commit, position=position) for position in range(count)]
    return [
        FileRecord(
            history=InstructionHistory(
                f"{folder}/{number:04}.md", (replace(sample.FILE.edits[0], commit=commit),), deleted=deleted
            ),
            counts=COUNTS,
            grades=(),
        )
        for number, commit in enumerate(commits)
    ]


def test_most_of_very_many_files_are_only_named_and_the_page_says_how_many_are_not():
    files = FILES + NAMED_FILES + 1
    page = instructions_page([*numbered(files, "a"), *numbered(DELETED + 3, "b", deleted=True)], (), ())
    html = written(renderer_of(sample.SITE), page)
    parts = [html.partition(f'id="{heading}"')[2].partition("</section>")[0] for heading in ("h-i", "h-d", "h-n")]
    assert [re.findall(r'<a class="mono" href="[./]*instructions/([^/]+)/', part) for part in parts] == [
        [f"a--{number:04}.md" for number in range(FILES)],
        [f"b--{number:04}.md" for number in range(3, DELETED + 3)],
        [f"a--{number:04}.md" for number in range(FILES, FILES + NAMED_FILES)],
    ]
    assert f"<span>{files:,} files</span>" in html
    assert "4 more files; search finds their pages." in html
    assert f'<span class="note">the last {DELETED} of {DELETED + 3}</span>' in html


def test_of_many_best_versions_those_for_most_evals_are_shown_with_the_largest_losses():
    spec = MetricSpec("f1", "F1", "")
    then = Headline(
        commit_position=1, sha="s", slug="0001", label="one", status="scored", values=(0.5,), errors=(0, 0, 0, 0)
    )

    def version(position: int, best_for: int) -> BestInstructions:
        evals = tuple(
            EvalThen(
                info=EvalInfo(f"e{number}", f"E{number}"),
                spec=spec,
                then=then,
                value=0.5,
                change=-0.25,
                decision="better" if number < best_for else None,
                is_best=number < best_for,
            )
            for number in range(COSTS + 3)
        )
        commit = replace(sample.FILE.edits[0].commit, position=position, sha=f"{position:040}")
        return BestInstructions(commit=commit, evals=evals, files=(("a.md", "a.md"),))

    page = instructions_page(
        RECORDS, (), tuple(version(position, 2 - position % 2) for position in range(VERSIONS + 4, 0, -1))
    )
    html = written(renderer_of(sample.SITE), page)
    assert re.findall(r"git checkout (\d+) -- a.md", html) == ["0000000"] * VERSIONS
    costs = html.partition('<ul class="small">')[2].partition("</ul>")[0]
    assert re.findall(">(E[0-9]+)<", costs) == [f"E{number}" for number in range(2 + COSTS)]
    assert html.count("<li>and 1 more, each of which loses less or gains</li>") == VERSIONS // 2 + 2
    assert "4 more are the best for others" in html


Record: TypeAlias = tuple[CountedEdit, tuple[Effect, ...]]


def record(counts: PatchCounts | None, effects: tuple[Effect, ...] = (), sections: tuple[str, ...] = ()) -> Record:
    """One edit: how much it changed, how evals changed with it, and which sections it touched."""
    return CountedEdit(counts, sections), effects


ALL_RECORDS = (
    record(PatchCounts(added=38, removed=0, version_before=None, version_after="1.0.0"), sample.MANY_EFFECTS),
    record(PatchCounts(added=6, removed=7, version_before="1.0.0", version_after="1.1.0"), sample.EFFECTS),
    record(PatchCounts(1, 2), ()),
)


def page_of(file: InstructionHistory, records: Sequence[Record], text: bytes | None = None) -> Page:
    """The page of a file with these edits, oldest first."""
    displayed = "" if text is None else show_text(text)
    edits, effects = tuple(edit for edit, _ in records), tuple(effects for _, effects in records)
    return InstructionView(file=file, edits=edits, effects=effects, text=displayed).page


def view_of(file: InstructionHistory, records: Sequence[Record], text: bytes | None) -> InstructionView:
    view = page_of(file, records, text).view
    assert isinstance(view, InstructionView)
    return view


def html_of(records: Sequence[Record], text: bytes | None = None, file: InstructionHistory = sample.FILE) -> str:
    return written(renderer_of(sample.SITE), page_of(file, records, text))


def test_many_sizes_are_thinned_out_between_first_and_last():
    sizes = thinned(range(1_000))
    assert (len(sizes), sizes[0], sizes[-1]) == (SPARK_POINTS, 0, 999)
    assert thinned((1, None)) == (1, None)


def test_a_deleted_file_shows_its_last_text():
    gone = sample.edit(sample.commit(10, "Remove it"), sample.V3, None, status="deleted")
    file = InstructionHistory(sample.PATH, (*sample.FILE.edits, gone), deleted=True)
    view = view_of(file, (*ALL_RECORDS, record(PatchCounts(0, 36))), sample.V3.encode())
    assert (view.file.deleted, view.lines[-1], isinstance(view.text, str)) == (True, 0, False)


@pytest.mark.parametrize(("text", "why"), [(None, ""), (b"\x00\x01", "the file is binary")])
def test_without_a_text_to_show_there_is_none(text: bytes | None, why: str):
    view = view_of(sample.FILE, ALL_RECORDS, text)
    assert view.text == why


def test_only_the_newest_edits_are_listed_and_the_page_leads_to_the_others():
    commits = [replace(sample.commit(number, "x"), sha=f"{number:012}{0:028}") for number in range(LISTED_EDITS + 1)]
    edits = tuple(sample.edit(commit, "x\n", "y\n", sample.FILE.path) for commit in commits)
    html = html_of([record(None)] * len(edits), file=replace(sample.FILE, edits=edits))
    rows = html.split('<table class="wide edits stacked"')[1].split("</table>")[0]
    pages = [links.edit(sample.FILE.path, edit.commit.sha) for edit in reversed(edits)]
    assert [f'href="../../{page}"' in rows for page in pages] == [True] * LISTED_EDITS + [False]
    rest = " ".join(html.split('<p class="rest">The newest')[1].split("</p>")[0].split())
    assert rest.startswith(
        f'{LISTED_EDITS} of {len(edits)} edits are listed, and this is <a href="../../{pages[-1]}">the edit before them'
    )
    assert f"<span>{LISTED_EDITS + 1} edits</span>" in html


def test_versions_and_what_was_forgotten_about_them_stand_beside_the_edits():
    records = (
        ALL_RECORDS[0],
        record(PatchCounts(added=1, removed=1, version_before="1.0.0", version_after="1.1.0", only_version=True)),
        ALL_RECORDS[2],
    )
    view = view_of(sample.FILE, records, sample.V3.encode())
    told = [(step.version, step.slip) for step in view.versions[::-1]]
    assert told == [("1.1.0", "text alone"), ("1.1.0", "version alone"), ("1.0.0", None)]
    assert view.notes == [
        "1 edit changed the text without a new version.",
        "1 edit gave a new version and changed nothing else.",
    ]
    html = html_of(records, sample.V3.encode())
    assert 'class="c-version num hide-s">Version</th>' in html
    assert '<td class="c-version num hide-s" data-h="Version">1.1.0' in html
    assert '<span class="pill warn">a new version without an edit</span>' in html


@in_table
def test_a_long_agent_definition_is_noted(path: str, lines: int, noted: int):
    edit = sample.edit(sample.commit(1, "x"), None, "x\n", path, "added")
    view = view_of(InstructionHistory(path, (edit,)), (record(PatchCounts(lines, 0)),), b"x\n" * lines)
    assert view.notes == ["An agent definition of 101 lines: move the details into instruction files."] * noted
