"""What scoring answers history about the contents of outputs."""

from __future__ import annotations

from typing import Final

from sitegen.model.contents import CaseSides, Contents
from sitegen.scoring.case_files import sides_of
from sitegen.scoring.run_statements import recorded_in


def _sides(path: str, content: bytes, settings: str) -> CaseSides | None:
    """A fault of ours must not end the walk of history: where the file is scored it comes again, and is told."""
    try:
        return sides_of(path, content, settings)
    except Exception:
        return None


CONTENTS: Final = Contents(sides=_sides, recorded=recorded_in)
