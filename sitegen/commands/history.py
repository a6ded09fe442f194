"""``sitegen history``."""

from __future__ import annotations

import sys
from pathlib import Path

from sitegen.model.series import Series
from sitegen.project import Options
from sitegen.stages.series import read_series
from sitegen.text.plain import line


def history(repo: Path, eval_id: str, *, rev: str | None, as_json: bool, cache: Path | None) -> None:
    """Print the series of an eval, oldest first."""
    series = read_series(Options(repo=repo, rev=rev, cache=cache), eval_id)
    if as_json:
        from sitegen.pages.exports import series_files

        sys.stdout.buffer.write(series_files(series)[0].content)
    else:
        for row in rows(series):
            print(row)


def rows(series: Series) -> list[str]:
    """A line a point: iteration, the headline with its change, the metrics beside it, errors, commit."""
    specs = series.specs[:3]
    names = " ".join(f"{spec.label[:9]:>9}" for spec in specs)
    found = [f"{'iteration':20} {names} {'change':>8} {'errors':>7}  commit"]
    before: float | None = None
    for point in series.points:
        card, at = point.scorecard, point.snapshot
        values = [card.metric(spec.name) for spec in specs]
        change = "" if values[0] is None or before is None else f"{values[0] - before:+.3f}"
        counts = card.counts
        errors = counts.omission + counts.hallucination + counts.wrong_value + counts.format_error
        numbers = " ".join("        —" if value is None else f"{value:9.3f}" for value in values)
        label = line(at.label, 16) + (" (re-)" if "outputs" not in at.cause else "")
        found.append(f"{label:20} {numbers} {change:>8} {errors:7,}  {at.commit.short} {line(at.commit.subject, 60)}")
        before = values[0] if values[0] is not None else before
    return found
