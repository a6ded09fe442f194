"""``sitegen compare``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.commands.saying import say, say_error, say_text
from sitegen.comparing.document import to_json_bytes
from sitegen.comparing.plots import NoPlotsError, PlotFormat, plots
from sitegen.comparing.report import report
from sitegen.errors import ConfigurationError
from sitegen.project import Options
from sitegen.stages.comparison import Compared, compare_iterations, compare_revisions, compare_variants
from sitegen.verifying import Bench

_VARIANT: Final = re.compile(r"([^:]+):(.+)")
_ITERATION: Final = re.compile(r"(.+)@(\d{1,9})")


class Sides(NamedTuple):
    """What to compare: variants or iterations of one eval, else two revisions."""

    eval_id: str = ""
    variants: tuple[str, ...] = ()
    """With an eval and neither of these: all its variants."""
    iterations: tuple[int, ...] = ()
    revisions: tuple[str, ...] = ()


def compare(
    repo: Path,
    sides: list[str],
    *,
    eval_id: str | None,
    out: Path | None,
    plot_format: PlotFormat,
    as_json: bool,
    cache: Path | None,
) -> None:
    """Compare, and print the report or write the three files."""
    wanted = read_sides(sides, eval_id)
    found = _compared(repo, wanted, cache)
    if as_json:
        sys.stdout.buffer.write(to_json_bytes(found.document))
    elif out is None:
        say_text(report(found.document))
    if out is not None:
        for path in _write(out, found, plot_format):
            say(f"wrote {path}", error=True)


def read_sides(sides: list[str], eval_id: str | None) -> Sides:
    """Understand the arguments. Raises ConfigurationError if they do not go together."""
    fix = "Give EVAL:VARIANT EVAL:VARIANT, EVAL@NUMBER EVAL@NUMBER, two revisions, or --eval EVAL and variants."
    if len(set(sides)) < len(sides):
        raise ConfigurationError("The same is named twice.", fix=fix)
    if eval_id is not None:
        sides = [
            side if side.startswith(("@", f"{eval_id}:", f"{eval_id}@")) else f"{eval_id}:{side}" for side in sides
        ]
        sides = [f"{eval_id}{side}" if side.startswith("@") else side for side in sides]
        if not sides:
            return Sides(eval_id)
    if len(sides) < 2:
        raise ConfigurationError("There are not two sides to compare.", fix=fix)
    for pattern in (_VARIANT, _ITERATION):
        matches = [pattern.fullmatch(side) for side in sides]
        if all(matches):
            return _of_one_eval([(match[1], match[2]) for match in matches if match], pattern, fix)
        if any(matches):
            raise ConfigurationError("Both sides have to be of one sort.", where=" ".join(sides), fix=fix)
    if len(sides) > 2:
        raise ConfigurationError("More than two sides have to be variants or iterations of one eval.", fix=fix)
    return Sides(revisions=tuple(sides))


def _of_one_eval(sides: list[tuple[str, str]], pattern: re.Pattern[str], fix: str) -> Sides:
    evals = {eval_id for eval_id, _ in sides}
    if len(evals) > 1:
        raise ConfigurationError("The sides are of different evals.", where=", ".join(sorted(evals)), fix=fix)
    names = tuple(name for _, name in sides)
    if pattern is _ITERATION:
        return Sides(evals.pop(), iterations=tuple(map(int, names)))
    return Sides(evals.pop(), variants=names)


def _compared(repo: Path, wanted: Sides, cache: Path | None) -> Compared:
    options = Options(repo=repo, cache=cache)
    if wanted.revisions:
        return compare_revisions(options, (wanted.revisions[0], wanted.revisions[1]))
    if wanted.iterations:
        return compare_iterations(options, wanted.eval_id, wanted.iterations)
    return compare_variants(Bench.open(repo), wanted.eval_id, wanted.variants)


def _write(out: Path, found: Compared, plot_format: PlotFormat) -> list[Path]:
    """The three files; without matplotlib two of them, which is said but no failure."""
    files = {
        "comparison_results.json": to_json_bytes(found.document),
        "comparison_report.md": report(found.document).encode("utf-8", "backslashreplace"),
    }
    try:
        files[f"comparison_plots.{plot_format}"] = plots(found.document, plot_format, found.thresholds)
    except NoPlotsError as error:
        say_error(error)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in files]
