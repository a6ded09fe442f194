"""Finds the evals and instructions that a project already has, so that ``init`` can write a configuration for them."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from sitegen.config.finders.searched_files import SearchedFiles
from sitegen.config.found_evals import with_found_evals
from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import Manifest, SiteConfig
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.layout import Layout
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.model.frozen import Frozen
from sitegen.recognition.files import BlobReader, TrackedHistory, tracked_files
from sitegen.recognition.initialising import WrittenEntry, manifest_text, site_text
from sitegen.recognition.instruction_files import InstructionGlob, instruction_globs
from sitegen.recognition.proposals import Proposal, TrialResult, fold_evals, proposals, score_newest
from sitegen.scoring.case_files import kind_of_case_file
from sitegen.text.plain import counted

_NO_HISTORY: Final = TrialResult(0, "", "no commit wrote such a file")


class FoundEval(Frozen):
    """An eval of the project, or a proposed one."""

    id: str
    trial: TrialResult
    why: str
    """The evidence for a proposal; empty for an eval that follows the conventions or that a manifest names."""


class Discovery(Frozen):
    """The evals and instructions of a project."""

    files: int
    """Number of files that were examined."""
    existing: tuple[FoundEval, ...] = ()
    """Evals that a build finds without further configuration."""
    proposed: tuple[FoundEval, ...] = ()
    """Evals that the manifest below adds."""
    rejected: tuple[FoundEval, ...] = ()
    """Proposals for which a build would compute no numbers."""
    instructions: tuple[InstructionGlob, ...] = ()
    manifest: str | None = None
    """The text of a manifest with the proposed evals; None if there are none."""
    site: str | None = None
    """The text of ``sitegen.toml``; None if the configured globs match all instruction files."""


@share_processes()
def discover(repository: Repository, config: SiteConfig, manifest: Manifest, head: str) -> Discovery:
    """Search history up to a commit, and its files. Reads only git, within bounds, and writes nothing."""
    history = tracked_files(repository, head, first_parent=config.first_parent)
    files, reader = FilesAt(repository.place, head), BlobReader(repository)
    searched = SearchedFiles(names=files.names, read=files.read, earlier=files.earlier, kind_of_cases=kind_of_case_file)
    layout = Layout(*with_found_evals(config, manifest, searched))
    # Known are the evals that a manifest names, and the folders that have expected values by convention.
    truths = (role for file in history.files for role in layout.places(file.path) if role.role == "ground_truth")
    existing_ids = frozenset(
        (*(role.eval_id for role in truths), *layout.stated, *(entry.id for entry in manifest.evals))
    )
    unassigned = [
        file for file in history.files if not any(place.eval_id in existing_ids for place in layout.places(file.path))
    ]
    by_id = {proposal.id: proposal for proposal in proposals(unassigned, reader, existing_ids)}
    globs = instruction_globs(history.files, reader, config.instructions)
    is_site_needed = any(glob.glob not in config.instructions for glob in globs)
    if is_site_needed:
        config = replace(config, instructions=tuple(glob.glob for glob in globs))
    # The entries are read back from their text, so that the trial uses exactly what a build will read.
    text = manifest_text([WrittenEntry(proposal.id, proposal.entry) for proposal in by_id.values()], "")
    entries = manifest_in_force(text.encode(), "manifest.yaml", config.evals_dir).value.evals
    manifest = replace(manifest, evals=(*manifest.evals, *entries))
    evals = fold_evals(repository, *with_found_evals(config, manifest, searched), head)
    trials = {history.id: score_newest(repository, history) for history in evals}
    judged = [
        FoundEval(proposal.id, trials.get(proposal.id, _NO_HISTORY), _evidence_of_proposal(proposal))
        for proposal in by_id.values()
        # A deleted output with a single point was probably moved, and is proposed under its new name.
        if not proposal.series.deleted or (proposal.id in trials and trials[proposal.id].points > 1)
    ]
    accepted = tuple(proposed for proposed in judged if not proposed.trial.lacks)
    return Discovery(
        files=len(history.files),
        existing=tuple(FoundEval(name, result, "") for name, result in trials.items() if name not in by_id),
        proposed=accepted,
        rejected=tuple(proposed for proposed in judged if proposed.trial.lacks),
        instructions=globs,
        manifest=_commented_manifest(accepted, by_id, globs, history, head) if accepted else None,
        site=site_text(globs) if is_site_needed else None,
    )


def _evidence_of_proposal(proposal: Proposal) -> str:
    series = proposal.series
    runs = f"{len(series.files):,} runs" if series.is_glob else f"written by {counted(series.versions, 'commit')}"
    deleted = "; deleted since" if series.deleted else ""
    return f"{series.path}, {runs}{deleted}: {proposal.why}"


def _commented_manifest(
    accepted: tuple[FoundEval, ...],
    by_id: dict[str, Proposal],
    globs: tuple[InstructionGlob, ...],
    history: TrackedHistory,
    head: str,
) -> str:
    about = (
        f"The evals that sitegen init found in {counted(history.commits, 'commit')}, up to {head[:10]}. These are "
        "guesses from names, columns and fields: look them over, and write thresholds, a mapping or a description "
        "where they help."
    )
    # Without this, the instructions that init writes for agents of sitegen would make every output stale.
    made_with = {"instructions": [glob.glob for glob in globs]} if globs else {}
    if globs:
        about += " Only edits of the files that `instructions` names can make an output stale."
    entries = [
        WrittenEntry(
            proposed.id, {**by_id[proposed.id].entry, **made_with}, (f"{proposed.why}.", f"{proposed.trial.summary}.")
        )
        for proposed in accepted
    ]
    return manifest_text(entries, about)
