"""What the files of a generated repository hold: seeded, typed, and of believable sizes."""

import csv
import io
import json
import random
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Type: TypeAlias = Literal["numeric", "integer", "date", "string"]
Texts: TypeAlias = Mapping[str, str | None]
"""Values as the ground truth spells them, by concrete field path; None is an explicit null."""

COLUMNS: Final[dict[str, Type]] = {
    "description": "string",
    "quantity": "integer",
    "unit_price": "numeric",
    "amount": "numeric",
}
HEADER_TYPES: Final[tuple[Type, ...]] = ("numeric", "date", "string", "string")
_VOCABULARY: Final = (
    "invoice total amount vendor date tax line item currency field extract value document page table header "
    "match exact format number never always ensure check rule section prefer fallback null empty string parse "
    "round tolerance schema mapping example note subtotal address payment term due reference order"
)
WORDS: Final = _VOCABULARY.split()


def field_paths(fields: int, line_items: int) -> list[str]:
    """So many field paths, at most three fifths of them cells of line items."""
    cells = [f"line_items[{index}].{column}" for index in range(line_items) for column in COLUMNS][: fields * 3 // 5]
    return [f"field_{index:03d}" for index in range(fields - len(cells))] + cells


def type_of(path: str) -> Type:
    """The declared type of a path."""
    if "." in path:
        return COLUMNS[path.rpartition(".")[2]]
    return HEADER_TYPES[small_hash(path) % len(HEADER_TYPES)]


@lru_cache(maxsize=1 << 16)
def small_hash(text: str) -> int:
    """32 bits of FNV-1a: the same in every process, unlike ``hash``."""
    state = 2166136261
    for byte in text.encode():
        state = ((state ^ byte) * 16777619) & 0xFFFFFFFF
    return state


def random_text(path: str, chance: random.Random) -> str:
    """A value for a path, spelt as in the ground truth."""
    kind = type_of(path)
    if kind == "numeric":
        return f"{chance.uniform(1, 99999):.2f}"
    if kind == "integer":
        return str(chance.randint(1, 99))
    if kind == "date":
        return f"20{chance.randint(20, 26)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
    if path.endswith("description") or small_hash(path) % 8 < 4:
        return " ".join(chance.choices(WORDS, k=chance.randint(2, 6))).title()
    return f"{chance.choice('ABCDE')}-{chance.randint(10000, 99999)}/ü{chance.randint(0, 9)}"


def truth_csv(truth: Texts) -> bytes:
    """``ground_truth.csv``, a row for each field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("field", "expected"))
    writer.writerows(truth.items())
    return text.getvalue().encode()


def extracted_json(eval_id: str, run: int, texts: Texts) -> bytes:
    """``extracted.json``: the values at the paths of the truth, and beside them a confidence for each."""
    values: dict[str, object] = {}
    confidences: dict[str, object] = {}
    for path, text in texts.items():
        _put(values, path, text if text is None else _value(path, text))
        _put(confidences, path, round(0.5 + (small_hash(f"{path}{text}") % 500) / 1000, 3))
    document = {"eval_id": eval_id, "run": run, **values, "confidence": confidences}
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def _value(path: str, text: str) -> str | int | float:
    kind = type_of(path)
    return float(text) if kind == "numeric" else int(text) if kind == "integer" else text


def _put(root: dict[str, object], path: str, value: object) -> None:
    if not path.startswith("line_items["):
        root[path] = value
        return
    index, _, column = path.removeprefix("line_items[").partition("].")
    items = root.setdefault("line_items", [])
    assert isinstance(items, list)
    while len(items) <= int(index):
        items.append({})
    items[int(index)][column] = value


def mapping_yaml(paths: list[str], version: int) -> bytes:
    """``schemas/field_mapping.yaml``: a type for every attribute, tolerances that grow with the version."""
    attributes = dict.fromkeys("line_items[*]." + path.rpartition(".")[2] if "." in path else path for path in paths)
    lines = [f"# version {version}", "fields:"]
    for attribute in attributes:
        kind = type_of(attribute)
        lines += [f"  {json.dumps(attribute)}:", f"    type: {kind}"]
        lines += ['    formats: ["%Y-%m-%d"]'] if kind == "date" else []
        lines += [f"    absolute: {0.01 + version / 1000:.3f}"] if kind == "numeric" else []
    lines += ["lists:", "  line_items:", "    match_fields: [description]"]
    lines += [f"    score_fields: [{', '.join(COLUMNS)}]"]
    lines += ['non_extractable_fields: ["eval_id", "run", "confidence.*"]']
    return ("\n".join(lines) + "\n").encode()


def sentence(chance: random.Random) -> str:
    """Six to sixteen words."""
    return " ".join(chance.choices(WORDS, k=chance.randint(6, 16))).capitalize() + "."


def markdown_line(chance: random.Random) -> str:
    """A heading, a bullet, a row of a table, an empty line or a sentence."""
    kind = chance.random()
    if kind < 0.12:
        return "#" * chance.randint(2, 4) + " " + " ".join(chance.choices(WORDS, k=3)).title()
    if kind < 0.45:
        return f"- **{chance.choice(WORDS)}**: {sentence(chance)}"
    if kind < 0.52:
        return f"| `{chance.choice(WORDS)}` | {chance.choice(WORDS)} | {chance.randint(0, 99)} |"
    return "" if kind < 0.62 else sentence(chance)
