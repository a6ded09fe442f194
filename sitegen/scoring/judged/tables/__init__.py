"""Tables of results with one case per row, whose columns the manifest or a preset describes.

``rows`` reads files into rows, ``columns`` maps columns to parts of a case, ``settings`` reads the
manifest and holds the columns of tools as presets, and ``reader`` turns rows into cases.
"""
