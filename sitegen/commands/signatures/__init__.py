"""What each command takes, and what ``--help`` says of it. The work is imported when a command is called."""
