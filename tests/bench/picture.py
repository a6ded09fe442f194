"""How the cost of a build grows with commits, as an SVG with logarithmic axes, for light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

from tests.bench.table import number

LEFT, RIGHT, TOP, BOTTOM = 62, 540, 20, 280
STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #3d4451 } path { fill: none; stroke: #d8dce3 }
path.line { stroke-width: 2 } path.even { stroke: #6b7280; stroke-dasharray: 3 5 }
.first { stroke: #1f5fbf; fill: #1f5fbf } .git { stroke: #6b7280; fill: #6b7280 }
.more { stroke: #b04a00; fill: #b04a00 }
path.line { fill: none } text[class] { stroke: none }
@media (prefers-color-scheme: dark) { text { fill: #c3c9d4 } path { stroke: #3a404b } path.even { stroke: #9aa3b2 }
.first { stroke: #7fb0ff; fill: #7fb0ff } .git { stroke: #9aa3b2; fill: #9aa3b2 }
.more { stroke: #ffa25c; fill: #ffa25c }
path.line { fill: none } }
"""


class Growth(NamedTuple):
    """What a history of so many commits costs, in seconds of CPU time."""

    commits: int
    first: float
    """A first build."""
    git: float
    """Reading everything that is needed by git alone."""
    more: float
    """A build with one more commit."""


def draw(growth: Sequence[Growth]) -> str:
    """The picture: three lines over commits, and a dotted one of a first build whose cost is proportional to them."""
    fewest, most = growth[0].commits, growth[-1].commits
    lines = {"first": "first build", "more": "one more commit", "git": "git alone"}
    costs = [getattr(point, name) for point in growth for name in lines]
    low, high = floor(log10(min(costs))), ceil(log10(max(costs)))

    def x(commits: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * log10(commits / fewest) / log10(most / fewest), 1)

    def y(seconds: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (log10(seconds) - low) / (high - low), 1)

    parts = [
        f'<path d="M{x(point.commits)} {TOP}V{BOTTOM}"/>'
        + _text(x(point.commits), BOTTOM + 20, f"{point.commits:,}", "middle")
        for point in growth
    ]
    parts += [
        f'<path d="M{LEFT} {y(value)}H{RIGHT}"/>' + _text(LEFT - 8, y(value) + 4, f"{value:g} s", "end")
        for value in (10.0**exponent for exponent in range(low, high + 1))
    ]
    even = max(growth[-1].first * fewest / most, 10.0**low)
    start = f"{x(most * even / growth[-1].first)} {y(even)}"
    parts.append(f'<path class="even" d="M{start}L{RIGHT} {y(growth[-1].first)}"/>')
    label = -99.0
    for name in sorted(lines, key=lambda name: -getattr(growth[-1], name)):
        places = [(x(point.commits), y(getattr(point, name))) for point in growth]
        parts.append(f'<path class="line {name}" d="M{"L".join(f"{across} {down}" for across, down in places)}"/>')
        parts += [f'<circle class="{name}" cx="{across}" cy="{down}" r="3"/>' for across, down in places]
        label = max(places[-1][1] + 4, label + 17)
        parts.append(_text(RIGHT + 12, label, f"{lines[name]}: {number(getattr(growth[-1], name))} s", "start", name))
    parts.append(
        _text(LEFT, BOTTOM + 42, "CPU time by commits; dotted: a first build in proportion to commits", "start")
    )
    title = f"CPU time of builds by the number of commits, up to {most:,}"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {BOTTOM + 50}" role="img">'
    return "\n".join([opening, f"<title>{title}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str, name: str = "") -> str:
    named = f' class="{name}"' if name else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{named}>{text}</text>'
