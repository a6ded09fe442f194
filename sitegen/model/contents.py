"""The functions by which ``history`` reads contents of outputs. ``scoring`` provides them, as it knows the formats."""

from collections.abc import Callable
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.model.recorded import Recorded

GRADES: Final = "grades"
"""The key of an eval's settings with the named scores that are grades, and neither right nor wrong."""


class Contents(Frozen):
    """The functions that read contents."""

    sides: Callable[[str, bytes, str], tuple[str, str] | None]
    """Takes (path, content, settings) of a file of cases. Returns the digests of expected values and of outputs, which
    a scorer takes for the same if their digests are; None for a file without two sides."""
    recorded: Callable[[str, str, bytes, str], Recorded | None]
    """Takes (kind, path, content, settings) of an output; returns what it states about its run, or None."""
    grades: Callable[[str, str, bytes, str], tuple[str, ...]]
    """Takes the same; returns the named scores with values that are neither right nor wrong."""
    appended_runs: Callable[[str, str, bytes, bytes], int]
    """Takes (kind, path, content before, content) of an output; returns how many runs were appended to the file."""
    installed: str = ""
    """Names the installed packages and metrics that the functions use: with others, history is read again."""


NO_CONTENTS: Final = Contents(
    sides=lambda path, content, settings: None,
    recorded=lambda kind, path, content, settings: None,
    grades=lambda kind, path, content, settings: (),
    appended_runs=lambda kind, path, before, content: 0,
)
"""For histories whose outputs are not read."""
