"""Reports how a mapping is used: the entries that match no field of either side, and the columns of fields."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, TypeAlias

from sitegen.data_files.reading import UnreadableError
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.scoring.ground_truth import read_ground_truth
from sitegen.scoring.kinds import ScoringInputs
from sitegen.scoring.mapping import Mapping, read_mapping
from sitegen.scoring.outputs import ReadOutput
from sitegen.scoring.paths import ANY, PathError, PathStep, Pattern, parse_path, path_text, pattern
from sitegen.text.keys import nearest

_Fields: TypeAlias = dict[tuple[PathStep, ...], bool]
"""Field path with ``ANY`` for each index, including objects and lists -> whether it ever has a value."""

_MOST_FIELDS: Final = 20_000
"""The number of field paths above which nothing is reported, since an untrusted output may have any number."""
_MOST_OFFERED: Final = 1_000  # the number of field paths up to which the nearest path is suggested
_MAX_CHARACTERS: Final = 120  # of a name in a message


class UnusedEntry(Frozen):
    """An entry of a mapping that matches no field."""

    key: str
    """The key of the mapping, such as ``field_types.numeric``."""
    text: str
    """The entry as written; a column with the field that it is mapped to."""
    near: str = ""
    """The field path that is probably meant; empty if none is similar."""


class MappingUse(Frozen):
    """The unused entries of the rules that an output is scored by."""

    path: str | None
    """Path of the mapping file; None if there is none."""
    of_file: tuple[UnusedEntry, ...] | None
    """Unused entries of the mapping file that the settings do not override; None if they cannot be determined."""
    of_settings: tuple[UnusedEntry, ...] = ()
    """Unused entries of the settings in the manifest."""


_Entry: TypeAlias = tuple[str, str, str]
"""The key of an entry of a mapping, the entry as written, and the field that it names."""


def mapping_use(inputs: ScoringInputs) -> MappingUse:
    """Return the entries of mapping and settings that match no field of either side. Never raises."""
    file = inputs.mapping
    path = file.path if file else None
    fields = _fields_of_both_sides(inputs)
    if fields is None or (file is not None and file.content is None):
        return MappingUse(path, None)
    mapping, _ = read_mapping(file.content if file else None, inputs.settings)
    unused = [entry for entry in dict.fromkeys(_mapping_entries(mapping)) if not _is_used(entry, fields)]
    of_settings = set(_mapping_entries(read_mapping(None, inputs.settings).value)) if unused else set()
    names = sorted({path_text(field) for field in fields if field}) if len(fields) <= _MOST_OFFERED else []
    by_source: dict[bool, list[UnusedEntry]] = {True: [], False: []}
    for entry in unused:
        key, text, field = entry
        within = field.removesuffix(text) if key.startswith("lists.") else ""  # keys of items are written without it
        possible = (name.removeprefix(within) for name in names if name.startswith(within))
        near = nearest(field.removeprefix(within)[:_MAX_CHARACTERS], possible)
        cut = [stated[:_MAX_CHARACTERS] for stated in (key, text, near or "")]
        by_source[entry in of_settings].append(UnusedEntry(*cut))
    return MappingUse(path, tuple(by_source[False]), tuple(by_source[True]))


def _fields_of_both_sides(inputs: ScoringInputs) -> _Fields | None:
    """Return the fields of ground truth and output; None if either cannot be read, or there are too many."""
    truth_file = inputs.ground_truth
    if truth_file is None or truth_file.content is None:
        return None
    mapping, _ = read_mapping(inputs.mapping.content if inputs.mapping else None, inputs.settings)
    try:
        truth = read_ground_truth(truth_file.path, truth_file.content, mapping)
    except UnreadableError:
        return None
    output = ReadOutput(inputs.outputs, mapping, truth)
    if output.unreadable or not output.documents:
        return None
    fields: _Fields = {}
    for root in (*(document.root for document in truth.documents), *output.by_name(truth).values()):
        _collect_fields(root, (), fields)
    if truth.key is not None:  # the key that names documents was removed from them
        with suppress(PathError):
            fields[parse_path(truth.key)] = True
    return fields if len(fields) <= _MOST_FIELDS else None


def _collect_fields(value: Value, path: tuple[PathStep, ...], fields: _Fields) -> None:
    if len(fields) > _MOST_FIELDS:
        return
    fields[path] = fields.get(path, False) or value not in (None, [], {})
    if isinstance(value, dict):
        for key, below in value.items():
            _collect_fields(below, (*path, key), fields)
    elif isinstance(value, list):
        for item in value:
            _collect_fields(item, (*path, ANY), fields)


def _mapping_entries(mapping: Mapping) -> Iterator[_Entry]:
    for column, field in mapping.csv_to_json.items():
        yield ("csv_to_json", f"{column}: {field}", field)
    for name, items in mapping.array_mappings.items():
        yield ("array_mappings", name, name)
        for column, field in items.fields.items():
            yield (f"array_mappings.{name}", f"{column}: {field}", f"{name}[*].{field}")
    rules = [(f"field_types.{name}", texts) for name, texts in mapping.field_types.items()]
    rules += [(f"tolerance_categories.{name}", texts) for name, texts in mapping.tolerance_categories.items()]
    rules += [("ignore", mapping.ignore), ("fields", tuple(mapping.fields)), ("lists", tuple(mapping.lists))]
    for key, texts in rules:
        yield from ((key, text, text) for text in texts)
    for path, pairing in mapping.lists.items():
        for key, names in (("match_fields", pairing.match_fields), ("score_fields", pairing.score_fields)):
            yield from ((f"lists.{path}.{key}", name, f"{path}[*].{name}") for name in names or ())


def _is_used(entry: _Entry, fields: _Fields) -> bool:
    key, _, field = entry
    try:
        written = pattern(field)
    except PathError:
        return True  # the scorer reports it
    steps = tuple(ANY if isinstance(step, int) else step for step in written.steps)
    if steps in fields:
        return True
    if any(not fields.get(steps[:length], True) for length in range(1, len(steps))):
        return True  # a list or an object that is always empty may have any fields
    any_index = Pattern(steps, written.open_end)
    fits_ends = key.startswith("tolerance_categories.")
    return any(any_index.matches(field) or (fits_ends and any_index.matches_end(field)) for field in fields)


def mapped_columns(ground_truth: str, mapping: Mapping) -> tuple[tuple[str, str], ...]:
    """Return the columns of a ground truth that the mapping names, each with the path of its field.

    Columns of a section have the name of the section before them. Empty if every column has the name of its field, or
    if the file, by its path, has no columns.
    """
    if not ground_truth.lower().endswith(".csv"):
        return ()
    of_lists = (
        (f"{items.csv_section or path} {column}", f"{path}[].{key}")
        for path, items in mapping.array_mappings.items()
        for column, key in items.fields.items()
    )
    columns = (*mapping.csv_to_json.items(), *of_lists)
    return columns if any(column != field for column, field in columns) else ()
