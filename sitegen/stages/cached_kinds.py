"""Every kind of value that the memo holds from one build to the next: what it is, what decides it, how long it lives.

Two things are kept elsewhere: the fold of history (``history/fold_state.py``), which keeps its own parts in step with
the commits, and the files of each output folder (``stages/site_files.py``). Whoever changes the form of a value here
raises ``SCHEMA_VERSION`` in ``analysis/memo.py``. Decision record 0062 says what each of them saves.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from sitegen.analysis.cached import CachedKind
from sitegen.analysis.memo import Memo
from sitegen.analysis.series import Derived
from sitegen.config import Manifest, SiteConfig
from sitegen.model.cells import CellMap, Flips
from sitegen.model.noise import ChangeVerdict
from sitegen.model.problems import Finding, Problem
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalSummary
from sitegen.model.suspect_truth import Correction
from sitegen.model.timeline import Edit
from sitegen.pages.commit.effects import CommitEffect
from sitegen.pages.data.search import SearchEntry
from sitegen.pages.edit.page import RenderedPatch
from sitegen.pages.instruction.page import DisplayedFile
from sitegen.scoring.mapping import KeptMapping
from sitegen.scoring.mapping_use import MappingUse
from sitegen.text.patch import PatchCounts


class ManifestRead(NamedTuple):
    """The manifest as it was read."""

    manifest: Manifest
    remarks: tuple[Finding, ...]
    """What is understood, but hardly meant so."""


class WrittenPrefix(NamedTuple):
    """How much of a data file holds points that will not change."""

    key: str = ""
    """The digest of the whole file."""
    size: int = 0
    """So many bytes of it, from its beginning."""


class SettledPoints(NamedTuple):
    """All points of an eval but the newest, which alone can still turn out to be stale."""

    derived: tuple[Derived, ...] = ()
    json: WrittenPrefix = WrittenPrefix()
    csv: WrittenPrefix = WrittenPrefix()
    """In the data files of the series they stand in full."""


class EvalRecord(NamedTuple):
    """What the pages of the whole site say of an eval."""

    summary: EvalSummary
    attributes: tuple[str, ...]
    """All that were ever judged: those that have a page, for search."""
    problems: tuple[Problem, ...]
    mapping_use: MappingUse | None = None
    """What the newest point does not use of its rules; None: it has none that name fields."""


class EditOutcome(NamedTuple):
    """How an eval changed across an edit: its last output made with the edit, against the newest one made before it."""

    flips: Flips
    """Without what stayed wrong."""
    verdict: ChangeVerdict | None
    """Without its fields; None if both are the same output."""


class CountedEdit(NamedTuple):
    """What an edit of an instruction file changed, by its text."""

    counts: PatchCounts | None
    """None: that cannot be told."""
    sections: tuple[str, ...]
    """Headings of those that it touched."""


class NewestEdit(NamedTuple):
    """A file's newest edit and the text after it, ready to be shown."""

    edit: Edit
    patch: RenderedPatch
    text: DisplayedFile | None
    """None: there is no text that can be shown."""


class SearchTail(NamedTuple):
    """The end of the search log."""

    length: int
    """Entries of the whole log."""
    entries: tuple[SearchEntry, ...]
    """Those of the last shard, if it is not full."""


# Configuration: a build with none that is new imports neither pydantic nor yaml.

SITE_CONFIG: Final = CachedKind(name="site configuration", type=SiteConfig, until="inputs")
"""The site's configuration. By the bytes that it was read from."""

MANIFEST: Final = CachedKind(name="manifest", type=ManifestRead, until="inputs")
"""The manifest of the built revision. By its bytes."""

ANSWERS: Final = CachedKind(name="answers", type=dict[str, str], until="inputs")
"""What files said to the questions of the search for evals. By their blob ids, which are part of its own keys."""

MAPPINGS: Final = CachedKind(name="mapping", type=KeptMapping, until="content")
"""A field mapping. By its content, the settings of the eval and the scorer's version."""

# Scores.

