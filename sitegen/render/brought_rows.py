"""What a commit did to an eval, as escaped f-strings: the change in a sentence, the verdict, what flipped."""

from __future__ import annotations

from sitegen.model.metrics import MetricSpec
from sitegen.pages.brought import Brought, FieldFlips
from sitegen.render.cells import text
from sitegen.render.evidence import judged
from sitegen.render.why_rows import sentence


def brought(made: Brought | None, spec: MetricSpec) -> str:
    """Lines below the numbers of an eval; empty if it had no point before."""
    if made is None:
        return ""
    note = _sentence(made.headline.note) if made.headline.points is not None else ""
    said = f"{sentence(spec, made.headline)}{note} {judged(made.verdict, spec)}"
    return f'<p class="ef-f">{said}</p>{_flipped(made)}'


def _sentence(note: str) -> str:
    return f" {text(note[:1].upper() + note[1:])}." if note else ""


def _flipped(made: Brought) -> str:
    fixed, broken, still, appeared, vanished = made.flipped
    if not (fixed or broken or appeared or vanished):
        return ""
    counts = [_count(fixed, "up", "fixed"), _count(broken, "dn", "broken"), f"{still:,} still wrong"]
    counts += [f"{appeared:,} came and {vanished:,} went with documents or expected values"] * bool(
        appeared or vanished
    )
    fields = "; ".join(map(_field, made.fields))
    more = f"; {made.more_fields:,} more" if made.more_fields else ""
    return f'<p class="ef-f">{", ".join(counts)}{f". {fields}{more}" if fields else ""}</p>'


def _count(number: int, tone: str, word: str) -> str:
    return f'<span class="delta {tone if number else ""}">{number:,} {word}</span>'


def _field(row: FieldFlips) -> str:
    counts = [f'<span class="delta up">{row.fixed:,} fixed</span>'] * bool(row.fixed)
    counts += [f'<span class="delta dn">{row.broken:,} broken</span>'] * bool(row.broken)
    return f"<code>{text(row.attribute)}</code> {', '.join(counts)}"
