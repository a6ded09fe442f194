"""Tables of results with one case per row, whose columns the manifest or a preset describes.

``rows`` reads files into rows, ``columns`` maps columns to parts of a case, ``presets`` holds the columns of tools,
``settings`` reads the manifest, and ``reader`` turns rows into cases.
"""
