"""The parameters of each command with their help texts. The work itself is imported when a command is called."""
