"""Tests, and the benchmark."""
