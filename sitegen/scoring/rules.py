"""Everything that decides how one output is scored, compiled from mapping, settings and schema."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import Final, Generic, NamedTuple, TypeGuard, TypeVar

from sitegen.model.problems import Finding
from sitegen.scoring.mapping import Algorithm, FieldSettings, FieldType, Mapping, read_mapping
from sitegen.scoring.paths import ANY, PathError, Pattern, parse, pattern
from sitegen.scoring.schema_types import SchemaRules, read_schema
from sitegen.scoring.values import Emptiness
from sitegen.text.normalise import normalise

PERCENT: Final = Decimal("0.5")
ABSOLUTE: Final = Decimal("0.01")
THRESHOLD: Final = 0.8

_MEMO: Final = 20_000
_T = TypeVar("_T")


class FieldRule(NamedTuple):
    """How one field is compared (rules 10 to 16)."""

    type: FieldType | None
    """None: not declared; the truth's own type counts."""
    percent: Decimal
    absolute: Decimal
    exact_integer: bool
    """No tolerance was given to this field itself or to its category: as an integer it must be equal."""
    formats: tuple[str, ...]
    coerce: bool
    ordered: bool


class ListRule(NamedTuple):
    """How the items of one list are paired (rules 21 to 24)."""

    match_fields: tuple[tuple[str, ...], ...]
    """Keys below an item; empty: not set."""
    score_fields: tuple[tuple[str, ...], ...]
    """Keys below an item; empty: every key on either side."""
    threshold: float
    algorithm: Algorithm | None
    """None: not set."""

    @property
    def is_explicit(self) -> bool:
        """Whether the configuration says how items are paired, so that nothing else may pair them."""
        return bool(self.match_fields) or self.algorithm is not None


class _Table(Generic[_T]):
    """Patterns with what they say. The most specific comes first, then the one that stands first."""

    def __init__(self, entries: Iterable[tuple[Pattern, _T]]) -> None:
        self.entries = sorted(entries, key=lambda entry: entry[0].weight, reverse=True)
        self.indexed = any(entry.indexed for entry, _ in self.entries)

    def all(self, path: tuple[str | int, ...]) -> list[_T]:
        return [said for each, said in self.entries if each.matches(path)]


