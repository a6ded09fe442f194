"""sitegen: a Git-native static report site generator for teams who improve LLM instructions."""

__version__ = "0.1.0"
