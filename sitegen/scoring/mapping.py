"""The types of a field mapping, for scoring and for the memo."""

from decimal import Decimal
from typing import Any, Literal, TypeAlias

from msgspec import field

from sitegen.config.models import ConfigTable, GroundTruthFormat
from sitegen.model.metrics import Convention
from sitegen.model.problems import Parsed

FieldType: TypeAlias = Literal["numeric", "integer", "string", "boolean", "date", "angle"]
Algorithm: TypeAlias = Literal["greedy", "hungarian", "position"]


class ArrayMapping(ConfigTable):
    """A list of the output, and the section of a building summary that holds its ground truth."""

    csv_section: str | None = None
    fields: dict[str, str] = field(default_factory=dict)
    """Column of the section -> key of the item."""


class Tolerance(ConfigTable):
    """A tolerance; the larger of the two applies."""

    percent: Decimal | None = None
    absolute: Decimal | None = None


class FieldSettings(ConfigTable):
    """How one field is compared; overrides everything else."""

    type: FieldType | None = None
    percent: Decimal | None = None
    absolute: Decimal | None = None
    formats: tuple[str, ...] | None = None
    """Formats of dates for ``strptime``; the first that fits counts."""
    coerce: bool | None = None
    ordered: bool | None = None


class ListSettings(ConfigTable):
    """How the items of one list are paired."""

    match_fields: tuple[str, ...] | None = None
    score_fields: tuple[str, ...] | None = None
    threshold: float | None = None
    algorithm: Algorithm | None = None


class Documents(ConfigTable):
    """The path of the list of documents in the output, and the key that names each."""

    path: str | None = None
    key: str = "id"


class CaseKeys(ConfigTable):
    """The keys of a case in a file that holds both sides; None if the key is recognised by its name."""

    list: str | None = None
    """The path of the list of cases."""
    id: str | None = None
    input: str | None = None
    expected: str | None = None
    output: str | None = None
    category: str | None = None


class Mapping(ConfigTable):
    """``field_mapping.yaml``, overridden by the eval's settings."""

    csv_to_json: dict[str, str] = field(default_factory=dict)
    array_mappings: dict[str, ArrayMapping] = field(default_factory=dict)
    """Path of a list in the output -> the section of its items."""
    field_types: dict[FieldType, tuple[str, ...]] = field(default_factory=dict)
    tolerances: dict[str, Tolerance] = field(default_factory=dict)
    tolerance_categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    """Also written ``non_extractable_fields``."""
    documents: Documents | None = None
    id_column: str | None = None
    fields: dict[str, FieldSettings] = field(default_factory=dict)
    lists: dict[str, ListSettings] = field(default_factory=dict)
    coerce: bool = False
    null_values: tuple[str | int | Decimal, ...] = ()
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()
    extra_fields: Literal["count", "ignore"] = "count"
    equality: Literal["tolerant", "strict"] = "tolerant"
    """``strict``: the same type and the same value, without tolerances, and with letter case and spelling."""
    convention: Convention = "standard"
    ground_truth_format: GroundTruthFormat = "auto"
    cases: CaseKeys = field(default_factory=CaseKeys)

    def of_files(self) -> "Mapping":
        """The entries by which ground truth and outputs are read, without those by which values are compared."""
        return Mapping(
            csv_to_json=self.csv_to_json,
            array_mappings=self.array_mappings,
            documents=self.documents,
            id_column=self.id_column,
            ground_truth_format=self.ground_truth_format,
            cases=self.cases,
        )


class PlainMapping(Mapping):
    """A mapping that JSON can hold: Decimals among its null values could not be told from texts."""

    null_values: tuple[str | int, ...] = ()


KeptMapping: TypeAlias = Parsed[PlainMapping]
"""A mapping in the memo, which is read back without pydantic and PyYAML."""


def kept_mapping(read: Parsed[Mapping]) -> KeptMapping | None:
    """A mapping for the memo; None for the few mappings that JSON cannot hold."""
    mapping, findings = read
    plain = tuple(value for value in mapping.null_values if not isinstance(value, Decimal))
    if plain != mapping.null_values:
        return None
    return Parsed(PlainMapping(**{**_values_by_field(mapping), "null_values": plain}), findings)


def mapping_read(stored: KeptMapping) -> Parsed[Mapping]:
    """The inverse of ``kept_mapping``."""
    return Parsed(Mapping(**_values_by_field(stored.value)), stored.findings)


def _values_by_field(mapping: Mapping) -> dict[str, Any]:
    return {name: getattr(mapping, name) for name in Mapping.__struct_fields__}
