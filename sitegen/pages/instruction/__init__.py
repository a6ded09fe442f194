"""The page of one instruction file: its edits, and its best version."""
