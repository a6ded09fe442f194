"""The overview: every eval on one page, and what needs attention."""
