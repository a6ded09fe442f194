"""Analysis: pure functions over scorecards, judgements and edits."""
