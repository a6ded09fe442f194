"""The only package that knows Jinja: turns pages into bytes and writes them to disk."""
