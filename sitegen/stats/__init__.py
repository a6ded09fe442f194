"""Pure mathematics. ``counts`` is the only home of precision, recall and F1."""
