"""An invented instruction file with its edits, for tests of the pages about instructions and commits: no git, no clock.

The file tells a model how to read seed packets.
"""

import difflib
import hashlib
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sitegen.model.changes import ChangeVerdict, Decision
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.series import Effect, EvalInfo, Headline
from sitegen.model.site import SiteInfo
from sitegen.model.timeline import Blob, Cause, CommitRecord, Edit, EditStatus, InstructionHistory
from sitegen.pages.commit import CommitView, EvalMove
from sitegen.pages.effects import Touched
from sitegen.pages.instructions import FileEdit
from sitegen.text.patch import Patch, read_patch

SITE = SiteInfo("seed-packets", "0.1.0", repository_url="https://example.org/garden/seed-packets")
SPECS = (
    MetricSpec("f1", "F1", "Harmonic mean of precision and recall."),
    MetricSpec("precision", "Precision", "Share of values given that are right."),
    MetricSpec("recall", "Recall", "Share of expected values that were given."),
)
TEXTS = Path(__file__).with_name("texts")
PATH = ".claude/instructions/packet-reader/instructions.md"

V1 = (TEXTS / "packet-reader.md").read_text(encoding="utf-8")
V2 = (
    V1.replace("v1.0.0", "v1.1.0")
    .replace("Use `null` otherwise.", "Use `null` otherwise and never guess.")
    .replace("3. Give the months of sowing as the packet writes them.", "3. Give months as numbers, 1 to 12.")
    .replace("| `price` | front, corner | |", "| `price` | front, corner | without currency |")
    .replace('{"from": "March", "until": "April"}', '{"from": 3, "until": 4}')
    .replace(
        "The species often stands below the variety in italics. If it is missing, look for it on the back.\n\n", ""
    )
    .replace(
        "- Do not translate names.\n", "- Do not translate names.\n- Do not convert inches; return both numbers.\n"
    )
)
V3 = V2.replace("2. Depths are in centimetres.", "2. Depths are in centimetres; convert inches by 2.54.").replace(
    "- Do not convert inches; return both numbers.\n", ""
)
VERSIONS = (V1, V2, V3)

HOSTILE_SUBJECT = "</script><script>alert(1)</script> \u202etxt.exe\u202c <b>bold</b> \x00\x1b[31m " + "long " * 60
HOSTILE = (TEXTS / "hostile.md").read_text(encoding="utf-8")


def oid(text: str) -> str:
    """The id of an invented blob or commit."""
    return hashlib.sha1(text.encode("utf-8", "surrogateescape")).hexdigest()


def commit(position: int, subject: str, body: str = "", author: str = "Wren Abara") -> Commit:
    sha, committed_at = oid(f"commit {position} {subject}"), f"2026-03-{1 + position % 28:02}T10:30:00+01:00"
    return Commit(sha, position, author, committed_at=committed_at, subject=subject, body=body)


def patch_of(old: str, new: str, context: int = 3, name: str = "instructions.md") -> Patch:
    """A patch as git writes it."""
    lines = list(
        difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), "a", "b", n=context)
    )
    header = f"diff --git a/{name} b/{name}\nindex {oid(old)[:7]}..{oid(new)[:7]} 100644\n--- a/{name}\n+++ b/{name}\n"
    return read_patch((header + "".join(lines[2:])).encode("utf-8", "surrogateescape"))


def edit(at: Commit, old: str | None, new: str | None, path: str = PATH, status: EditStatus = "modified") -> Edit:
    return Edit(
        commit=at,
        path=path,
        status=status,
        old=Blob(path, oid(old)) if old is not None else None,
        new=Blob(path, oid(new)) if new is not None else None,
    )


FILE = InstructionHistory(
    PATH,
    (
        edit(commit(2, "Write the instructions for seed packets"), None, V1, status="added"),
        edit(commit(5, "Months as numbers; never guess; no currency"), V1, V2),
        edit(commit(9, "Convert inches after all"), V2, V3),
    ),
)


def headline(position: int, f1: float | None, slug: str | None = None) -> Headline:
    """A point with precision a little above and recall a little below F1."""
    values = (None, None, None) if f1 is None else (f1, min(1.0, f1 + 0.012), f1 - 0.011)
    name = slug or f"{position:04}"
    return Headline(
        commit_position=position,
        sha=oid(f"commit {position}"),
        slug=name,
        label=f"iteration-{int(name[:4]):03}",
        status="scored",
        values=values,
        errors=(2, 1, 3, 0),
    )


