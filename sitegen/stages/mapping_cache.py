"""Field mappings between builds: each is kept as it was read, so that a build with no new one need not read any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sitegen.analysis.memo import Memo
from sitegen.history.repository import Repository
from sitegen.model.kinds import traits_of
from sitegen.model.timeline import EvalUpdate, Snapshot
from sitegen.render.writer import digest
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.mapping import KeptMapping, kept_mapping, mapping_read
from sitegen.scoring.mapping_reader import read_mapping, remember
from sitegen.scoring.scorer import ScoringInputs
from sitegen.stages.cached_kinds import MAPPINGS

KeptMappings: TypeAlias = tuple[tuple[str, KeptMapping], ...]
"""(key, what was read)."""


def known_mappings(memo: Memo, repository: Repository, updates: Sequence[EvalUpdate]) -> KeptMappings:
    """Every mapping that the touched evals are scored by. New ones are read and kept."""
    histories = [update.history for update in updates if traits_of(update.history.kind).is_structured]
    needed = {_mapping_key(snapshot): snapshot for history in histories for snapshot in history.snapshots}
    newest = (without_settings(history.snapshots[-1]) for history in histories if history.snapshots)
    needed |= {_mapping_key(snapshot): snapshot for snapshot in newest if snapshot.mapping}
    mappings = {key: kept for key in needed if (kept := MAPPINGS.get(memo, key))}
    for key, kept in _read({key: snapshot for key, snapshot in needed.items() if key not in mappings}, repository):
        mappings[key] = MAPPINGS.keep(memo, key, kept)
    return tuple(mappings.items())


def without_settings(snapshot: Snapshot) -> Snapshot:
    """The snapshot as its mapping file alone would have it scored: what of its entries is unused is told by that."""
    return snapshot._replace(settings="")


def recall_mapping(kept: dict[str, KeptMapping], snapshot: Snapshot, inputs: ScoringInputs) -> None:
    """Give the scorer a mapping that was read before. It is taken out of *kept*, because once per process is enough."""
    content = inputs.mapping.content if inputs.mapping else None
    if content is None and snapshot.mapping:
        return
    if mapping := kept.pop(_mapping_key(snapshot), None):
        remember(content, snapshot.settings, mapping_read(mapping))


def _mapping_key(snapshot: Snapshot) -> str:
    return digest(str(FieldsScorer.version), snapshot.mapping.oid if snapshot.mapping else "", snapshot.settings)


def _read(new: dict[str, Snapshot], repository: Repository) -> Iterable[tuple[str, KeptMapping]]:
    """What can be read of them and kept, by key."""
    oids = [snapshot.mapping.oid for snapshot in new.values() if snapshot.mapping]
    blobs = repository.read_blobs(oids) if oids else iter(())
    for key, snapshot in new.items():
        content = next(blobs).content if snapshot.mapping else None
        if content is None and snapshot.mapping:
            continue
        if kept := kept_mapping(read_mapping(content, snapshot.settings)):
            yield key, kept
