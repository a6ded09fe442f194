"""What a commit did to an eval, as escaped f-strings: the change in a sentence, the verdict, what flipped."""

from __future__ import annotations

from sitegen.model.metrics import MetricSpec
from sitegen.pages.commit_effects import CommitEffect
from sitegen.render.cells import text
from sitegen.render.evidence import judged
from sitegen.render.why_rows import sentence


def commit_effect_row(made: CommitEffect | None, spec: MetricSpec) -> str:
    """Lines below the numbers of an eval; empty if it had no point before."""
    if made is None:
        return ""
    note = _sentence(made.headline.note) if made.headline.points is not None else ""
    said = f"{sentence(spec, made.headline)}{note} {judged(made.verdict, spec)}"
    return f'<p class="ef-f">{said}</p>{_flipped_lines(made)}'


def _sentence(note: str) -> str:
    return f" {text(note[:1].upper() + note[1:])}." if note else ""


def _flipped_lines(effect: CommitEffect) -> str:
    fixed, broken, still, appeared, vanished = effect.flipped
    if not (fixed or broken or appeared or vanished):
        return ""
    lines = _flip_direction_line(
        fixed, "up", "fixed", [(row.attribute, row.fixed) for row in effect.fields if row.fixed]
    )
    lines += _flip_direction_line(
        broken, "dn", "broken", [(row.attribute, row.broken) for row in effect.fields if row.broken]
    )
    rest = [f"{still:,} still wrong"]
    rest += [f"{appeared:,} came and {vanished:,} went with documents or expected values"] * bool(appeared or vanished)
    rest += [f"{effect.more_fields:,} more fields flipped less"] * bool(effect.more_fields)
    return f'{lines}<p class="ef-f">{"; ".join(rest)}</p>'


def _flip_direction_line(number: int, tone: str, word: str, fields: list[tuple[str, int]]) -> str:
    """The cells that flipped one way, and the fields that most of them are of."""
    if not number:
        return ""
    named = ", ".join([f"<code>{text(name)}</code>{f' {count:,}' if count > 1 else ''}" for name, count in fields])
    return f'<p class="ef-f"><span class="delta {tone}">{number:,} {word}</span> {named or "in other fields"}</p>'
