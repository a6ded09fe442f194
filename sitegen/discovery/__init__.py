"""Looking for evals and instructions that lie in a project already, so that ``init`` need not ask for other places."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sitegen.config import Manifest, SiteConfig
from sitegen.configuring import SearchedFiles, read_manifest, with_found_evals
from sitegen.discovery.contents import Shelf
from sitegen.discovery.instruction_files import InstructionGlob, instruction_globs
from sitegen.discovery.proposals import Proposal, proposals, without_sums_of
from sitegen.discovery.tracked import TrackedFile, TrackedHistory, tracked_files
from sitegen.discovery.trial import TrialResult, standing, trial
from sitegen.discovery.written import manifest_text, site_text
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.layout import Layout, Watched
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.scoring.case_files import kind_of_case_file


class FoundEval(NamedTuple):
    """An eval that a build would show."""

    id: str
    standing: TrialResult
    why: str
    """What was found; empty: it follows the conventions, or a manifest names it."""


class Discovery(NamedTuple):
    """What lies in a project."""

    commits: int
    is_whole: bool
    """Whether all of history was looked at."""
    files: int
    known: tuple[FoundEval, ...] = ()
    """Evals that a build finds as the project is."""
    proposed: tuple[FoundEval, ...] = ()
    """Those of the manifest that was written."""
    rejected: tuple[FoundEval, ...] = ()
    """Files that looked like an eval, and give no numbers."""
    instructions: tuple[InstructionGlob, ...] = ()
    manifest: str | None = None
    """The text of a manifest with what was found; None: nothing was, or nothing is needed."""
    site: str | None = None
    """The text of ``sitegen.toml``; None: the default globs name all instruction files, or there are none."""


@share_processes()
def discover(repository: Repository, config: SiteConfig, manifest: Manifest, head: str) -> Discovery:
    """Look through history up to a commit, and the files there. Reads git alone, within bounds, and writes nothing."""
    history = tracked_files(repository, head, first_parent=config.first_parent)
    files, shelf = FilesAt(repository.found, head), Shelf(repository)
    searched = SearchedFiles(names=files.names, read=files.read, kind_of_cases=kind_of_case_file)
    layout = Layout(*with_found_evals(config, manifest, searched), Watched())
    known = _known_ids(history.files, layout, manifest)
    free = [file for file in history.files if not any(place.eval_id in known for place in layout.places(file.path))]
    guesses = {proposal.id: proposal for proposal in without_sums_of(proposals(free, shelf, known))}
    globs = instruction_globs(history.files, shelf, config.instructions)
    is_needed = any(found.glob not in config.instructions for found in globs)
    tried_config = replace(config, instructions=tuple(found.glob for found in globs)) if is_needed else config
    text = manifest_text([(proposal.id, proposal.entry, ()) for proposal in guesses.values()], "")
    read = read_manifest(text.encode(), "manifest.yaml", config.evals_dir)
    tried = replace(manifest, evals=(*manifest.evals, *read.evals))
    tried_config, tried = with_found_evals(tried_config, tried, searched)
    outcome = trial(repository, tried_config, tried, head)
    standings = {history.id: standing(repository, history) for history in outcome.evals}
    nothing = TrialResult(0, "", "no commit wrote such a file")
    judged = [
        FoundEval(proposal.id, standings.get(proposal.id, nothing), _what(proposal)) for proposal in guesses.values()
    ]
    gone = {proposal.id for proposal in guesses.values() if proposal.series.deleted}
    judged = [
        found for found in judged if found.id in standings or found.id not in gone
    ]  # a folder that moved: its new name has it
    judged = [found for found in judged if found.standing.points > 1 or found.id not in gone]
    accepted = tuple(found for found in judged if not found.standing.lacks)
    others = tuple(FoundEval(name, one, "") for name, one in standings.items() if name not in guesses)
    return Discovery(
        commits=history.commits,
        is_whole=history.is_whole,
        files=len(history.files),
        known=others,
        proposed=accepted,
        rejected=tuple(found for found in judged if found.standing.lacks),
        instructions=globs,
        manifest=_manifest(accepted, guesses, history, head) if accepted else None,
        site=site_text(globs) if is_needed else None,
    )


def _known_ids(files: tuple[TrackedFile, ...], layout: Layout, manifest: Manifest) -> frozenset[str]:
    """Evals that a manifest names, and folders of evals with expected values by convention."""
    truths = (place.eval_id for file in files for place in layout.places(file.path) if place.role == "ground_truth")
    return frozenset((*truths, *layout.stated, *(entry.id for entry in manifest.evals)))


def _what(proposal: Proposal) -> str:
    series = proposal.series
    runs = f"{len(series.files):,} runs" if series.is_glob else f"written by {_commits(series.versions)}"
    gone = "; deleted since" if series.deleted else ""
    return f"{series.path}, {runs}{gone}: {proposal.why}"


def _manifest(accepted: tuple[FoundEval, ...], guesses: dict[str, Proposal], history: TrackedHistory, head: str) -> str:
    about = (
        f"The evals that sitegen init found in {_commits(history.commits)}, up to {head[:10]}. These are guesses from "
        "names, columns and fields: look them over, and write thresholds, a mapping or a description where they help."
    )
    entries = [
        (found.id, guesses[found.id].entry, (f"{found.why}.", f"{summary(found.standing)}.")) for found in accepted
    ]
    return manifest_text(entries, about)


def summary(standing: TrialResult) -> str:
    """How many points an eval has, and what the newest is: ``12 points; the newest: F1 0.830 over 2 documents``."""
    points = f"{standing.points:,} {'point' if standing.points == 1 else 'points'}"
    return f"{points}; the newest: {standing.newest}" if standing.newest else points


def _commits(count: int) -> str:
    return f"{count:,} {'commit' if count == 1 else 'commits'}"
