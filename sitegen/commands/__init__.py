"""The command line. Each command has a file that parses, calls and prints."""
