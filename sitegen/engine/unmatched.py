"""Finds names in the configuration that match nothing in the project, once all evals are scored."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.standing import unmatched_mutes
from sitegen.config.models import INSTRUCTIONS, GateSettings
from sitegen.data_files.project_files import SITE_FILES
from sitegen.engine.cached_kinds import SCORECARDS
from sitegen.engine.evals import Evals
from sitegen.engine.missing_files import MissingFiles
from sitegen.engine.scorecard_store import key_of_scorecards
from sitegen.engine.timeline import Timeline
from sitegen.history.files_at_commit import Folders, first_file_named
from sitegen.history.folder_tree import FolderTree
from sitegen.history.process import share_processes
from sitegen.model.frozen import grouped
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from sitegen.scoring.mapping import lines_of
from sitegen.scoring.mapping_use import UnusedEntry
from sitegen.scoring.redaction import fits_any
from sitegen.scoring.usage import all_specs
from sitegen.text.globs import compiled
from sitegen.text.keys import nearest

_MOST_GLOBS: Final = 1_000  # of instructions that are looked at: each takes up to a millisecond
_MOST_ENTRIES: Final = 20  # largest number of unused entries of one mapping that are reported individually


@share_processes()
def unmatched(evals: Evals) -> tuple[Problem, ...]:
    """Return the problems of the built revision: problems of the project first, then problems of its evals."""
    timeline, summaries = evals.build.timeline, {summary.info.id: summary for summary in evals.summaries}
    layout = timeline.layout
    shadowed = {}  # the eval of each other one whose folder is its alias, and whose files it owns
    with_aliases = (entry.id for entry in timeline.manifest.evals if entry.aliases)
    by_folder = grouped((folder, eval_id) for eval_id in with_aliases for folder in layout.folders(eval_id))
    for entry in timeline.manifest.evals:
        owners = by_folder.get(layout.folders(entry.id)[0], ())
        owner = next((eval_id for eval_id in owners if eval_id != entry.id), None)
        if owner and entry.id not in summaries and not layout.share_folder(entry.id, owner):
            shadowed[entry.id] = owner
    failed = {problem.eval_id for problem in evals.failures if problem.eval_id is not None}
    folders: Folders = timeline.files.names
    if timeline.project.options.worktree and timeline.project.place.root is not None:
        from sitegen.history.worktree import work_tree_paths

        folders = FolderTree.of(work_tree_paths(timeline.context.open())).names
    missing = MissingFiles(
        layout=layout, folders=folders, summaries=summaries, set_aside=frozenset({*shadowed, *failed})
    )
    return (
        *timeline.remarks,
        *_instructions(timeline, folders),
        *_unknown_metrics(evals, summaries),
        *_unreachable_floors(evals, summaries),
        *(
            Problem(
                "error",
                f"An alias of {owner!r} is the folder of the eval {eval_id!r}, whose files all count for {owner!r}.",
                "Remove the alias, or give one of the two another folder.",
                path=layout.manifest_path,
                eval_id=eval_id,
            )
            for eval_id, owner in shadowed.items()
        ),
        *(problem for _, problem in unmatched_redactions(evals)),
        *unmatched_mutes(timeline.config.regressions.mute, evals.summaries),
        *missing.problems(),
        *_unused_entries(evals),
    )


def unmatched_redactions(evals: Evals) -> Iterator[tuple[str, Problem]]:
    """Yield the globs under ``redact`` that match no field that was ever judged or that a finding quotes.

    Each is with the problem to report.
    """
    timeline = evals.build.timeline
    names: dict[str | None, set[str]] = {eval_id: set(record.attributes) for eval_id, record in evals.records.items()}
    for problem in chain.from_iterable(record.problems for record in evals.records.values()):
        if problem.field and problem.path != timeline.layout.manifest_path:
            names.setdefault(problem.eval_id, set()).add(problem.field)
    everywhere = set().union(*names.values())
    fix = "Correct the glob, or remove it: values that it should hide may be on the site. --public refuses such a site."
    for glob in timeline.config.redact:
        if not fits_any(glob, everywhere):
            message = (
                f"No field of any eval ever had a path that {glob!r} names, under `redact` in the site's configuration."
            )
            yield glob, Problem.of_type("unmatched_redaction", message, fix, SITE_FILES[0], field="redact")
    manifest = timeline.layout.manifest_path
    for entry in timeline.manifest.evals:
        for glob in entry.redact:
            if not fits_any(glob, names.get(entry.id, ())):
                message = f"No field of {entry.id!r} ever had a path that {glob!r} names, under `redact` in its entry."
                yield glob, Problem.of_type("unmatched_redaction", message, fix, manifest, entry.id, "redact")


def _instructions(timeline: Timeline, folders: Folders) -> Iterator[Problem]:
    """Report globs that no instruction file ever matched. The default globs may match nothing."""
    paths = {edit.path for file in timeline.instructions for edit in file.edits}
    globs = [(glob, "") for glob in timeline.config.instructions if glob not in INSTRUCTIONS]
    globs += ((glob, entry.id) for entry in timeline.manifest.evals for glob in entry.instructions)
    if len(globs) > _MOST_GLOBS:
        message = f"Of {len(globs):,} globs of instructions, the first {_MOST_GLOBS:,} are compared with the files."
        yield Problem.of_type("unmatched_instructions", message, "Write fewer globs, with wildcards in them.")
    for glob, eval_id in globs[:_MOST_GLOBS]:
        if any(map(compiled((glob,)).fullmatch, paths)):
            continue
        if not eval_id:
            message = f"No file ever had a path that {glob!r} names, of `instructions` in the site's configuration."
            fix = "Correct the glob, or remove it."
            yield Problem.of_type("unmatched_instructions", message, fix, SITE_FILES[0], field="instructions")
            continue
        left_out = first_file_named(glob, folders)
        fix = "Correct the glob; it chooses among the files that the site's own `instructions` name."
        if left_out:
            fix = f"Add {left_out!r} to `instructions` in sitegen.toml, which name the files that are read."
        message = f"No instruction file ever had a path that {glob!r} names, of the instructions of {eval_id!r}."
        place = timeline.layout.manifest_path, eval_id, "instructions"
        problem = Problem.of_type("unmatched_instructions", message, fix, *place)
        lines = {"sitegen.toml": {"instructions": [*timeline.config.instructions, left_out]}}
        yield replace(problem, paste=json.dumps(lines)) if left_out else problem


def _unknown_metrics(evals: Evals, summaries: Mapping[str, EvalSummary]) -> Iterator[Problem]:
    """Report targets and limits of the gate for unknown metrics, evals or slices."""
    timeline, manifest = evals.build.timeline, evals.build.timeline.layout.manifest_path
    for entry in timeline.manifest.evals:
        if summary := summaries.get(entry.id):
            for name in (name for name in entry.thresholds if name not in summary.metrics):
                message = f"The eval {entry.id!r} has a target for {name!r}, and no metric has that name."
                near = nearest(name, summary.metrics)
                fix = f"Did you mean {near!r}?" if near else f"Known: {', '.join(sorted({*summary.metrics}))}."
                yield Problem.of_type("unmatched_limit", message, fix, manifest, entry.id, f"thresholds.{name}")
    gate = timeline.config.gate
    if gate != GateSettings():
        from sitegen.analysis.gate import idle_limits
        from sitegen.analysis.slices import slices_by_name

        metrics = [name for kind in BUILTIN_KINDS for spec in all_specs(scorer(kind).metrics) for name in spec.names]
        metrics += [name for summary in summaries.values() for name in summary.metrics]
        newest = [(history, history.snapshots[-1]) for history in timeline.evals if history.snapshots]
        keys = (key_of_scorecards(of.kind, timeline.context_for(of.id))(snapshot) for of, snapshot in newest)
        cards = [SCORECARDS.get(evals.build.memo, key) for key in keys]
        named = chain.from_iterable(slices_by_name(card).items() for card in cards if card)
        slices = {key for name, values in named for key in (name, ",".join(values))}
        known: dict[str, Collection[str]] = {"eval": summaries, "metric": metrics}
        yield from idle_limits(gate, known | ({"slice": slices} if all(cards) else {}))


def _unreachable_floors(evals: Evals, summaries: Mapping[str, EvalSummary]) -> Iterator[Problem]:
    """Report targets and floors of the gate beyond all values, which never fail: they are missed at the base too."""
    timeline, manifest = evals.build.timeline, evals.build.timeline.layout.manifest_path
    for eval_id, summary in summaries.items():
        specs = all_specs(summary.specs)
        by_name = {"": specs[0], **{name: spec for spec in specs for name in spec.names}}
        floors = [(manifest, f"thresholds.{name}", name, floor) for name, floor in summary.info.thresholds.items()]
        limits = timeline.config.gate.limits
        of_gate = ((key, metric, limit.floor) for key, of, metric, limit in limits if of in ("", eval_id))
        floors += ((SITE_FILES[0], f"{key}.floor", name, floor) for key, name, floor in of_gate if floor is not None)
        for path, key, name, floor in floors:
            spec = by_name.get(name, specs[0])
            best, beyond = (spec.high, "above") if spec.higher_is_better else (spec.low, "below")
            if name in by_name and not spec.reaches(best, floor):
                message = f"The floor of {spec.name!r} for {eval_id!r} is {floor:g}, and no value is {beyond} {best:g}."
                fix = f"Write one that is not {beyond} {best:g}."
                yield Problem.of_type("unmatched_limit", message, fix, path, eval_id, key)


def _unused_entries(evals: Evals) -> Iterator[Problem]:
    """Report entries of mappings and settings that match no field; for a shared mapping, entries that no eval uses."""
    present = ((eval_id, record) for eval_id, record in evals.records.items() if not record.summary.deleted)
    uses = [(eval_id, record.mapping_use) for eval_id, record in present if record.mapping_use]
    by_file: dict[str, dict[str, tuple[UnusedEntry, ...] | None]] = {}
    for eval_id, use in uses:
        if use.path is not None:
            by_file.setdefault(use.path, {})[eval_id] = use.of_file
    for path, unused_by in sorted(by_file.items()):
        first, *rest = unused_by.values()
        if first is None or None in rest:
            continue
        unused_elsewhere = [{(entry.key, entry.text) for entry in entries or ()} for entries in rest]
        unused = [entry for entry in first if all((entry.key, entry.text) in entries for entries in unused_elsewhere)]
        problems = [*_unused(unused, path, next(iter(unused_by)) if len(unused_by) == 1 else None)]
        named = ((entry.key, entry.text) for entry in unused[:_MOST_ENTRIES])
        lines = lines_of(evals.build.timeline.files.read(path) or b"", named) if problems else ()
        yield from (replace(problem, line=line) for problem, line in zip_longest(problems, lines))
    for eval_id, use in uses:
        yield from _unused(use.of_settings, evals.build.timeline.layout.manifest_path, eval_id)


def _unused(entries: Sequence[UnusedEntry], path: str, eval_id: str | None) -> Iterator[Problem]:
    of_nothing = "no field of the ground truth or of the newest output."
    for entry in entries[:_MOST_ENTRIES]:
        type = "unknown_item_field" if entry.key.startswith("lists.") else "unused_rule"
        fix = f"Did you mean {entry.near!r}?" if entry.near else "Correct it, or remove it if it is left over."
        message = f"{entry.text!r} of `{entry.key}` matches {of_nothing}"
        yield Problem.of_type(type, message, fix, path, eval_id, entry.key)
    if len(entries) > _MOST_ENTRIES:
        message = f"{len(entries) - _MOST_ENTRIES:,} more entries match {of_nothing}"
        yield Problem.of_type("unused_rule", message, "Correct or remove those that are listed first.", path, eval_id)