SCORECARDS: Final = CachedKind(name="scorecard", type=Scorecard, until="content")
"""The numbers of one output. By ``scorecard_key``: the contents and rules it was scored from."""

VECTORS: Final = CachedKind(name="vector", type=bytes, until="inputs", owner="eval")
"""The embedding of one text, as single precision floats. By the text and the model, of which the key has a digest."""

CELLS: Final = CachedKind(name="cells", type=CellMap, until="inputs", owner="eval")
"""Every cell of an eval, followed through its first points. By the keys of their scorecards."""

SETTLED_POINTS: Final = CachedKind(name="settled points", type=SettledPoints, until="inputs", owner="eval")
"""All points of an eval but the newest. By what their reports show, and the rules of the second clock."""

CORRECTIONS: Final = CachedKind(name="corrections", type=dict[str, Correction | None], until="inputs", owner="eval")
"""The line of each suspect label, None if it has none. By digests of what decides each, which are its own keys."""

# What an incremental build knows of the evals, files and commits that it does not touch.

EVAL_RECORDS: Final = CachedKind(name="eval record", type=EvalRecord, until="walk", owner="eval")
EDIT_OUTCOMES: Final = CachedKind(name="edit outcome", type=EditOutcome, until="walk", owner="eval")
"""How an eval changed across an instruction edit; a value for each eval and position of an edit's commit."""

COUNTED_EDITS: Final = CachedKind(
    name="counted edits", type=dict[str, CountedEdit], until="inputs", owner="instruction file"
)
"""The edits of an instruction file. By the two contents of each, which are its own keys: history may be rewritten."""

NEWEST_EDIT: Final = CachedKind(name="newest edit", type=NewestEdit, until="walk", owner="instruction file")
EDIT_DIRECTIONS: Final = CachedKind(name="edit directions", type=dict[str, int], until="walk")
"""By position of a commit with edits: 1 if the mean headline of the evals rose after it, -1 if it fell, else 0."""

NEWEST_COMMIT: Final = CachedKind(name="newest commit", type=str, until="walk")
"""Id of the newest commit that has a page; the next one links to it."""

SEARCH_TAIL: Final = CachedKind(name="search tail", type=SearchTail, until="walk")
BUILT_HEAD: Final = CachedKind(name="built head", type=str, until="inputs")
"""The commit that the fold stood at when a site was built from it. By the pin, which decides the records of evals."""

COMMIT_EFFECTS: Final = CachedKind(name="commit effect", type=CommitEffect, until="build", owner="eval")
"""What a new commit did to an eval. A first build has too many of them to hold."""

CLEAN_FILES: Final = CachedKind(name="clean files", type=bytes, until="inputs")
"""Digests of the files of an output folder in which no secret was found. By the forms of secrets."""

KINDS: Final[tuple[CachedKind[Any], ...]] = (
    SITE_CONFIG,
    MANIFEST,
    ANSWERS,
    MAPPINGS,
    SCORECARDS,
    VECTORS,
    CELLS,
    SETTLED_POINTS,
    CORRECTIONS,
    EVAL_RECORDS,
    EDIT_OUTCOMES,
    COUNTED_EDITS,
    NEWEST_EDIT,
    EDIT_DIRECTIONS,
    NEWEST_COMMIT,
    SEARCH_TAIL,
    BUILT_HEAD,
    COMMIT_EFFECTS,
    CLEAN_FILES,
)


def forget_earlier_walk(memo: Memo, evals: Collection[str], instruction_files: Collection[str]) -> None:
    """Forget what was true of history as it was read before, and what belongs to no eval or file any more.

    Called when history was read from its root. This is all that is ever forgotten on purpose: any other value that is
    out of date was kept with a digest of other inputs, and is replaced by the next one.
    """
    owners = {"eval": evals, "instruction file": instruction_files}
    for kind in KINDS:
        if kind.until == "walk":
            memo.forget(kind.name)
        elif kind.owner is not None:
            memo.forget_others(kind.name, owners[kind.owner])
