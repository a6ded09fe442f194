"""The report of one snapshot: its numbers, why they changed, and every discrepancy with expected and actual value.

A report is a function of its snapshot and the earlier ones, so that a new commit never changes an old report.
"""

from sitegen.pages.report.bounds import ALIGNED, DOCUMENTS, LISTS, leaves_anything_out
from sitegen.pages.report.discrepancies import Discrepancy, EarlierPoints, Since
from sitegen.pages.report.fates import FateRow, FixedCell
from sitegen.pages.report.numbers import ErrorChange, ReportMetric
from sitegen.pages.report.page import ReportView, report_page
from sitegen.pages.report.sections import TOP_LEVEL, SchemaSection, section

__all__ = [
    "ALIGNED",
    "DOCUMENTS",
    "LISTS",
    "TOP_LEVEL",
    "Discrepancy",
    "EarlierPoints",
    "ErrorChange",
    "FateRow",
    "FixedCell",
    "ReportMetric",
    "ReportView",
    "SchemaSection",
    "Since",
    "leaves_anything_out",
    "report_page",
    "section",
]
