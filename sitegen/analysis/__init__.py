"""Analysis: pure functions over scorecards, and the memo that keeps them."""
