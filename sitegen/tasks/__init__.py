"""Tasks: the two kinds of work that run side by side, one for each eval and one for each batch of instruction edits.

A task is a frozen value that goes to a process, and so is what comes back; each opens git and the templates itself.
"""
