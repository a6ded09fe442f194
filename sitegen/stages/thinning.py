"""Which reports of an eval are written in full, and what stands in the place of the others."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.model.series import Series
from sitegen.pages.thinned import thinned_page
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer, digest


def first_full(points: int, kept: int | None) -> int:
    """Index of the oldest point with a full report; ``kept``: how many have one, None: all."""
    return 0 if kept is None else max(0, points - kept)


def write_thinned(writer: Writer, renderer: Renderer, owner: str, series: Series, keys: Sequence[str]) -> None:
    """Write the short pages of the oldest points. ``keys``: of these, the digest of all that a full report shows."""
    for point, full in zip(series.points[: len(keys)], keys, strict=True):
        page = thinned_page(series.info, series.specs, point)
        key = digest("thinned", full)
        if not writer.is_fresh(owner, page.path, key):
            writer.write(owner, page.path, renderer.render(page), key)
