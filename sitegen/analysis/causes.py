"""Groups problems by cause, and counts the causes."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.model.frozen import Frozen
from sitegen.model.problems import PROBLEM_TYPES, SEVERITIES, Problem, Severity
from sitegen.text.plain import counted

_NAMES: Final = r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b\d[\d,.]*\b"
"""Names and numbers in a message: two problems of one cause may differ in them."""
_GAP: Final = "…"


class ProblemCause(Frozen):
    """Problems with a common cause, which one change of the project removes."""

    id: str
    """Fragment of its address on the problems page; the same in every build."""
    severity: Severity
    message: str
    """What is wrong, as a sentence. Names and numbers in which the problems differ are omitted."""
    fix: str
    """What to do; empty if that differs between the problems, each of which says it."""
    past: bool
    problems: tuple[Problem, ...]
    """The problems, in the order of the build; at least one."""

    @property
    def evals(self) -> tuple[str, ...]:
        """Ids of the evals that have one of the problems."""
        return tuple(dict.fromkeys(problem.eval_id for problem in self.problems if problem.eval_id is not None))

    @property
    def values(self) -> int:
        """Number of expected values that are not scored because of it."""
        return sum(problem.values for problem in self.problems)

    @property
    def commits(self) -> int:
        """Number of commits at which one of the problems began."""
        return len({problem.commit for problem in self.problems if problem.commit is not None})


def causes_of(problems: Iterable[Problem]) -> tuple[ProblemCause, ...]:
    """Group problems by cause: current ones before past ones, then by severity, lost values, and number of problems."""
    by_cause: dict[tuple[bool, Severity, str], list[Problem]] = {}
    for problem in problems:
        key = f"{problem.severity} {problem.type or f'{_pattern(problem.message)} {_pattern(problem.fix)}'}"
        by_cause.setdefault((problem.past, problem.severity, key), []).append(problem)
    causes = [
        ProblemCause(
            id=f"{'past' if past else 'cause'}-{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:10]}",
            severity=severity,
            message=_common_message(same),
            fix=same[0].fix if len({problem.fix for problem in same}) == 1 else "",
            past=past,
            problems=tuple(same),
        )
        for (past, severity, key), same in by_cause.items()
    ]
    causes.sort(key=lambda one: (one.past, SEVERITIES.index(one.severity), -one.values, -len(one.problems)))
    return tuple(causes)


class ProblemCounts(NamedTuple):
    """Number of causes, by severity."""

    error: int
    warning: int
    note: int
    past: int
    """Causes that the newest outputs no longer have, whatever their severity."""

    @property
    def current(self) -> int:
        """Number of causes that are not past."""
        return self.error + self.warning + self.note

    @property
    def text(self) -> str:
        """The counts: ``1 error, 2 warnings, and 3 that only earlier outputs have``; ``none``."""
        numbers = ((self.error, "error"), (self.warning, "warning"), (self.note, "note"))
        current = ", ".join(counted(number, noun) for number, noun in numbers if number)
        past = f"{self.past:,} that only earlier outputs have" if self.past else ""
        return ", and ".join(filter(None, (current, past))) or "none"


def count_causes(causes: Sequence[ProblemCause]) -> ProblemCounts:
    """Count causes by severity."""
    current = [cause.severity for cause in causes if not cause.past]
    return ProblemCounts(
        error=current.count("error"),
        warning=current.count("warning"),
        note=current.count("note"),
        past=len(causes) - len(current),
    )


@lru_cache(maxsize=1024)  # most problems of a project say the same as others
def _pattern(text: str) -> str:
    return re.sub(_NAMES, _GAP, text)


def _common_message(problems: list[Problem]) -> str:
    messages = {problem.message: None for problem in problems}
    if len(messages) > 1 and problems[0].type in PROBLEM_TYPES:
        said, names = zip(*(message.partition(": ")[::2] for message in messages), strict=True)
        if problems[0].type.startswith("unmapped_") and len({*said}) == 1:  # the names are what to map, in all evals
            return f"{said[0]}: {', '.join(dict.fromkeys(', '.join(names).split(', ')))}"
        return PROBLEM_TYPES[problems[0].type].summary
    first, *others = messages
    if any(_pattern(text) != _pattern(first) for text in others):
        return first
    # With a gap in place of each name or number that differs.
    names = zip(*(re.findall(_NAMES, text) for text in messages), strict=True)
    common = iter([same[0] if len({*same}) == 1 else _GAP for same in names])
    return re.sub(_NAMES, lambda _: next(common), first)
