"""Which column of a ground truth is which field of the output, for people to look up."""

from __future__ import annotations

from sitegen.scoring.mapping import read_mapping
from sitegen.scoring.scorer import ScoringInputs


def columns_of(inputs: ScoringInputs) -> tuple[tuple[str, str], ...]:
    """(column, field path) as the mapping has them; of the items of a list the section stands before the column.

    Empty if no column has another name than its field, or if the ground truth has no columns. Never raises.
    """
    truth, file = inputs.ground_truth, inputs.mapping
    if truth is None or not truth.path.lower().endswith(".csv"):
        return ()
    mapping, _ = read_mapping(file.content if file else None, inputs.settings)
    of_lists = (
        (f"{items.csv_section or path} {column}", f"{path}[].{key}")
        for path, items in mapping.array_mappings.items()
        for column, key in items.fields.items()
    )
    columns = (*mapping.csv_to_json.items(), *of_lists)
    return columns if any(column != field for column, field in columns) else ()
