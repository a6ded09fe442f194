"""The words that pages use for the things of the model: one word for one thing."""

from __future__ import annotations

from typing import Final

from sitegen.analysis.attribution import Role
from sitegen.model.flips import Fate
from sitegen.model.outcomes import ErrorType
from sitegen.model.scorecards import Status
from sitegen.model.timeline import Cause, EditStatus

ERROR_LABELS: Final[dict[ErrorType, str]] = {
    "omission": "Omission",
    "hallucination": "Hallucination",
    "wrong_value": "Wrong value",
    "format_error": "Format error",
}

CAUSES: Final[dict[Cause, str]] = {
    "outputs": "new output",
    "ground_truth": "ground truth changed",
    "mapping": "field mapping changed",
    "schema": "schema changed",
    "settings": "settings changed",
}
STATUSES: Final[dict[Status, str]] = {
    "scored": "scored",
    "unreadable": "unreadable",
    "no_ground_truth": "no ground truth",
}
EDITS: Final[dict[EditStatus, str]] = {
    "added": "added",
    "modified": "modified",
    "deleted": "deleted",
    "renamed": "renamed",
}
ROLES: Final[dict[Role, str]] = {
    "outputs": "new output",
    "ground_truth": "ground truth",
    "rules": "rules",
}
"""What a change came from; the rules are mapping, schema and settings."""

FATES: Final[dict[Fate, str]] = {
    "fixed": "fixed",
    "broken": "broken",
    "still_wrong": "still wrong",
    "appeared": "appeared",
    "vanished": "vanished",
}

STALE: Final = "stale: instructions were edited after this output was made, and it was not made again"
