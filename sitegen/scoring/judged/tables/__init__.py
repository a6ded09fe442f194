"""Tables of results, one case a row, whose columns the manifest explains or a preset knows.

``rows`` reads files into rows, ``columns`` says what columns mean, ``presets`` holds what tools call them, ``settings``
reads the manifest, ``reader`` makes cases of rows.
"""
