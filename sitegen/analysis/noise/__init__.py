"""The uncertainty of metrics, computed from scorecards, flips and cells, without scoring anything again.

``samples`` determines the units that a metric samples, and its interval; ``changes`` tests whether a change of the
headline is more than chance, and ``metrics`` tests other metrics; ``repeats`` estimates noise from outputs that were
made again.
"""
