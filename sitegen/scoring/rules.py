"""Compiles the mapping, settings and schema of an eval into the rules by which its outputs are scored."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from sitegen.config.findings import settings_finding
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.outcomes import Judgement
from sitegen.model.problems import Finding, Parsed
from sitegen.scoring.mapping import Algorithm, FieldSettings, FieldType, ListSettings, Mapping, lines_of, read_mapping
from sitegen.scoring.paths import ANY, KEYS, PathError, PathStep, Pattern, ValuePlace, parse_path, path_text, pattern
from sitegen.scoring.schema_types import SchemaRules, read_schema
from sitegen.scoring.values import ValueWords
from sitegen.text.similarity import normalise

_PERCENT: Final = Decimal("0.5")
_ABSOLUTE: Final = Decimal("0.01")
_THRESHOLD: Final = 0.8  # least similarity of a pair

_MAX_CACHED: Final = 20_000
"""The most paths for which a cache holds whether they are in scope, or how they are compared."""
_T = TypeVar("_T")


class FieldRule(Frozen):
    """How one field is compared (rules 10 to 16)."""

    type: FieldType | None
    """None if no type is declared; the type of the expected value then counts."""
    percent: Decimal
    absolute: Decimal
    formats: tuple[str, ...]
    coerce: bool
    ordered: bool
    is_strict: bool
    words: ValueWords


class ListRule(Frozen):
    """How the items of one list are paired (rules 21 to 24)."""

    match_fields: tuple[tuple[str, ...], ...]
    """Keys below an item; empty if not configured."""
    score_fields: tuple[tuple[str, ...], ...]
    """Keys below an item; empty for all keys of either side."""
    threshold: float
    algorithm: Algorithm | None
    """None if not configured."""

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The fields by which items are paired and named; without configured ones, those of which the first counts."""
        return self.match_fields or KEYS


class _PatternTable(Generic[_T]):
    """Values by pattern. Its index by the last step avoids matching each path against hundreds of patterns."""

    def __init__(self, entries: Iterable[tuple[Pattern, _T]]) -> None:
        ranked = sorted(entries, key=lambda entry: entry[0].weight, reverse=True)
        self.names_index = any(stated.indexed for stated, _ in ranked)
        self._by_last_step = grouped((str(entry[0].steps[-1]), (rank, entry)) for rank, entry in enumerate(ranked))

    def ending_in(self, *last_steps: str) -> list[tuple[Pattern, _T]]:
        """Return the entries that end in one of these steps or ``ANY``: the most specific first, then in order."""
        entries = [entry for step in {*last_steps, ANY} for entry in self._by_last_step.get(step, ())]
        entries.sort(key=itemgetter(0))
        return [entry for _, entry in entries]

    def matching(self, path: tuple[PathStep, ...]) -> list[_T]:
        """Return the values of the patterns that match a path, the most specific first."""
        return [value for stated, value in self.ending_in(str(path[-1])) if stated.matches(path)]


