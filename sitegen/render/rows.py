"""Table bodies as escaped f-strings."""
