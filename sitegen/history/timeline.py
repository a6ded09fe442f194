"""The timeline: a fold over revisions, oldest first.

History is always folded from its root; its commits are kept, so git is asked for the new ones alone. What is new since
the previous build is what differs from the state at the commit that it had reached.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from pathlib import Path
from posixpath import commonprefix, dirname, splitext
from typing import Final, Literal

from msgspec.structs import replace

from sitegen.config.manifest import read_manifest
from sitegen.config.models import GROUND_TRUTHS, EvalConfig
from sitegen.data_files.reading import installed_for
from sitegen.errors import NothingToReportError, RepositoryError
from sitegen.history.fold import HistoryFold
from sitegen.history.layout import Layout, Move, StartOverError, normal
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.history.revisions import file_renames, walk, with_moved_folders
from sitegen.history.rules_in_force import ManifestReader
from sitegen.model.commits import WORKTREE, Commit, Revision
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.problems import Problem
from sitegen.model.timeline import CommitRecord, EvalHistory, InstructionHistory, RenamedEval
from sitegen.scoring.kinds import installed_versions

_MOST_MOVES: Final = 200  # that are followed at once, each of which is looked at for each file that no eval has now
_MOST_EARLIER: Final = 20  # the most earlier places of an eval that are looked for; for each, history is read once more
_UNSHALLOW: Final = "Run git fetch --unshallow; in a GitHub workflow, give actions/checkout the input fetch-depth: 0."


class FoldEnd(Frozen):
    """The commit that a build had reached, and everything but commits that decided what it folded."""

    head: str
    structure: str
    """A digest of the configuration, the paths that were followed, the renames, and the boundary of the history."""
    revisions: tuple[Revision, ...]
    """The first commits, with their changes of the paths that were followed."""


class FoldedHistory(Frozen):
    """What a fold has found of history at a commit, and what of it is new since the previous build."""

    first_new: int
    """Position of the first commit that is new; 0 if everything is, because earlier pages show something else now."""
    changed: Mapping[str, int]
    """Each eval that the new commits changed, by id: the index of its first snapshot that the previous build did not
    have."""
    records: tuple[CommitRecord, ...]
    """Oldest first."""
    renamed: tuple[RenamedEval, ...]
    """The evals that commits renamed, oldest first."""
    evals: tuple[EvalHistory, ...]
    """Every eval that ever had ground truth, by id."""
    instructions: tuple[InstructionHistory, ...]
    """Every instruction file, by path."""
    head: Commit
    problems: tuple[Problem, ...]
    """The problems of all history by commit, followed by problems of the history as a whole."""
    end: FoldEnd
    """For the next build."""
    overlay: Mapping[str, Path | bytes]
    """Files of the work tree by the ids of their contents, which git may not have."""

    @property
    def is_complete(self) -> bool:
        """Whether everything is new, so that every eval and file is listed."""
        return self.first_new == 0

    @property
    def new_records(self) -> tuple[CommitRecord, ...]:
        """The records of the new commits, oldest first."""
        return tuple(record for record in self.records if record.commit.position >= self.first_new)

    @property
    def edited(self) -> tuple[InstructionHistory, ...]:
        """The instruction files that the new commits edited, by path."""
        return tuple(file for file in self.instructions if file.edits[-1].commit.position >= self.first_new)


@share_processes()
def advance(
    repository: Repository,
    layout: Layout,
    *,
    head: str | None,
    manifests: ManifestReader = read_manifest,
    files: Literal["committed", "uncommitted", "ignored"] = "committed",
    since: FoldEnd | None = None,
) -> FoldedHistory:
    """Fold history up to the commit ``head``; None if there is no commit yet.

    ``layout``: with the manifest of the built revision, or of the work tree if that is folded, which defines evals and
    their folders. ``manifests``: reads the manifests of commits. ``files``: whether the uncommitted state is folded
    after the head, and with it the files of evals that git ignores. ``since``: the end of the previous build; what is
    new comes after it, or is everything if that is not enough for the same pages. A shallow history is folded as far
    as it goes.

    Raises NothingToReportError if no eval ever had ground truth and there never was an instruction file.
    """
    renamed = tuple[RenamedEval, ...]()
    revisions = tuple[Revision, ...]()
    repository = repository.overlaid({})  # its overlay becomes that of the history
    while True:
        structure = _structure(repository, layout, renamed)
        known = since if since and since.structure == structure else None
        # What was uncommitted may be something else now.
        reached = known.head if known and known.head != WORKTREE else None
        fold = HistoryFold(repository, layout, renamed, manifests, reached)
        try:
            if head is not None:
                revisions = fold.walk(head, known.revisions if known else ())
            if files != "committed":
                from sitegen.history.worktree import uncommitted

                for revision in uncommitted(fold, head, ignored=files == "ignored"):
                    fold.fold(revision)
            _follow_earlier_places(fold)
            break
        except StartOverError as reason:
            layout = reason.layout
            renamed += reason.renamed
    evals = {eval_id: history for eval_id, history in fold.histories().items() if fold.evals[eval_id].was_scorable}
    instructions = fold.instructions.histories()
    if not evals and not instructions:
        message, fix = _no_eval(layout)
        where = str(repository.place.top)
        raise NothingToReportError(f"{message} There is no instruction file either.", where=where, fix=fix)
    first, edits = fold.first_new, (edit for file in instructions for edit in file.edits)
    shows_otherwise = (  # the first new commit or a later one changes what earlier pages show
        fold.before is None
        or any(rename.position >= first for rename in fold.renamed)
        or any(edit.status == "renamed" and edit.commit.position >= first for edit in edits)
        or any(_shown_otherwise(fold, fold.before.get(eval_id), evals[eval_id]) for eval_id in evals)
    )
    first_new = 0 if shows_otherwise else first
    before = fold.before if fold.before and first_new else {}
    changed: dict[str, int] = {}
    for name in (name for name, history in evals.items() if before.get(name) != history):
        shown = before[name].snapshots if name in before else ()
        pairs = enumerate(zip(shown, evals[name].snapshots, strict=False))
        changed[name] = next((at for at, (old, new) in pairs if old != new), len(shown))
    started = grouped((at.commit.sha, (name, at.slug)) for name, history in evals.items() for at in history.snapshots)
    return FoldedHistory(
        first_new=first_new,
        changed=changed,
        records=tuple(replace(record, snapshots=tuple(started.get(record.commit.sha, ()))) for record in fold.records),
        renamed=tuple(fold.renamed),
        evals=tuple(evals.values()),
        instructions=instructions,
        head=fold.head,
        problems=tuple(_shown_problems(fold, evals, repository.shallow_boundary)),
        end=FoldEnd(fold.head.sha, structure, revisions),
        overlay=repository.overlay,
    )


def _follow_earlier_places(fold: HistoryFold) -> None:
    """Raise StartOverError with an alias or a move for each eval that was elsewhere before its first output.

    Where half of the files of a folder were before, under the same names, that folder was: their contents are the same,
    or the commit deleted all files of these names in one folder, and wrote them in another. It is an alias of the
    folder or the file that the entry names; files in other folders count as if they had always been where they are. So
    do those of a folder ``outputs/`` that the commit deleted where it wrote ``outputs.jsonl``.
    """
    layout = fold.layout
    places = [
        (commit.sha, commit.position, name, folder, (normal(f"./{folder}/{entry.outputs}"), *entry.earlier_outputs))
        for name, commit in fold.begun.items()
        if not [*(entry := layout.entry(name)).aliases, *layout.moved][_MOST_EARLIER:]
        for folder in fold.evals[name].folders
    ]
    if not places:
        return
    uncommitted = fold.last.changes if fold.last and fold.last.commit.sha == WORKTREE else ()

    def examine() -> str:
        found: list[Move] = []
        committed = walk(fold.repository.place, {place[0] for place in places} - {WORKTREE})
        changes = {WORKTREE: uncommitted} | {each.commit.sha: each.changes for each in committed}
        same = {sha: file_renames(changes[sha], lambda oid: None) for sha in changes}
        renames = {sha: with_moved_folders(changes[sha], same[sha]) for sha in changes}
        came = ((sha, at, path) for sha, at in {of[:2] for of in places} for path, old, _ in changes[sha] if not old)
        roles = ((sha, path, of) for sha, at, path in came for of in layout.places(layout.place_now(path, at)))
        files = grouped(((sha, of.eval_id, of.folder), path) for sha, path, of in roles)
        for sha, position, name, folder, outputs in places:
            here, pairs = files.get((sha, name, folder), ()), Counter[tuple[str, str]]()
            for path in dict.fromkeys((*here, *outputs)):
                if old := renames[sha].get(path):
                    sides = f"/{old.path}", f"/{path}"
                    inside = path.removeprefix(f"{folder}/")
                    end = "".join(commonprefix((sides[0][::-1], f"/{inside}"[::-1]))[::-1].partition("/")[1:])
                    pairs[sides[0].removesuffix(end)[1:], sides[1].removesuffix(end)[1:]] += 1
            for (before, new), number in pairs.most_common(_MOST_EARLIER):
                there = sum(not new or f"{path}/".startswith(f"{new}/") for path in here)
                others = (pairs[pair] for pair in pairs if pair[1] == new and pair[0] != before)
                if 2 * number >= there and number not in others:  # of two halves, nobody knows which it was
                    found.append((name, position, before, new))
            removed = {dirname(path) for path, _, new in changes[sha] if not new}
            joined = ((splitext(path)[0], path) for path in (*here, *outputs))
            found += [(name, position, before, new) for before, new in dict.fromkeys(joined) if before in removed]
        return json.dumps(found)

    # What is uncommitted may be something else in the next build.
    answers, question = fold.repository.answers, f"earlier places {places} {layout.moved}"
    answer = examine() if uncommitted else answers.about(places[-1][0], question, examine)
    owners = {folder: name for name, state in fold.evals.items() for folder in state.folders}
    found, moved = dict[str, EvalConfig](), list[Move]()
    for name, position, old, new in json.loads(answer or "[]"):
        entry, folders = layout.entry(name), fold.evals[name].folders
        is_file = splitext(old)[1] == splitext(new)[1] != "" and any(new in place[4] for place in places)
        at = old if is_file else f"{old}/"
        of_others = any(owners.get(place.folder) != name for place in layout.places(at))
        if not is_file and (new not in folders or not old or entry.answered_in):
            moved += {(name, position, old, new)}.difference(layout.moved)
        elif not {at, old} & {*owners, *entry.aliases} and not of_others:
            unnamed = [folder for folder in folders if folder not in layout.folders(name)]
            found.setdefault(name, dataclasses.replace(entry, aliases=(*entry.aliases, *unnamed, at)))
    if found or moved:
        raise StartOverError(layout.with_entries(found.values(), moved[:_MOST_MOVES]))


def _structure(repository: Repository, layout: Layout, renamed: tuple[RenamedEval, ...]) -> str:
    boundary, watched = repository.shallow_boundary, layout.watched
    followed = sorted(watched.shared), sorted(watched.ground_truths), layout.moved
    decided = (layout.site, layout.manifest, *followed, renamed, boundary)
    stated = layout.manifest.evals
    # The fold reads the metadata of runs, so it depends on which packages are installed to read it.
    installed = (
        installed_for(entry.outputs for entry in stated),
        installed_versions(*(entry.settings for entry in stated)),
    )
    configuration = repr(decided).encode("utf-8", "surrogateescape")
    return f"{blake2b(configuration, digest_size=16).hexdigest()} {installed}"


def _shown_otherwise(fold: HistoryFold, before: EvalHistory | None, history: EvalHistory) -> bool:
    """Whether new commits change what the pages of earlier commits show of an eval."""
    if history.layout == "iterations" and (before is None or before.layout != history.layout):
        # Overwritten outputs do not count any more.
        names, changes = (history.id, *history.renamed_from), chain.from_iterable(each.changes for each in fold.records)
        places = chain.from_iterable(fold.layout.places(change.path) for change in changes)
        if any(place.role == "overwritten" and place.eval_id in names for place in places):
            return True
    if before is None or not before.snapshots or not history.snapshots:
        return False
    if (before.kind, before.snapshots[0].settings) != (history.kind, history.snapshots[0].settings):
        return True
    # The pages judge changes by the repeated runs of outputs, and name the edits that these were made with.
    shown = attrgetter("runs", "recorded_at", "made_at")
    return any(shown(old) != shown(new) for old, new in zip(before.snapshots, history.snapshots, strict=False))


def _shown_problems(fold: HistoryFold, evals: dict[str, EvalHistory], boundary: tuple[str, ...]) -> Iterator[Problem]:
    """Yield the problems of displayed evals, of files that belong to no eval, and of the history as a whole."""
    first: dict[Problem, Problem] = {}  # of each, that of the first commit that has it
    for problem in fold.problems:
        first.setdefault(replace(problem, commit=None), problem)
    for problem in first.values():
        if problem.eval_id is None or problem.eval_id in evals:
            yield problem
        elif problem.path and any(of.role == "ground_truth" for of in fold.layout.places(problem.path)):
            yield replace(problem, eval_id=None)  # a link in its place may be why there is no such eval
    if not evals:
        message, fix = _no_eval(fold.layout)
        yield Problem("note", message, fix)
    if number := fold.backward_dates:
        are = "commit is dated before its predecessor" if number == 1 else "commits are dated before their predecessors"
        message = f"{number:,} {are}."
        fix = "Nothing has to be done: commits are in the order of the history, not of their dates."
        yield Problem("note", message, fix)
    if boundary:
        message = "The history of this clone is cut off: its oldest commit seems to have made everything."
        yield Problem("warning", message, _UNSHALLOW, commit=boundary[0])


def shallow_history(repository: Repository) -> RepositoryError:
    """Return the error for a history that is shallow, if that was not allowed."""
    reason = "The history of this clone is cut off: its oldest commit would seem to have made everything."
    return RepositoryError(reason, where=str(repository.place.top), fix=f"{_UNSHALLOW} Or add --allow-shallow.")


def _no_eval(layout: Layout) -> tuple[str, str]:
    """Return which places were searched for evals, and how to add one."""
    folder = layout.manifest_path.rpartition("/")[0] or "."
    return (
        f"There is no eval: no folder in {folder}/ ever had a ground truth ({', '.join(GROUND_TRUTHS)}), "
        f"and no committed {layout.manifest_path} names another: what is not committed is not read.",
        f"If {layout.manifest_path} is written but not committed, commit it, or run sitegen build --worktree. Else "
        f"commit {folder}/NAME/ground_truth.csv and {folder}/NAME/results/iteration-001/extracted.json. To look for "
        "files of other names, run: sitegen init",
    )
