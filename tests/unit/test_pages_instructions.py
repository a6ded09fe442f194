import re

from msgspec.structs import replace

from sitegen.analysis.effects import BestInstructions, EvalThen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalInfo, Headline
from sitegen.model.timeline import InstructionHistory
from sitegen.pages.effects import grade_counts
from sitegen.pages.instructions import (
    COSTS,
    DELETED,
    FILES,
    NAMED_FILES,
    VERSIONS,
    FileRecord,
    InstructionsView,
    edits_by_variant,
    instructions_page,
)
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
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
    view = page.view
    assert isinstance(view, InstructionsView)
    assert page.path == "instructions/index.html"
    assert [(row.folder, row.name) for row in view.living] == [
        ("prompts", "b.md"),
        (".claude/instructions", "packet-reader/instructions.md"),
        ("", "CLAUDE.md"),
        ("prompts", "a.md"),
    ]
    assert view.living[0].grades == (("worse", 1), ("cannot tell", 2))
    assert [row.name for row in view.deleted] == ["AGENTS.md"]
    assert "<span>15 edits</span>" in written(renderer_of(sample.SITE), page)


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
