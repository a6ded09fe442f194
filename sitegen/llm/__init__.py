"""Calling a model: ``respond`` and ``judge``. The only package that needs a network, and no build imports it."""
