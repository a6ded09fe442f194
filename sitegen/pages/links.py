"""The url scheme: every address of the site is made here and nowhere else.

Addresses are relative to the root of the site; a template puts the page's own way up (``../``) in front. They are
stable (contract 3.2), safe as file names on every system, and depend on nothing but what they name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import Final

SHA_DIGITS: Final = 12
"""Digits of a commit id in an address: unambiguous for millions of commits, and short enough to read aloud."""

_SAFE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_DIGEST_DIGITS: Final = 32
_LIKE_A_DIGEST = re.compile(r"(?:.*-)?[0-9a-f]{32}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|index|compare|fields)(\..*)?")


@lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """A file name for anything: itself where that is safe, else readable letters and a digest that keeps it unique.

    Names that differ only in case or in Unicode normal form get different digests, so that they never meet in one
    file on a case-insensitive disk. No two names share a slug, whoever chose them: the digest has 128 bits, and a safe
    name that ends as a slug with a digest does gets a digest itself. A slug has at most 93 characters.
    """
    unusable = _RESERVED.fullmatch(name) or _LIKE_A_DIGEST.fullmatch(name) or name.endswith(".")
    if _SAFE.fullmatch(name) and not unusable:
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    readable = _UNSAFE.sub("-", plain).strip("-._")[:60].rstrip("-._")
    # Half a character of JSON and a byte of a file name that is no UTF-8 each keep bytes of their own.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
    return f"{readable}-{digest}" if readable else digest


def short_sha(sha: str) -> str:
    """A commit id as addresses write it."""
    return sha[:SHA_DIGITS]


def overview() -> str:
    """The first page."""
    return "index.html"


def regressions() -> str:
    """Steps: where a level changed beyond noise."""
    return "regressions.html"


def methods() -> str:
    """How every number is computed."""
    return "methods.html"


def problems() -> str:
    """What could not be seen or scored."""
    return "problems.html"


def eval_trend(eval_id: str) -> str:
    """The trend page of an eval."""
    return f"evals/{slug(eval_id)}/index.html"


def report(eval_id: str, snapshot_slug: str) -> str:
    """The report of one snapshot."""
    return f"evals/{slug(eval_id)}/{snapshot_slug}.html"


def variants(eval_id: str) -> str:
    """The variants of an eval side by side."""
    return f"evals/{slug(eval_id)}/variants.html"


def suspect_truth(eval_id: str) -> str:
    """The labels of an eval that may be wrong."""
    return f"evals/{slug(eval_id)}/suspect-truth.html"


def field(eval_id: str, attribute: str) -> str:
    """The history of one attribute of an eval; ``attribute`` as in ``walls[].area``."""
    return f"evals/{slug(eval_id)}/fields/{slug(attribute)}.html"


def compare(eval_id: str) -> str:
    """Any two points of an eval, side by side."""
    return f"evals/{slug(eval_id)}/compare.html"


def report_data(eval_id: str, snapshot_slug: str) -> str:
    """The whole result beside a report (contract 3.1)."""
    return f"evals/{slug(eval_id)}/{snapshot_slug}.json"


def instructions() -> str:
    """All instruction files."""
    return "instructions/index.html"


def instruction(path: str) -> str:
    """The history of one instruction file."""
    return f"instructions/{_path_slug(path)}/index.html"


def edit(path: str, sha: str) -> str:
    """One edit of one instruction file; ``path`` is the file's name, that is the last path it had."""
    return f"instructions/{_path_slug(path)}/{short_sha(sha)}.html"


def commit(sha: str) -> str:
    """One commit."""
    return f"commits/{short_sha(sha)}.html"


def series_data(eval_id: str) -> str:
    """The series of an eval as JSON (contract 3.3)."""
    return f"data/evals/{slug(eval_id)}.json"


def series_csv(eval_id: str) -> str:
    """The series of an eval as a table."""
    return f"data/evals/{slug(eval_id)}.csv"


def index_data() -> str:
    """The entry to the data files."""
    return "data/index.json"


def summary() -> str:
    """The state of everything in one text."""
    return "summary.md"


def feed() -> str:
    """What moved, as Atom."""
    return "feed.xml"


def badge(eval_id: str) -> str:
    """An eval's headline as a picture."""
    return f"badges/{slug(eval_id)}.svg"


def badge_data(eval_id: str) -> str:
    """The same for services that draw badges."""
    return f"badges/{slug(eval_id)}.json"


def schema(file_name: str) -> str:
    """A JSON Schema of files that sitegen reads or writes."""
    return f"data/schemas/{file_name}"


def asset(name: str) -> str:
    """A style sheet, a script or a picture that ships with sitegen."""
    return f"assets/{name}"


def not_found() -> str:
    """The page that a server shows for any address without one."""
    return "404.html"


def address(path: str) -> str:
    """A page as its canonical link names it: a folder's index is the folder."""
    return path.removesuffix("index.html") if path.rpartition("/")[2] == "index.html" else path


def up(path: str) -> str:
    """The way from a page to the root of the site: ``../`` for each folder above it."""
    return "../" * path.count("/")


def _path_slug(path: str) -> str:
    """Folders joined by ``--``, without the dot of ``.claude``, the usual home of instructions.

    Whatever could be taken for another path (a folder ``claude``, a name with ``--``) is told apart by its digest.
    """
    if path != path.lower() or "--" in path or path.startswith("claude/"):
        return slug(path.replace("/", "--") + "\0")
    return slug(path.removeprefix(".").replace("/", "--") if path.startswith(".claude/") else path.replace("/", "--"))
