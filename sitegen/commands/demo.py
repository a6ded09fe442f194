"""``sitegen demo``: a small repository with history, to try everything on."""

from __future__ import annotations

from pathlib import Path


def demo(folder: Path) -> None:
    """Write a demo repository into a new folder."""
    import shlex

    from sitegen.demo import write_demo

    head = write_demo(folder)
    print(f"wrote {folder}, head {head[:7]}")
    print(f"next: cd {shlex.quote(str(folder))} && sitegen build")
