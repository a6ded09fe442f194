"""Compares variants of a prompt with each other, and one result with a later one."""
