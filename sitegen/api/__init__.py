"""sitegen from Python, for notebooks and scripts: what the commands do, as values.

Every function raises a SitegenError that says what, where and what to do, where the command would exit with it. What is
wrong *inside* a file raises nothing: it is in ``findings``, and scored by the rules. Undefined numbers are None; in the
frames of pandas, which knows no None among numbers, they are NaN.

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
