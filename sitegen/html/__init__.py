"""How values become HTML: escaped text, formatted numbers, charts. Knows no page."""