def effect(name: str, before: float | None, after: float) -> Effect:
    """``before``: None without an output before."""
    return Effect(
        info=EvalInfo(name, name.replace("-", " ").capitalize()),
        before=None if before is None else headline(4, before),
        after=headline(6, after),
        specs=SPECS,
    )


def decided(one: Effect, decision: Decision) -> Effect:
    return judged(one, verdict=ChangeVerdict(decision=decision, why="beyond chance"))


def judged(one: Effect, verdict: ChangeVerdict | None = None, flips: Flips | None = None) -> Effect:
    return replace(one, window=one.window._replace(verdict=verdict, flips=flips))


EFFECTS = (
    effect("vegetables", 0.8123, 0.8514),
    effect("herbs", 0.91, 0.8987),
    effect("flowers", 0.7, 0.7),
    effect("grasses", None, 0.655),
    effect("trees", 0.8801, 0.8804),
)
MANY_EFFECTS = tuple(
    effect(f"shelf-{n:02}", 0.5 + n / 200, 0.5 + n / 200 + ((n * 7) % 11 - 5) / 100) for n in range(50)
)

BODY = """Forty runs over the winter's packets, and two corrections of the ground truth.

The price of "Aurora" was read from the wrong corner. <b>Not bold.</b>
"""


def touched(path: str, role: str, eval_id: str = "", iteration: str = "", old: bool = False) -> Touched:
    return Touched(
        change=ChangedPath(path, oid(path + "0") if old else None, oid(path)),
        role=role,  # type: ignore[arg-type]
        eval_id=eval_id,
        iteration=iteration,
    )


TOUCHED = (
    Touched(ChangedPath(PATH, oid(V1), oid(V2)), "instruction"),
    touched("evals/manifest.yaml", "rules", old=True),
    touched("evals/herbs/ground_truth.csv", "ground_truth", "herbs", old=True),
    *(
        touched(
            f"evals/vegetables/results/iteration-{n:03}/extracted.json", "output", "vegetables", f"iteration-{n:03}"
        )
        for n in range(1, 41)
    ),
    touched("evals/herbs/extracted.json", "output", "herbs", old=True),
    touched("schemas/field_mapping.yaml", "rules", old=True),
)


def _move(name: str, before: float | None, after: float | None, slug: str, *causes: Cause) -> EvalMove:
    """What became of an eval with one output of the commit."""
    return EvalMove(
        info=EvalInfo(name.lower(), name),
        specs=SPECS,
        before=None if before is None else headline(4, before),
        points=(headline(6, after, slug),),
        causes=causes,
    )


MOVES = (
    replace(
        _move("Vegetables", 0.8123, None, "0001", "outputs"),
        points=tuple(headline(6, 0.7 + ((n * 37) % 17) / 100, f"{n:04}") for n in range(1, 41)),
        originals=(*(None,) * 38, "iteration-038", "iteration-036"),
    ),
    _move("Herbs", 0.91, 0.8987, "0007", "outputs", "ground_truth"),
    _move("Bulbs", None, 0.5, "0001", "outputs"),
    _move("Mosses", 0.5, None, "0002", "mapping"),
)
NAMES = {move.info.id: move.info.name for move in MOVES}
RECORD = CommitRecord(
    commit=replace(FILE.edits[1].commit, body=BODY),
    changes=tuple(item.change for item in TOUCHED),
    other_changes=3,
    snapshots=tuple((move.info.id, point.slug) for move in MOVES for point in move.points),
    edits=(PATH,),
)
EDIT_TOUCHED = (Touched(ChangedPath(PATH, oid(V2), oid(V3)), "instruction"),)
EDIT_RECORD = CommitRecord(
    commit=FILE.edits[2].commit, changes=(EDIT_TOUCHED[0].change,), other_changes=0, snapshots=(), edits=(PATH,)
)


def commit_view(**changes: Any) -> CommitView:
    """A commit with outputs, with these fields changed."""
    fields = {
        "record": RECORD,
        "moves": MOVES,
        "changed": TOUCHED,
        "edits": (FileEdit(FILE.edits[1], PATH),),
        "names": NAMES,
    }
    return CommitView(**{**fields, **changes})


def moved(*moves: EvalMove) -> CommitView:
    """A commit with these points of evals."""
    return commit_view(moves=moves)


def edit_view(**changes: Any) -> CommitView:
    """A commit that edits instructions and has no output."""
    edits = (FileEdit(FILE.edits[2], PATH),)
    return commit_view(**{"record": EDIT_RECORD, "moves": (), "changed": EDIT_TOUCHED, "edits": edits, **changes})