class FieldRules:
    """The rules of one eval. What they say of a path is remembered by its attribute; otherwise it never changes."""

    def __init__(self, mapping: Mapping, schema: SchemaRules) -> None:
        self.mapping = mapping
        self.lists_of_objects = schema.lists
        self.empty = Emptiness(mapping.null_values)
        self.true_words = frozenset({"true", "1", *map(normalise, mapping.true_values)})
        self.false_words = frozenset({"false", "0", *map(normalise, mapping.false_values)}) - self.true_words
        self.findings: list[Finding] = []
        self._types = _Table(
            self._compiled(("field_types", text, kind) for kind, texts in mapping.field_types.items() for text in texts)
        )
        self._schema_types = _Table(schema.types)
        self._schema_tolerances = _Table(schema.tolerances)
        self._fields = _Table(self._compiled(("fields", text, said) for text, said in mapping.fields.items()))
        self._lists = _Table(self._compiled(("lists", text, said) for text, said in mapping.lists.items()))
        self._ignored = _Table(self._compiled(("ignore", text, True) for text in mapping.ignore))
        self._categories = list(
            self._compiled(
                ("tolerance_categories", text, name)
                for name, texts in mapping.tolerance_categories.items()
                for text in texts
            )
        )
        tables = (self._types, self._fields, self._lists, self._ignored)
        self._indexed = any(table.indexed for table in tables) or any(each.indexed for each, _ in self._categories)
        self._check()
        self._field_rules: dict[str, FieldRule] = {}
        self._out_of_scope: dict[str, bool] = {}

    def field_rule(self, path: str, attribute: str) -> FieldRule:
        """How the field at a path is compared."""
        key = path if self._indexed else attribute
        rule = self._field_rules.get(key)
        if rule is None:
            rule = self._field_rules[key] = self._field(parse(key))
        return rule

    def ignored(self, path: str, attribute: str) -> bool:
        """Whether a path is out of scope on both sides; so is everything below a path that is."""
        key = path if self._indexed else attribute
        said = self._out_of_scope.get(key)
        if said is None:
            steps = parse(key)
            said = any(bool(self._ignored.all(steps[:length])) for length in range(1, len(steps) + 1))
            # The paths of an output are untrusted, and there may be any number of them.
            if len(self._out_of_scope) >= _MEMO:
                self._out_of_scope.clear()
            self._out_of_scope[key] = said
        return said

    def list_rule(self, path: str) -> ListRule:
        """How the list at a path is paired."""
        match_fields: tuple[str, ...] = ()
        score_fields: tuple[str, ...] = ()
        threshold = THRESHOLD
        algorithm: Algorithm | None = None
        for said in reversed(self._lists.all(parse(path))):
            match_fields = match_fields if said.match_fields is None else said.match_fields
            score_fields = score_fields if said.score_fields is None else said.score_fields
            threshold = said.threshold if said.threshold is not None and 0 <= said.threshold <= 1 else threshold
            algorithm = algorithm if said.algorithm is None else said.algorithm
        return ListRule(_keys(match_fields), _keys(score_fields), threshold, algorithm)

    def is_list_of_objects(self, path: str) -> bool:
        """Whether the mapping or the schema says that the items of the list at a path are objects."""
        steps = parse(path)
        said = ".".join(ANY if isinstance(step, int) else step for step in steps)
        return said in self.lists_of_objects or path in self.mapping.array_mappings or bool(self._lists.all(steps))

    def _field(self, steps: tuple[str | int, ...]) -> FieldRule:
        said = FieldSettings()
        for each in self._fields.all(steps):
            said = FieldSettings(
                type=said.type or each.type,
                percent=each.percent if said.percent is None else said.percent,
                absolute=each.absolute if said.absolute is None else said.absolute,
                formats=each.formats if said.formats is None else said.formats,
                coerce=each.coerce if said.coerce is None else said.coerce,
                ordered=each.ordered if said.ordered is None else said.ordered,
            )
        declared = [said.type] if said.type else self._types.all(steps) or self._schema_types.all(steps)
        tolerances = self.mapping.tolerances
        category = self._category(steps)
        by_category = [tolerances[category]] if category is not None else []
        by_schema = self._schema_tolerances.all(steps)
        layers = [*by_category, *by_schema, *([tolerances["default"]] if "default" in tolerances else [])]
        exact = said.percent is None and said.absolute is None and not by_category and not by_schema
        percents = [said.percent, *(layer.percent for layer in layers), PERCENT]
        absolutes = [said.absolute, *(layer.absolute for layer in layers), ABSOLUTE]
        if declared and declared[0] == "integer" and (said.percent, said.absolute) != (None, None):
            # One of the two, given to an integer itself, does not bring the other's default with it.
            percents, absolutes = [said.percent, Decimal(0)], [said.absolute, Decimal(0)]
        elif declared and declared[0] == "integer" and by_schema and not by_category:
            percents, absolutes = [by_schema[0].percent, Decimal(0)], [by_schema[0].absolute, Decimal(0)]
        return FieldRule(
            type=declared[0] if declared else None,
            percent=next(each for each in percents if _is_usable(each)),
            absolute=next(each for each in absolutes if _is_usable(each)),
            exact_integer=exact,
            formats=said.formats or ("%Y-%m-%d",),
            coerce=self.mapping.coerce if said.coerce is None else said.coerce,
            ordered=True if said.ordered is None else said.ordered,
        )

    def _category(self, steps: tuple[str | int, ...]) -> str | None:
        """The tolerance category of a path.

        A pattern that fits the whole path goes before one that fits its end; then the one that names more steps and
        more characters; then the one that stands first. A category without a tolerance of its own is none.
        """
        best: tuple[tuple[bool, tuple[int, int]], str] | None = None
        for each, name in self._categories:
            whole = each.matches(steps)
            if name in self.mapping.tolerances and (whole or each.matches_end(steps)):
                rank = (whole, each.weight)
                if best is None or rank > best[0]:
                    best = (rank, name)
        return best[1] if best else None

    def _compiled(self, entries: Iterable[tuple[str, str, _T]]) -> list[tuple[Pattern, _T]]:
        compiled = []
        for key, text, said in entries:
            try:
                compiled.append((pattern(text), said))
            except PathError as error:
                self._report(f"In {key!r}: {error}", "Write a path such as 'walls[*].area'.")
        return compiled

    def _check(self) -> None:
        """Report what can be read and still makes no sense."""
        mapping = self.mapping
        for name in mapping.tolerance_categories:
            if name not in mapping.tolerances:
                self._report(f"The tolerance category {name!r} has no tolerance", f"Add {name!r} below 'tolerances'.")
        bounds = [(place, said.percent, said.absolute) for place, said in mapping.tolerances.items()]
        bounds += [(place, said.percent, said.absolute) for place, said in mapping.fields.items()]
        for place, *numbers in bounds:
            for number in numbers:
                if number is not None and not _is_usable(number):
                    self._report(f"The tolerance of {place!r} is no number from 0 up", "Give 0 or more.")
        for place, pairing in mapping.lists.items():
            if pairing.threshold is not None and not 0 <= pairing.threshold <= 1:
                self._report(f"The threshold of {place!r} lies outside 0..1", "Give a share such as 0.8.")
            for texts in (pairing.match_fields or (), pairing.score_fields or ()):
                if len(_keys(texts)) < len(texts):
                    self._report(f"The list {place!r} names a key that cannot be read", "Write a key such as 'price'.")

    def _report(self, what: str, fix: str) -> None:
        self.findings.append(Finding("error", what, fix, None, "mapping"))


def _keys(texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    keys = []
    for text in texts:
        with suppress(PathError):
            keys.append(tuple(str(step) for step in parse(text)))
    return tuple(keys)


def _is_usable(tolerance: Decimal | None) -> TypeGuard[Decimal]:
    return tolerance is not None and tolerance.is_finite() and tolerance >= 0


@lru_cache(maxsize=64)
def compile_rules(mapping: bytes | None, settings: str, schema: bytes | None) -> tuple[FieldRules, tuple[Finding, ...]]:
    """Compile the rules of one eval, and say what was wrong with their sources. Never raises."""
    said, findings = read_mapping(mapping, settings)
    stated = read_schema(schema)
    rules = FieldRules(said, stated)
    return rules, (*findings, *stated.findings, *rules.findings)
