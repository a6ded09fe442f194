"""The commands as functions that return values, for notebooks and scripts.

If a command would end with an error, its function raises SitegenError, which states what is wrong, where, and what to
do. Problems *inside* a file do not raise: they are in ``findings``, and the rules score them. Undefined numbers are
None, or NaN in frames, because columns of numbers in pandas cannot contain None.

The examples run in a project with one eval, ``receipts``, of two iterations.
"""

from sitegen.api.outputs import Evaluated, Records, Scored, Thresholds, compare, evaluate, score
from sitegen.api.projects import Checked, History, build, check, export, history

__all__ = [
    "Checked",
    "Evaluated",
    "History",
    "Records",
    "Scored",
    "Thresholds",
    "build",
    "check",
    "compare",
    "evaluate",
    "export",
    "history",
    "score",
]
