"""``sitegen demo``: a small repository with history, to try everything on."""

from __future__ import annotations

from pathlib import Path

from sitegen.commands.saying import say


def demo(folder: Path) -> None:
    """Write a demo repository into a new folder."""
    import shlex

    from sitegen.demo import write_demo

    head = write_demo(folder)
    say(f"wrote {folder}, head {head[:7]}")
    say(f"next: cd {shlex.quote(str(folder))} && sitegen build")
