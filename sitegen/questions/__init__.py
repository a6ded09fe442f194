"""Questions about a project that are no build: its history, comparisons, the gate, exports, a preview, secrets."""