class FieldRules:
    """The compiled rules of one eval. Rules of single fields are compiled on demand, and cached."""

    def __init__(self, mapping: Mapping, schema: SchemaRules) -> None:
        self.mapping = mapping
        self.of_files = mapping.of_files()
        self._schema = schema
        self.lists_of_objects = schema.lists
        true_words = frozenset({"true", "1", *map(normalise, mapping.true_values)})
        self.words = ValueWords(
            null_words=frozenset(normalise(word) for word in mapping.null_values if isinstance(word, str)),
            null_numbers=frozenset(
                Decimal(str(number)) for number in mapping.null_values if not isinstance(number, str)
            ),
            true_words=true_words,
            false_words=frozenset({"false", "0", *map(normalise, mapping.false_values)}) - true_words,
        )
        self.empty = self.words.empty
        self.misfits: list[tuple[str, str, str, str]] = []
        """What is wrong with an entry of the mapping, what to do, the key that it is below, and the entry."""
        self._types = _PatternTable(
            self._compiled(("field_types", text, kind) for kind, texts in mapping.field_types.items() for text in texts)
        )
        self._schema_types = _PatternTable(schema.types)
        self._schema_tolerances = _PatternTable(schema.tolerances)
        self._fields = _PatternTable(
            self._compiled(("fields", text, stated) for text, stated in mapping.fields.items())
        )
        self._lists = _PatternTable(self._compiled(("lists", text, stated) for text, stated in mapping.lists.items()))
        self._ignored = _PatternTable(self._compiled(("ignore", text, True) for text in mapping.ignore))
        self._categories = _PatternTable(
            self._compiled(
                ("tolerance_categories", text, name)
                for name, texts in mapping.tolerance_categories.items()
                for text in texts
            )
        )
        tables = (self._types, self._fields, self._lists, self._ignored, self._categories)
        # With a pattern such as walls[0].area, the items of an attribute can have different rules.
        self._by_path = any(table.names_index for table in tables)
        self._check()
        self._field_rules: dict[str, FieldRule] = {}
        self._out_of_scope: dict[str, bool] = {}

    def field_rule(self, place: ValuePlace | Judgement) -> FieldRule:
        """Return how the field at a place is compared."""
        key = place.path if self._by_path else place.attribute
        rule = self._field_rules.get(key)
        if rule is None:
            if len(self._field_rules) >= _MAX_CACHED:  # the paths of an output are untrusted and may be any number
                self._field_rules.clear()
            rule = self._field_rules[key] = self._compiled_rule(parse_path(key))
        return rule

    def key_rules(self, place: ValuePlace, keys: Sequence[tuple[str, ...]]) -> tuple[FieldRule, ...]:
        """Return how the fields at these keys of the items of a list are compared to pair them."""
        texts = map(path_text, keys)
        places = (ValuePlace(f"{place.path}[0].{text}", f"{place.attribute}[].{text}", "") for text in texts)
        return tuple(map(self.field_rule, places))

    def ignored(self, place: ValuePlace) -> bool:
        """Whether a place, or one above it, is out of scope on both sides."""
        key = place.path if self._by_path else place.attribute
        ignored = self._out_of_scope.get(key)
        if ignored is None:
            steps = parse_path(key)
            ignored = any(self._ignored.matching(steps[:length]) for length in range(1, len(steps) + 1))
            if len(self._out_of_scope) >= _MAX_CACHED:
                self._out_of_scope.clear()
            self._out_of_scope[key] = ignored
        return ignored

    def list_rule(self, path: str) -> ListRule:
        """Return how the items of the list at a path are paired."""
        layers = self._lists.matching(parse_path(path))
        merged: ListSettings = _merged(ListSettings, layers)
        thresholds = (layer.threshold for layer in layers if layer.threshold is not None and 0 <= layer.threshold <= 1)
        return ListRule(
            match_fields=_keys(merged.match_fields or ()),
            score_fields=_keys(merged.score_fields or ()),
            threshold=next(thresholds, _THRESHOLD),
            algorithm=merged.algorithm,
        )

    def is_list_of_objects(self, path: str) -> bool:
        """Whether the mapping or the schema states that the items of the list at a path are objects."""
        steps = parse_path(path)
        in_schema = ".".join(ANY if isinstance(step, int) else step for step in steps) in self.lists_of_objects
        return in_schema or path in self.mapping.array_mappings or bool(self._lists.matching(steps))

    def _compiled_rule(self, steps: tuple[PathStep, ...]) -> FieldRule:
        own: FieldSettings = _merged(FieldSettings, self._fields.matching(steps))
        declared = [own.type] if own.type else self._types.matching(steps) or self._schema_types.matching(steps)
        tolerances = self.mapping.tolerances
        category = self._category(steps)
        by_category = [tolerances[category]] if category is not None else []
        by_schema = self._schema_tolerances.matching(steps)
        layers = [*by_category, *by_schema, *([tolerances["default"]] if "default" in tolerances else [])]
        percents = [own.percent, *(layer.percent for layer in layers), _PERCENT]
        absolutes = [own.absolute, *(layer.absolute for layer in layers), _ABSOLUTE]
        has_own = (own.percent, own.absolute) != (None, None)
        if declared and declared[0] == "integer" and (has_own or not by_category):
            # Integers have no default tolerance, neither alone nor beside a stated one of the other kind.
            stated = by_schema[0] if by_schema and not has_own else own
            percents, absolutes = [stated.percent, Decimal(0)], [stated.absolute, Decimal(0)]
        return FieldRule(
            type=declared[0] if declared else None,
            percent=next(percent for percent in percents if percent is not None),
            absolute=next(absolute for absolute in absolutes if absolute is not None),
            formats=own.formats or ("%Y-%m-%d",),
            coerce=self.mapping.coerce if own.coerce is None else own.coerce,
            ordered=True if own.ordered is None else own.ordered,
            is_strict=self.mapping.equality == "strict",
            words=self.words,
        )

    def _category(self, steps: tuple[PathStep, ...]) -> str | None:
        """Return the tolerance category of a path; categories without a tolerance do not count.

        A pattern that matches the whole path takes precedence over one that matches its end, then the most specific
        pattern, then the first one.
        """
        last = str(steps[-1])
        suffixes = [last[place + 1 :] for place, character in enumerate(last) if character == "_"]
        of_end = None
        for stated, name in self._categories.ending_in(last, *suffixes):
            if name not in self.mapping.tolerances:
                continue
            if stated.matches(steps):
                return name
            if of_end is None and stated.matches_end(steps):
                of_end = name
        return of_end

    def _compiled(self, entries: Iterable[tuple[str, str, _T]]) -> list[tuple[Pattern, _T]]:
        compiled = []
        for key, text, value in entries:
            try:
                compiled.append((pattern(text), value))
            except PathError as error:
                self.misfits.append((f"In {key!r}: {error}", "Write a path such as 'walls[*].area'.", key, text))
        return compiled

    def _check(self) -> None:
        """Report settings whose types are valid but whose values are meaningless."""
        mapping = self.mapping
        for name in mapping.tolerance_categories:
            if name not in mapping.tolerances:
                fix, what = f"Add {name!r} below 'tolerances'.", f"The tolerance category {name!r} has no tolerance"
                self.misfits.append((what, fix, "tolerance_categories", name))
        for path, pairing in mapping.lists.items():
            if pairing.threshold is not None and not 0 <= pairing.threshold <= 1:
                what = f"The threshold of {path!r} lies outside 0..1"
                self.misfits.append((what, "Give a share such as 0.8.", f"lists.{path}", "threshold"))
            for keys in (pairing.match_fields or (), pairing.score_fields or ()):
                if len(_keys(keys)) < len(keys):
                    what = f"The list {path!r} names a key that cannot be read"
                    self.misfits.append((what, "Write a key such as 'price'.", "lists", path))


def _merged(settings: Any, layers: Sequence[Any]) -> Any:
    """Return settings of this class, each from the first layer that states it."""
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        merged |= {key: value for key, value in vars(layer).items() if value is not None}
    return settings(**merged)


def _keys(texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    keys = []
    for text in texts:
        with suppress(PathError):
            keys.append(tuple(str(step) for step in parse_path(text)))
    return tuple(keys)


@lru_cache(maxsize=256)
def compile_rules(mapping: bytes | None, settings: str, schema: bytes | None = None) -> Parsed[FieldRules]:
    """Return the rules of a mapping file, settings in canonical JSON, and a schema. Never raises.

    All outputs with the same sources share the rules, even across evals.
    """
    read, findings = read_mapping(mapping, settings)
    read_types = read_schema(schema)
    rules = FieldRules(read, read_types)
    lines = lines_of(mapping or b"", (misfit[2:] for misfit in rules.misfits)) if rules.misfits else ()
    of_rules = (
        Finding("error", what, fix, line=line, about="mapping") if line else settings_finding(what, fix, key)
        for (what, fix, key, _), line in zip(rules.misfits, lines, strict=True)
    )
    return Parsed(rules, (*findings, *read_types.findings, *of_rules))
