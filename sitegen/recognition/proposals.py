"""Proposes manifest entries for the data files of a history.

A proposal is a guess from places, names and columns. ``trial`` then folds and scores it as a build would, and only
proposals that give numbers are written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from posixpath import relpath, splitext
from typing import Any, Final
from unicodedata import combining, normalize

from sitegen.model.frozen import Frozen
from sitegen.model.kinds import traits_of
from sitegen.recognition.files import BlobReader, TrackedFile
from sitegen.recognition.output_series import OutputSeries, data_files, is_truth_by_name, output_series
from sitegen.recognition.pairing import TruthFinder
from sitegen.recognition.recognition import recognise

MOST: Final = 40
"""The most evals that are proposed."""

_MOST_SINGLE: Final = 10
"""The most proposed evals with a single output, whose history shows nothing yet."""

_MOST_BESIDE: Final = 6
"""The most proposed evals in one folder or below one glob. If there are more, each is probably a case and not an
eval."""

_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_UNINFORMATIVE_FOLDERS: Final = frozenset(
    (
        *("evals", "eval", "evaluation", "evaluations", "results", "result", "outputs", "output", "runs", "reports"),
        *("iterations", "iteration", "läufe"),
        *("src", "data", "apps", "app", "web", "public", "static", "lib", "packages", "files", "experiments", "logs"),
    )
)
"""Names of folders that do not describe their contents."""


class Proposal(Frozen):
    """An entry of the manifest that has not been scored yet."""

    id: str
    entry: dict[str, Any]
    """Its keys in the order in which they are written."""
    why: str
    """The evidence for the proposal."""
    series: OutputSeries

    @property
    def folder(self) -> str:
        """The folder of the output, or of the glob of runs."""
        return self.series.path.rpartition("/")[0]

    @property
    def only_records(self) -> bool:
        """Whether its numbers were recorded by a run, so that they cannot be computed again."""
        return traits_of(self.entry.get("kind")).is_recorded


def proposals(files: Iterable[TrackedFile], reader: BlobReader, existing_ids: Iterable[str]) -> tuple[Proposal, ...]:
    """Return the evals that the files could hold, the most likely first.

    Recorded metrics are left out if the cases of the same runs are proposed: sitegen computes them from the cases.
    """
    all_proposals = tuple(_all_proposals(files, reader, existing_ids))
    detailed = {proposal.folder for proposal in all_proposals if not proposal.only_records}
    return tuple(proposal for proposal in all_proposals if not (proposal.only_records and proposal.folder in detailed))


def _all_proposals(files: Iterable[TrackedFile], reader: BlobReader, existing_ids: Iterable[str]) -> Iterator[Proposal]:
    candidates = data_files(files)
    truth_finder = TruthFinder(candidates, reader)
    ids, truths = set(existing_ids), set[str]()
    proposals_in = Counter[str]()
    proposed = single = 0
    for series in output_series(candidates):
        if proposed >= MOST or reader.full:
            return
        if not _is_candidate(series) or series.newest.path in truths:
            continue
        content = reader.content(series.newest.oid)
        recognition = None if content is None else recognise(series, content, truth_finder)
        if recognition is None:
            continue
        single += series.versions == 1
        if series.versions == 1 and single > _MOST_SINGLE:
            continue
        folder = series.path.rpartition("/")[0]
        proposals_in[folder] += 1
        if proposals_in[folder] > _MOST_BESIDE:
            continue
        entry = {**recognition.keys, "dir": series.folder or ".", "outputs": series.outputs}
        if recognition.truth:
            truths.add(recognition.truth)
            entry["ground_truth"] = relpath(recognition.truth, entry["dir"])
        eval_id = _free_id(series, ids)
        ids.add(eval_id)
        proposed += 1
        yield Proposal(id=eval_id, entry=entry, why=recognition.why, series=series)


def _is_candidate(series: OutputSeries) -> bool:
    """Whether a series was rewritten, or its path suggests results. Files named like expected values need both."""
    if is_truth_by_name(series.newest.path) and not series.is_glob and series.versions < 3:
        return False
    return series.hinted or series.versions >= 3


def _without_accents(name: str) -> str:
    return "".join(sign for sign in normalize("NFKD", name) if not combining(sign))


def _free_id(series: OutputSeries, used_ids: set[str]) -> str:
    """Return an unused id: the nearest informative folder name, then that name with the file's, then longer ones."""
    stem = splitext(series.outputs.rpartition("/")[2])[0].replace("*", "")
    folders = [*filter(None, series.folder.split("/"))]
    informative = next((name for name in reversed(folders) if name.casefold() not in _UNINFORMATIVE_FOLDERS), "")
    folder, file = (_NOT_IN_AN_ID.sub("-", _without_accents(part)).strip("-._") for part in (informative, stem))
    candidates = [folder or file, "-".join(filter(None, (folder, file))), "-".join(filter(None, (*folders[-2:], file)))]
    first = candidates[0] or "eval"
    candidates += (f"{first}-{number}" for number in range(2, 10_000))
    return next(name for name in candidates if name and name not in used_ids)
