"""The schemas of ``sitegen/schemas`` that follow from dataclasses; the others are written by hand."""
