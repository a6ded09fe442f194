"""The url scheme: every address of the site is made here.

Addresses are relative to the root of the site; a template prepends the page's path to the root (``../``). They are
stable, safe as file names on every system, and depend only on the thing that they name. Letters of all scripts stay as
they are, in file names as in links: browsers and servers encode them alike.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final
from urllib.parse import quote

_SHA_DIGITS: Final = 12
"""Digits of a commit id in an address: unambiguous for millions of commits, and short enough to read aloud."""

# Both name the characters of ASCII besides a-z, 0-9 and mostly dot, hyphen and underscore: to compile a class with all
# other characters takes longer than to import this module.
_SAFE = re.compile(r"[^\x00-/:-`{-\x7f][^\x00-,/:-^`{-\x7f]*")
_UNSAFE = re.compile(r"[\x00-,/:-^`{-\x7f]+")
_MOST_BYTES: Final = 80  # of a file name
_MOST_READABLE: Final = 60  # bytes before a digest
_DIGEST_DIGITS: Final = 32  # hexadecimal digits
_LIKE_A_DIGEST = re.compile(r"(?:.*-)?[0-9a-f]{32}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|index|compare|fields)(\..*)?")


@lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """A file name for any text: the text itself if that is safe, else its readable letters and a digest.

    Names that differ only in case or in Unicode normal form get different digests, so that they do not share a file
    on a disk that takes them for one. No two names share a slug, even if they were chosen to: the digest has 128 bits,
    and a safe name that ends like a slug with a digest gets a digest itself. A slug has at most 93 bytes.
    """
    folded = unicodedata.normalize("NFKC", name).upper().casefold()
    plain = "".join(
        letter if letter.isascii() or unicodedata.category(letter)[0] in "LMN" else "-"
        for letter in unicodedata.normalize("NFC", folded)
    )
    unusable = _RESERVED.fullmatch(name) or _LIKE_A_DIGEST.fullmatch(name) or name.endswith(".")
    if plain == name and _SAFE.fullmatch(name) and len(name.encode()) <= _MOST_BYTES and not unusable:
        return name
    readable = _UNSAFE.sub("-", plain).strip("-._").encode()[:_MOST_READABLE].decode(errors="ignore").rstrip("-._")
    if _RESERVED.fullmatch(readable):
        readable = readable.replace(".", "-")  # Windows reserves these names with every ending
    # Lone surrogates (from JSON, or from file names that are not UTF-8) must stay distinct, so they are encoded too.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
    return f"{readable}-{digest}" if readable else digest


def _fixed(address: str) -> Callable[[], str]:
    return lambda: address


def _of(pattern: str) -> Callable[[str | int], str]:
    """``pattern``: with ``{}`` in the place of a number, or of a name of ours."""
    return lambda value: pattern.format(value)


def _of_name(pattern: str) -> Callable[[str], str]:
    """``pattern``: with ``{}`` in the place of the slug of the name."""
    return lambda name: pattern.format(slug(name))


def _of_eval(pattern: str) -> Callable[[str, str | int], str]:
    """``pattern``: in the folder of an eval, with ``{}`` in the place of what names the file there."""
    return lambda eval_id, name: f"evals/{slug(eval_id)}/{pattern.format(name)}"


overview = _fixed("index.html")  # the first page
regressions = _fixed("regressions.html")  # steps: where a level changed beyond noise
methods = _fixed("methods.html")  # how every number is computed
fields = _fixed("fields.html")  # every field path over all evals
suspect_labels = _fixed("suspect-labels.html")  # the labels of all evals that may be wrong
problems = _fixed("problems.html")  # files that could not be read or scored
instructions = _fixed("instructions/index.html")  # all instruction files
commits = _fixed("commits/index.html")  # the newest commits
index_data = _fixed("data/index.json")  # the entry to the data files
summary = _fixed("summary.md")  # the state of the project as one text
feed = _fixed("feed.xml")  # changes of evals, as Atom
not_found = _fixed("404.html")  # the page that a server shows for any address without one

# These take the id of an eval.
eval_trend = _of_name("evals/{}/index.html")  # the trend page of an eval
variants = _of_name("evals/{}/variants.html")  # the variants of an eval side by side
notes = _of_name("evals/{}/notes.html")  # what people said about the cases of an eval
compare = _of_name("evals/{}/compare.html")  # any two points of an eval, side by side
series_data = _of_name("data/evals/{}.json")  # the points of an eval as JSON
series_csv = _of_name("data/evals/{}.csv")  # the points of an eval as a table
badge = _of_name("badges/{}.svg")  # an eval's headline as a picture
badge_data = _of_name("badges/{}.json")  # the same for services that draw badges
trend_rows = _of_name("evals/{}/index.js")  # the older iterations, which the trend page loads on request
search_values = _of_name("search/values-{}.js")  # the values of an eval, which search loads

# These take the name of a field or a case: its page, relative to the folder of the eval, where the reports are.
field_in_eval = _of_name("fields/{}.html")
case_in_eval = _of_name("cases/{}.html")

# These take the id of an eval and the slug of a snapshot.
report = _of_eval("{}.html")  # the report of the snapshot
report_data = _of_eval("{}.json")  # the whole result beside the report
report_rows = _of_eval("{}.js")  # the errors that a report loads when they are searched for or requested
report_tree = _of_eval("{}-tree.html")  # ground truth and output side by side
report_grid = _of_eval("{}-cases.csv")  # the answers of all cases as a table
report_cases = _of_eval("{}-cases-")  # begins files with the cases that a report loads on request; they are numbered
REPORT_FILES: Final = (report, report_data, report_rows, report_tree, report_grid)
"""All files of one report, the page first."""

compare_piece = _of_eval("compare-{}.js")  # the cells of some points, which the compare page loads, by their number
source_picture = _of_eval("source/{}")  # a page of a source, by its blob id and ending: one file for all reports
older_commits = _of("commits/page-{}.html")  # a full page of the list; page 1 has the oldest, and its address stays
schema = _of("data/schemas/{}")  # a JSON Schema of files that sitegen reads or writes
asset = _of("assets/{}")  # a style sheet, a script or a picture that ships with sitegen


def field(eval_id: str, attribute: str) -> str:
    """The history of one attribute of an eval; ``attribute`` as in ``walls[].area``."""
    return f"evals/{slug(eval_id)}/{field_in_eval(attribute)}"


def case(eval_id: str, name: str) -> str:
    """The history of one case of an eval, by its id."""
    return f"evals/{slug(eval_id)}/{case_in_eval(name)}"


def instruction(path: str) -> str:
    """The history of one instruction file."""
    return f"instructions/{_path_slug(path)}/index.html"


def edit(path: str, sha: str) -> str:
    """One edit of one instruction file; ``path``: the last path of the file."""
    return f"instructions/{_path_slug(path)}/{sha[:_SHA_DIGITS]}.html"


def commit(sha: str) -> str:
    """One commit."""
    return f"commits/{sha[:_SHA_DIGITS]}.html"


def file_name(path: str) -> str:
    """The last part of a path: its address for other pages of the same folder."""
    return path.rpartition("/")[2]


def address(path: str) -> str:
    """The address of a page in its canonical link: the folder in place of its ``index.html``."""
    return quote(path.removesuffix("index.html") if path.rpartition("/")[2] == "index.html" else path)


def up(path: str) -> str:
    """The way from a page to the root of the site: ``../`` for each folder above it."""
    return "../" * path.count("/")


@lru_cache(maxsize=4096)
def _path_slug(path: str) -> str:
    """Folders joined by ``--``, without the dot of ``.claude``, where instructions usually are.

    A path that could be confused with another (a folder ``claude``, a name with ``--``) gets a digest.
    """
    if path != path.lower() or "--" in path or path.startswith("claude/"):
        return slug(path.replace("/", "--") + "\0")
    return slug(path.removeprefix(".").replace("/", "--") if path.startswith(".claude/") else path.replace("/", "--"))
