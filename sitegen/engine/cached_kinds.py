"""Declares every kind of value that the memo caches between builds: its type, what decides it, how long it lives.

Only ``engine/site_files.py`` stores values of its own: the files of each output folder. Changing the type of a value
here requires a higher ``SCHEMA_VERSION`` in ``engine/memo.py``. Decision record 0062 says which values are kept.
"""

import json
import zlib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec.structs import replace

from sitegen.config.models import Manifest
from sitegen.engine.memo import CachedRow, Memo, decoding, stored
from sitegen.history.timeline import FoldEnd
from sitegen.model.answers import AnsweredCase
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import CellMap, Judgement, Unusable, Value
from sitegen.model.problems import Parsed, Problem
from sitegen.model.scorecards import Kappa, Panel, Result, Scorecard
from sitegen.model.series import Correction, Derived, EvalSummary
from sitegen.pages.commit import CommitView, ListedCommit
from sitegen.pages.instruction import CountedEdit
from sitegen.pages.report.tree import PagePicture
from sitegen.recognition.files import Discovery
from sitegen.scoring.mapping import Mapping as FieldMapping
from sitegen.scoring.mapping_use import MappingUse

Lifetime: TypeAlias = Literal["content", "inputs", "walk"]
"""``content``: for ever, because the key is a digest of everything that decides the value. ``inputs``: until a value is
stored for other inputs. ``walk``: until a build for which everything is new."""

Owner: TypeAlias = Literal["eval", "instruction file"]

_DIGEST_LENGTH: Final = 32  # number of characters of a digest made by ``sitegen.engine.writer.digest``

T = TypeVar("T")


CacheStore: TypeAlias = "Memo | TaskCache"
"""A store of bytes by kind and key: the memo, or the part of it that was sent to a process."""


