"""The story of the demo, in six chapters that are told in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.demo.chapters.beginning import beginning
from tests.demo.chapters.growth import growth
from tests.demo.chapters.others import other_kinds
from tests.demo.chapters.routine import routine
from tests.demo.chapters.settling import settling
from tests.demo.chapters.trouble import trouble
from tests.demo.project import Project

CHAPTERS: Final[tuple[Callable[[Project], None], ...]] = (beginning, growth, trouble, settling, other_kinds, routine)
