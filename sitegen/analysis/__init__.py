"""Analysis: pure functions over scorecards, and the memo that stores scorecards and derived values."""
