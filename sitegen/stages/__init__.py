"""The stages of a build, which ``sitegen.build`` calls in order, and the tasks that they run in several processes.

A stage is a function of the results of earlier stages. A task and its result are frozen values that are sent between
processes; each task opens git and the templates itself (``worker_context.py``).
"""
