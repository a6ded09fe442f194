"""Write the pages of an eval's fields: those of which a cell changed, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.blame import Blame
from sitegen.model.series import Series
from sitegen.pages.fields import field_page, field_work
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer, digest


def write_fields(writer: Writer, renderer: Renderer, owner: str, series: Series, keys: Sequence[str]) -> None:
    """``keys``: for each point a digest of all that its report shows, every point before it included."""
    blame: Blame | None = None
    for work in field_work(series):
        key = digest(keys[work.last], repr(work.cells))
        if not writer.is_fresh(owner, work.path, key):
            blame = blame or Blame(series.cells, [point.snapshot for point in series.points])
            writer.write(owner, work.path, renderer.render(field_page(series, blame, work)), key)
