"""How far a number can be trusted: from scorecards, flips and cells, without scoring anything again.

``samples`` says what a headline is a sample of, ``intervals`` puts an interval beside it, ``changes`` says whether a
change of it is more than chance, ``repeats`` learns from outputs that were made again. ``metrics``
judges changes of metrics besides the headline.
"""
