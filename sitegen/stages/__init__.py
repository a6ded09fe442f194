"""The stages of a build, in the order in which ``sitegen.build`` lists them, and the tasks that run side by side.

A stage is a function of what the stages before it found. A task is a frozen value that goes to a process, and so is
what comes back; each opens git and the templates itself.
"""
