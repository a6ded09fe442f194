"""How far a number can be trusted: computed from scorecards, flips and cells, without scoring anything again.

``samples`` says what a metric is a sample of; ``intervals`` computes its interval; ``changes`` tests whether a change
of the headline is more than chance, and ``metrics`` does so for other metrics; ``repeats`` estimates noise from outputs
that were made again.
"""
