"""Answers about a project that need no build: history, comparisons, the gate, exports, a preview, secrets."""
