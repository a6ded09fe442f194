"""The report of one snapshot: its numbers, why they changed, and every error with expected and actual value.

A report is a function of its snapshot and the earlier ones, so that a new commit never changes an old report.
"""
