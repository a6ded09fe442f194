"""How fast sitegen is: repositories of three sizes, and whole processes measured side by side."""