class CachedKind(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A kind of value that is computed once and stored: ``bytes`` as they are, any other type as MessagePack."""

    name: str
    type: type[T]
    until: Lifetime
    owner: Owner | None = None
    """What the key names or begins with (see ``within``). A value is deleted together with its owner."""

    def get(self, store: CacheStore, key: str = "", inputs: Iterable[str] | None = None) -> T | None:
        """Return the value under a key; None if there is none, or if it was stored for other inputs.

        ``inputs``: the digests with which the value may have been stored, the likeliest first. A value that covers
        the beginning of a series has one digest for each possible length of that beginning.
        """
        content = store.get(self.name, stored(key))
        if content is None:
            return None
        if inputs is not None:
            if content[:_DIGEST_LENGTH].decode("ascii", "replace") not in inputs:
                return None
            content = content[_DIGEST_LENGTH:]
        try:
            return self._decoded(content)
        except ValueError:  # stored in an older format: the caller computes the value again
            return None

    def all(self, memo: Memo) -> Iterator[T]:
        """Yield every value of the kind, sorted by key; only for kinds that are stored without inputs."""
        with decoding():
            yield from map(self._decoded, memo.all(self.name))

    def keep(self, store: CacheStore, key: str, value: T, inputs: str = "") -> T:
        """Store a value with the digest of its inputs, unless the key is that digest already; returns the value."""
        content = value if isinstance(value, bytes) else encode(value)
        store.put(self.name, stored(key), inputs.encode() + content)
        return value

    def _decoded(self, content: bytes) -> T:
        if self.type is bytes:
            return content  # type: ignore[return-value]
        return decode(content, self.type)


class TaskCache:
    """The part of the memo that is sent to a process, and the rows that the process adds: it cannot open the memo."""

    def __init__(self, rows: Iterable[CachedRow]) -> None:
        self._contents = {(kind, key): content for kind, key, content in rows}
        self._new: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the content that was sent or added, or None."""
        return self._contents.get((kind, key))

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store content for this process, and later for the memo."""
        self._contents[kind, key] = self._new[kind, key] = content

    @property
    def new(self) -> tuple[CachedRow, ...]:
        """The rows that were added."""
        return tuple(CachedRow(kind, key, content) for (kind, key), content in self._new.items())


_DECODER: Final = cache(msgspec.msgpack.Decoder)


def encode(value: object) -> bytes:
    """Encode a value as MessagePack, which unlike JSON has infinite numbers."""
    try:
        return msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Only JSON of the standard library has surrogate escapes, of paths that are not UTF-8, and numbers of any size.
        return json.dumps(msgspec.to_builtins(value)).encode()


def decode(content: bytes, kind: type[T]) -> T:
    """Decode a value that ``encode`` encoded. Raises ValueError if it is not of this type."""
    try:
        return _DECODER(cast("Hashable", kind)).decode(content)  # type: ignore[no-any-return]
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(content), kind)


class Configuration(Frozen):
    """What was read of one version of a manifest or of a mapping, or of all history: one of these four."""

    manifest: Parsed[Manifest | None] | None = None
    mapping: Parsed[FieldMapping] | None = None
    answers: Mapping[str, str] = {}
    """Those of ``sitegen.history.repository.KnownAnswers``, for the search for evals and for the fold."""
    search: Discovery | None = None
    """What the search of a history that names no evals has found."""


class EvalRecord(Frozen):
    """The part of an eval that the pages of the whole site show."""

    summary: EvalSummary
    attributes: tuple[str, ...]
    """Every attribute that was ever judged: each has a page, which search lists."""
    cases: tuple[str, ...]
    """The cases that have a page, which search lists."""
    problems: tuple[Problem, ...]
    mapping_use: MappingUse | None = None
    """The mapping entries that the newest point does not use; None: the eval has no rules that name fields."""
    pictures: Mapping[str, tuple[PagePicture, ...]] = {}
    """The pictures of its source that each page of ground truth beside output shows, by the digest of its report."""
    notes: str = ""
    """Digest of its file of notes."""
    corrections: Mapping[str, tuple[Correction | None, str]] = {}
    """The line of the ground truth, or None, and the evidence of each suspect label, by digests of what decides it."""
    derived: bytes = b""
    """``by_report``, compressed."""

    @property
    def by_report(self) -> dict[str, Derived]:
        """The derived values of each point, the oldest first, by the digest of its report, which shows them.

        The newest report also decides the steps, the error patterns and the use of the mapping.
        """
        with decoding():
            return decode(zlib.decompress(self.derived), dict[str, Derived]) if self.derived else {}


class EndOfWalk(FoldEnd):
    """Where a finished build ended, and the next one continues."""

    listed: tuple[ListedCommit, ...]
    """The commits of the newest page of the list, and of the full page before it, oldest first."""


# Configuration.

CONFIGURATION: Final = CachedKind(name="configuration", type=Configuration, until="content")
"""A manifest, or a mapping with settings, by its digest: as many as history has versions of these. ``answers`` and
``search`` have one value each, which the next build replaces."""

# Scores.

SCORECARDS: Final = CachedKind(name="scorecard", type=Scorecard, until="content")
"""The numbers of one output, by ``key_of_scorecards``: the contents and rules that it was scored from."""

RESULTS: Final = CachedKind(name="result", type=bytes, until="content")
"""The judgements behind a scorecard, as ``encoded_result`` writes them, under its key."""

VECTORS: Final = CachedKind(name="vector", type=bytes, until="inputs", owner="eval")
"""The embedding of one text, as single precision floats, by a digest of the text and the model."""

CELLS: Final = CachedKind(name="cells", type=CellMap, until="inputs", owner="eval")
"""Every cell of an eval, followed through its first points, by the keys of their scorecards."""

# Facts that an incremental build needs about the evals, files and commits that it does not touch.

EVAL_RECORDS: Final = CachedKind(name="eval record", type=EvalRecord, until="walk", owner="eval")

COUNTED_EDITS: Final = CachedKind(
    name="counted edits", type=dict[str, CountedEdit], until="inputs", owner="instruction file"
)
"""The edits of an instruction file, by the two contents of each, so that they survive a rewritten history."""

COMMITS_WITHOUT_OUTPUT: Final = CachedKind(name="commit without output", type=CommitView, until="walk")
"""A commit with edits and no new output, by its position: later outputs show the effects of its edits."""

END_OF_WALK: Final = CachedKind(name="end of the walk", type=EndOfWalk, until="walk")
"""Where the last finished build ended."""

CLEAN_FILES: Final = CachedKind(name="clean files", type=bytes, until="inputs")
"""Digests of the files of an output folder that hold no secret, by the version of the search."""

KINDS: Final[tuple[CachedKind[Any], ...]] = tuple(kind for kind in vars().values() if isinstance(kind, CachedKind))
"""All of the above, in their order."""


def forget_earlier_walk(memo: Memo, evals: Collection[str], instruction_files: Collection[str]) -> None:
    """Delete the values of an earlier walk through history, and the values of evals and files that no longer exist.

    Called when history was read from its root. The only other value that is deleted is the end of the walk, until the
    site is finished. Any other outdated value was stored with a digest of other inputs, and the next value replaces it.
    """
    owners = {"eval": evals, "instruction file": instruction_files}
    for kind in KINDS:
        if kind.until == "walk":
            memo.forget(kind.name)
        elif kind.owner is not None:
            memo.forget_others(kind.name, owners[kind.owner])


RESULT_BYTES: Final = 20_000_000
"""Number of compressed bytes up to which a result is kept; most take 2,000. A larger one is scored when it is drawn."""

_Head: TypeAlias = tuple[int, tuple[Panel, ...], Any, Kappa | None, Mapping[str, str]]
"""The number of judgements of a result, and what it has besides these, its cases and its scorecard, which the memo has
under the same key. A line of JSON for each judgement and each case follows, so that a large result is never held as
text."""
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
_HEAD: Final = msgspec.json.Decoder(_Head, float_hook=Decimal)
_JUDGEMENT: Final = msgspec.json.Decoder(Judgement, float_hook=Decimal)
_CASE: Final = msgspec.json.Decoder(AnsweredCase)
_PIECE: Final = 65_536  # bytes that are unpacked at once
_SHARED: Final = 10_000  # judgements up to which a result shares them with the next one, for which they are held
_NESTED: Final = (list, dict, Unusable)
_UNUSABLE: Final = b'"":'
"""What only an object with an empty key is encoded with: an unusable value, or an object that has such a key itself."""


def encoded_result(result: Result) -> bytes | None:
    """Encode a result without its scorecard; None if it is too large, or holds text that UTF-8 cannot encode."""
    head = len(result.judgements), result.panels, _as_json(result.data), result.agreement, result.prompts
    judgements = (_with_values(judgement, _as_json) for judgement in result.judgements)
    compressor = zlib.compressobj(1)
    try:
        lines = (compressor.compress(_ENCODER.encode(each) + b"\n") for each in chain([head], judgements, result.cases))
        content = b"".join([*lines, compressor.flush()])
    except UnicodeEncodeError:
        return None
    return content if len(content) <= RESULT_BYTES else None


def _lines(content: bytes) -> Iterator[bytes]:
    decompressor, rest = zlib.decompressobj(), b""
    for start in range(0, len(content), _PIECE):
        *lines, rest = (rest + decompressor.decompress(content[start : start + _PIECE])).split(b"\n")
        yield from lines
    if not decompressor.eof:
        raise zlib.error("The end is missing.")


def result_decoder() -> Callable[[bytes, Scorecard], Result]:
    """Return what decodes results of one eval, as ``encoded_result`` encoded them.

    Neighbours share the judgements that are the same, so that these are drawn once.
    """
    known: dict[bytes, Judgement] = {}  # those of the last result, by their encoded form

    def decoded(content: bytes, scorecard: Scorecard) -> Result:
        nonlocal known
        with decoding():
            lines = _lines(content)
            head = next(lines, b"")
            number, panels, data, agreement, prompts = _HEAD.decode(head)
            encoded = list(islice(lines, number))
            known = {each: known.get(each) or _with_values(_JUDGEMENT.decode(each), _from_json) for each in encoded}
            judgements, cases = tuple(map(known.__getitem__, encoded)), tuple(map(_CASE.decode, lines))
            known = known if number <= _SHARED else {}
        return Result(
            scorecard=scorecard,
            judgements=judgements,
            panels=panels,
            data=_from_json(data) if _UNUSABLE in head else data,
            agreement=agreement,
            cases=cases,
            prompts=prompts,
        )

    return decoded


def _with_values(judgement: Judgement, form: Any) -> Judgement:
    if type(judgement.expected) in _NESTED or type(judgement.actual) in _NESTED:
        return replace(judgement, expected=form(judgement.expected), actual=form(judgement.actual))
    return judgement


def _as_json(value: Value) -> Any:
    """Write an unusable value as an object with an empty key and a list; an object with such a key is put below one."""
    if isinstance(value, Unusable):
        return {"": [value.literal, value.reason]}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        within = {key: _as_json(item) for key, item in value.items()}
        return {"": within} if "" in within else within
    return value


def _from_json(value: Any) -> Value:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    inside = value.get("")
    if isinstance(inside, list):
        return Unusable(*inside)
    return {key: _from_json(item) for key, item in (value if inside is None else inside).items()}
