"""Definitions of agents, meant to stay thin: what an agent does stands in files of instructions beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitegen.model.timeline import Edit, InstructionHistory

LONGEST: Final = 100
"""Lines beyond which a definition holds more than which instructions to read."""

THICKENED: Final = (
    "This edit changes the definition of an agent, while instructions stand in files of their own below "
    ".claude/instructions/. A definition is meant to say only which of them to read: a rule in it is out of reach of "
    "whoever improves the instructions."
)


def is_definition(path: str) -> bool:
    """Whether the path is that of an agent's definition."""
    return "/.claude/agents/" in f"/{path}"


def apart_since(files: Iterable[InstructionHistory]) -> int | None:
    """Position of the commit that first gave agents instructions in files of their own; None if none did."""
    positions = (
        edit.commit.position for file in files for edit in file.edits if "/.claude/instructions/" in f"/{edit.path}"
    )
    return min(positions, default=None)


def thickens(edit: Edit, apart: int | None) -> bool:
    """Whether the edit changes a definition after instructions had files of their own; ``apart`` as above.

    The commit that takes the instructions out of the definition is what is asked for.
    """
    return edit.status == "modified" and is_definition(edit.path) and apart is not None and edit.commit.position > apart
