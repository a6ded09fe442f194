"""The story of the demo, in six chapters that are told in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.demo.chapters.beginning import beginning
from sitegen.demo.chapters.growth import growth
from sitegen.demo.chapters.others import other_kinds
from sitegen.demo.chapters.routine import routine
from sitegen.demo.chapters.settling import settling
from sitegen.demo.chapters.trouble import trouble
from sitegen.demo.project import Project

CHAPTERS: Final[tuple[Callable[[Project], None], ...]] = (
    beginning,
    growth,
    trouble,
    settling,
    other_kinds,
    routine,
)
