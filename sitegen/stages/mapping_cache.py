"""Caches validated field mappings, so that a build without new mappings parses none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

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
"""Pairs of a mapping's key and the validated mapping."""


def known_mappings(memo: Memo, repository: Repository, updates: Sequence[EvalUpdate]) -> KeptMappings:
    """Return every mapping that the touched evals are scored by. New mappings are read and cached."""
    histories = [update.history for update in updates if traits_of(update.history.kind).is_structured]
    needed = {_mapping_key(snapshot): snapshot for history in histories for snapshot in history.snapshots}
    newest = (without_settings(history.snapshots[-1]) for history in histories if history.snapshots)
    needed |= {_mapping_key(snapshot): snapshot for snapshot in newest if snapshot.mapping}
    mappings = {key: mapping for key in needed if (mapping := MAPPINGS.get(memo, key))}
    new = {key: snapshot for key, snapshot in needed.items() if key not in mappings}
    for key, mapping in _read_mappings(new, repository):
        mappings[key] = MAPPINGS.keep(memo, key, mapping)
    return tuple(mappings.items())


def without_settings(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot scored by its mapping file alone, which shows the unused entries of the file."""
    return replace(snapshot, settings="")


def recall_mapping(mappings: dict[str, KeptMapping], snapshot: Snapshot, inputs: ScoringInputs) -> None:
    """Pass a cached mapping to the scorer, once per process: it is removed from *mappings*."""
    content = inputs.mapping.content if inputs.mapping else None
    if content is None and snapshot.mapping:
        return
    if mapping := mappings.pop(_mapping_key(snapshot), None):
        remember(content, snapshot.settings, mapping_read(mapping))


def _mapping_key(snapshot: Snapshot) -> str:
    return digest(str(FieldsScorer.version), snapshot.mapping.oid if snapshot.mapping else "", snapshot.settings)


def _read_mappings(new: dict[str, Snapshot], repository: Repository) -> Iterable[tuple[str, KeptMapping]]:
    """Yield (key, mapping) for each mapping that can be read and cached."""
    oids = [snapshot.mapping.oid for snapshot in new.values() if snapshot.mapping]
    blobs = repository.read_blobs(oids) if oids else iter(())
    for key, snapshot in new.items():
        content = next(blobs).content if snapshot.mapping else None
        if content is None and snapshot.mapping:
            continue
        if mapping := kept_mapping(read_mapping(content, snapshot.settings)):
            yield key, mapping
