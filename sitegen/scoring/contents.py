"""What scoring answers history about the contents of outputs."""

from __future__ import annotations

from typing import Final

from sitegen.model.contents import Contents
from sitegen.scoring.case_files import sides_of
from sitegen.scoring.run_statements import recorded_in

CONTENTS: Final = Contents(sides=sides_of, recorded=recorded_in)
