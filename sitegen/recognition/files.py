"""Lists the files of a history that may belong to an eval or instruct a model, and says what was found in them."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any, Final

from msgspec.structs import asdict, replace

from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import SiteConfig
from sitegen.data_files.folders import DATA
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_data
from sitegen.errors import SitegenError
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.revisions import commits_up_to, file_renames, walk
from sitegen.importers import IMPORTERS
from sitegen.importers.case_rows import named_rows, newest_run, run_column
from sitegen.importers.recorded_layouts import headline_place
from sitegen.importers.tool_values import as_float
from sitegen.importers.usual_names import NAMES, PARTS
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.project import MARKER
from sitegen.recognition.searched_files import BYTES, Search
from sitegen.text.keys import plain_key
from sitegen.text.plain import counted

_MOST_COMMITS: Final = 20_000  # Number of newest commits that are walked. Files that none of them wrote are ignored.
_MOST_RENAMED: Final = 1_000  # the most changes of a commit in which renamed files are looked for
MOST_FILES: Final = 50_000
"""The most files that are listed; further files are ignored."""
RESULTS: Final = DATA.union(filter(None, (importer.ending for importer in IMPORTERS)))
"""Endings of files that may hold outputs, expected values or results."""
TEXT: Final = frozenset(
    {"md", "mdc", "txt", "prompt", "prompty", "j2", "jinja", "jinja2", "mustache", "hbs", "yaml", "yml", "json", "toml"}
)
"""Endings of files that may instruct a model."""
REPORTS: Final = frozenset({"md", "txt", "log", "out", "html", "htm", "ipynb", "toml", "rst", "tex", "json5"})
"""Endings of files in which results may stand that nothing reads."""
_LISTED: Final = RESULTS | TEXT | REPORTS | {"gold", "golden", "expected", "actual"}

_LINK: Final = "it is a symbolic link or a submodule, which is not followed. Commit a regular file in its place"
_UNPRINTABLE: Final = "no configuration can name it, because its path holds a control character. Rename it"
PDF: Final = "such documents and code are not read. Write its numbers as JSON too"
_FORMATS: Final = {
    "eval": "Inspect gave this log another name. Name it in the manifest: kind: judged, and its path as outputs",
    **dict.fromkeys(("xlsx", "xls", "ods"), "spreadsheets are not read. Save it as CSV"),
    **dict.fromkeys(("pdf", "docx", "odt", "pptx"), PDF),
    **dict.fromkeys(("gz", "zip", "zst", "bz2", "xz", "7z"), "packed files are not read. Commit the file unpacked"),
    **dict.fromkeys(
        ("parquet", "arrow", "feather", "pkl", "npy", "npz", "sqlite", "sqlite3", "db", "duckdb"),
        "such tables are not read. Write the rows as CSV or JSON Lines",
    ),
    **dict.fromkeys(
        ("per_instance_stats.json", "scenario_state.json"),
        "HELM does not say which of its metrics is the result. Write a line for each instance, with that as its score",
    ),
}
"""Why files that may hold results are not searched, by their suffix or their name."""
_IN_CODE = re.compile(r"(?:results?|scores?|metrics|leaderboard)\.(?:[cm]?js|ts)$", re.IGNORECASE)
SKIPPED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|vendor|third_party|site-packages|\.?venv|dist|build|target|__snapshots__|"
    r"__pycache__|\.git|\.yarn|\.next|\.sitegen)/"
)
_OF_MODELS: Final = (
    "(?:prompt|llm|agent|judge|chain|assist|chat|rag|gpt|claude|openai|anthropic|gemini|extract|summar|classif|generat)"
)
MAY_HOLD_PROMPTS = re.compile(
    rf"{_OF_MODELS}[^/]*(?:/[^/]+)?\.(?:py|[cm]?js|tsx?|ya?ml|json)$|{_OF_MODELS}[^/]*/.+\.(?:py|[cm]?js|tsx?)$|"
    r"(?:^|/)(?:app|configs?|settings)(?:/[^/]+)?\.ya?ml$",
    re.IGNORECASE,
)
"""Matches code and data, named after what a model does in it, that may hold prompts as texts; of code also deeper
folders, such as those of a package; and settings of an application."""
_RULE_FILES: Final = frozenset({".cursorrules", ".windsurfrules", ".clinerules", ".goosehints"})


class TrackedFile(Frozen):
    """A file of the history, by path."""

    path: str
    oid: str
    """Blob id of the newest content."""
    versions: int
    """Number of commits that wrote the file, under this path and earlier ones."""
    deleted: bool
    earlier: tuple[str, ...] = ()
    """Paths that it had before, the newest last."""
    refused: str = ""
    """Why it cannot be read whatever it holds; empty for most files."""

    @property
    def folder(self) -> str:
        """The path without the name; empty at the root."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The path without the folder."""
        return self.path.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The part of the name before the last dot; empty without a dot."""
        return self.name.rpartition(".")[0]

    @property
    def ending(self) -> str:
        """The part of the name after the last dot, in lower case, of TSV that of CSV; empty without a dot."""
        return self.name.rpartition(".")[2].lower().replace("tsv", "csv") if "." in self.name else ""


class SearchedFile(TrackedFile, kw_only=True):
    """A file of the history that a search can read."""

    search: Search

    @property
    def content(self) -> bytes | None:
        """The newest content; None if it cannot be read or is empty, no bytes if a bound of the search is reached."""
        return next(self.contents, None) if self.deleted else self.search.content(self.path)

    @property
    def contents(self) -> Iterator[bytes]:
        """The contents that are not empty, the newest first; an empty one if a bound is reached."""
        if (content := self.search.content(self.path)) is not None:
            yield content
        yield from filter(None, self.search.files.earlier(self.path, BYTES))

    @property
    def value(self) -> Value:
        """The value of the newest content, as ``value_of`` returns it."""
        return value_of(self.ending, self.content or b"")


class FilesOfHistory(Frozen):
    """The files that a walk through history up to a commit has met. Files of other suffixes are left out."""

    head: str
    commits: int
    """Number of commits that were walked; 0: only the files of one commit are listed."""
    boundary: tuple[str, ...]
    """The oldest commits of a shallow history."""
    met: tuple[TrackedFile, ...]
    """In the order in which they were met."""
    links: tuple[str, ...]
    """Paths that were symbolic links or submodules."""

    @property
    def files(self) -> tuple[TrackedFile, ...]:
        """The files without those that sitegen wrote, and links that may stand for results, by path."""
        files = {file.path: file for file in self.met}
        # A link that was replaced by a file is no link any more.
        left = [path for path in self.links if path not in files or files[path].deleted]
        all_links = (TrackedFile(path=path, oid="", versions=1, deleted=False, refused=_LINK) for path in left)
        files |= {link.path: link for link in all_links if link.ending in DATA and not SKIPPED.search(link.path)}
        marks = (MARKER, "point_edits.csv")  # of a site, and of the tables of ``sitegen export``
        written = tuple(path.removesuffix(mark) for path in files for mark in marks if path.endswith(f"/{mark}"))
        return tuple(files[path] for path in sorted(files) if not path.startswith(written))


def searched_files(history: FilesOfHistory, search: Search) -> tuple[SearchedFile, ...]:
    """Return the files of a history, to be read by a search."""
    return tuple(SearchedFile(**asdict(file), search=search) for file in history.files)


def listed_file(path: str, oid: str, versions: int = 1, earlier: tuple[str, ...] = ()) -> TrackedFile | None:
    """Return a file that may belong to an eval or instruct a model; None for any other."""
    file = TrackedFile(path=path, oid=oid, versions=versions, deleted=False, earlier=earlier)
    is_text = file.name in _RULE_FILES or MAY_HOLD_PROMPTS.search(path)
    refused = PDF if _IN_CODE.search(path) else _FORMATS.get(file.name, _FORMATS.get(file.ending, ""))
    refused = refused if path.isprintable() else _UNPRINTABLE
    is_listed = (file.ending in _LISTED or is_text or refused) and not SKIPPED.search(path)
    return replace(file, refused=refused) if is_listed else None


def files_of_history(repository: Repository, head: str, before: FilesOfHistory | None = None) -> FilesOfHistory:
    """Walk history up to a commit.

    ``before``: what was met up to an earlier commit, after which the walk begins if that is on the same line.
    """
    boundary, since = repository.shallow_boundary, None
    commits: Iterable[str] = ()
    start = FilesOfHistory(head=head, commits=0, boundary=boundary, met=(), links=())
    if before and before.commits and before.boundary == boundary:
        with suppress(SitegenError):  # the earlier commit does not exist any more
            commits = tuple(commits_up_to(repository.place, head, since=before.head))
            is_continued = repository.resolve(f"{head}~{len(commits)}") == before.head
            start = before if is_continued and before.commits + len(commits) <= _MOST_COMMITS else start
    if start is not before:
        with suppress(SitegenError):  # the history has fewer commits
            since = repository.resolve(f"{head}~{_MOST_COMMITS}")
        commits = commits_up_to(repository.place, head, since=since)
    files, links, number = {file.path: file for file in start.met}, set(start.links), start.commits
    for revision in walk(repository.place, commits):
        links |= {path for path, file_type in revision.irregular if file_type}
        number += 1
        several = len(revision.changes) > _MOST_RENAMED
        renames = {} if several else file_renames(revision.changes, lambda oid: None)  # without a change of content
        for change in revision.changes:
            file = files.get(change.path)
            if change.new is None:
                if file is not None:
                    files[change.path] = replace(file, deleted=True)
            elif file is not None:
                files[change.path] = replace(file, oid=change.new, versions=file.versions + 1, deleted=False)
            elif len(files) < MOST_FILES:
                old = files.get(renames[change.path].path) if change.path in renames else None
                versions, earlier = (old.versions, (*old.earlier, old.path)) if old else (1, ())
                if new_file := listed_file(change.path, change.new, versions, earlier):
                    files[change.path] = new_file
    return FilesOfHistory(
        head=head, commits=number, boundary=boundary, met=tuple(files.values()), links=tuple(sorted(links))
    )


class Proposal(Frozen):
    """An eval of the project, or one that its files could be, with the score of its newest output."""

    id: str
    entry: Mapping[str, Any] = {}
    """The keys of its entry in the manifest, in the order written; none of an eval that a build finds without one."""
    why: str = ""
    """The evidence for it: its output, and why this may be that of an eval."""
    points: int = 0
    newest: str = ""
    """Its headline and sample, ``F1 0.83 over 24 fields``; empty if it has no number."""
    lacks: str = ""
    """The reason for rejecting it; empty if it is accepted."""
    doubt: str = ""
    """Why it is not taken unless a user writes it into the manifest; empty if it is sure."""
    not_fetched: bool = False
    """Whether it was rejected because the content of its file has not been fetched."""

    @property
    def summary(self) -> str:
        """Summarise the score: ``12 iterations; the newest: F1 0.830 over 2 documents``."""
        iterations = counted(self.points, "iteration")
        return f"{iterations}; the newest: {self.newest}" if self.newest else iterations


class InstructionGlob(Frozen):
    """A glob of the configuration and the files that it matches."""

    glob: str
    meaning: str
    """A description of its files: ``rules of Cursor``."""
    files: int
    edits: int
    """Number of versions of all its files."""

    @property
    def summary(self) -> str:
        """Describe its files: ``3 files, 12 versions: rules of Cursor``."""
        return f"{counted(self.files, 'file')}, {counted(self.edits, 'version')}: {self.meaning}"


class Discovery(Frozen):
    """The evals and instructions that a search has found, for ``init``, a build, and the next search."""

    history: FilesOfHistory
    existing: tuple[Proposal, ...] = ()
    """Evals that a build finds without further configuration, and which are not tried: it scores them itself."""
    proposed: tuple[Proposal, ...] = ()
    """Evals that the manifest below adds."""
    doubtful: tuple[Proposal, ...] = ()
    """Evals that it does not add, because each may be something else."""
    rejected: tuple[Proposal, ...] = ()
    """Proposals for which a build would compute no numbers."""
    instructions: tuple[InstructionGlob, ...] = ()
    manifest: str | None = None
    """The text of a manifest with the proposed evals; None if there are none."""
    adds_globs: bool = False
    """Whether the configured globs do not match all instruction files."""
    decided_by: str = ""
    """A digest of the configuration and of what else decides besides the files."""

    def applied(self, configured: Layout) -> Layout:
        """Add the evals and the instructions to a configuration."""
        config, manifest = configured.site, configured.manifest
        if self.manifest:
            added = manifest_in_force(self.manifest.encode(), configured.manifest_path, config.evals_dir).value
            manifest = dataclasses.replace(manifest, evals=(*manifest.evals, *added.evals))
        # Globs that a user has written stay as they are.
        if self.adds_globs and config.instructions == SiteConfig().instructions:
            found = dict.fromkeys((*config.instructions, *(glob.glob for glob in self.instructions)))
            config = dataclasses.replace(config, instructions=tuple(found))
        return Layout(config, manifest)


ROWS: Final = 1_000
"""Number of rows of a list that determine its columns."""
_MOST_OF_TEXT: Final = 100_000  # bytes of a text that is no data
_DEEPEST: Final = 6  # levels of a document
_MOST_PATHS: Final = 400  # of a document


class FoundTable(Frozen, gc=True, dict=True):
    """A list of objects in a file."""

    key: str
    """The key of the list in the file's object; empty if the file is the list."""
    rows: tuple[dict[str, Value], ...]
    """The first rows."""
    size: int
    """Total number of rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys of the rows, in order of first appearance."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row))

    @cached_property
    def cells(self) -> dict[str, list[Value]]:
        """Values by column. Members of objects are columns too (``judgment.verdict``), not of what is expected."""
        columns = {name: [row.get(name) for row in self.rows] for name in self.columns}
        for name, values in tuple(columns.items()):
            objects = [value for value in values if isinstance(value, dict)]
            for key in dict.fromkeys(key for row in objects for key in row) if len(objects) * 2 > len(values) else ():
                if "." not in key and plain_key(name) not in (*PARTS["expected"], "labels"):
                    columns[f"{name}.{key}"] = [value.get(key) if isinstance(value, dict) else None for value in values]
        return columns


_SHARE: Final = r"[\s*]*(?:0?\.[0-9]+|1\.0+|[0-9]{1,3}(?:\.[0-9]+)?[ ]?%)"
_DOCUMENTATION = re.compile(r"(?:^|/)(?:docs?|documentation|guides?|manual|tutorials?)/", re.IGNORECASE)
"""Matches texts that explain a project: the numbers in them are examples, or those of results that lie elsewhere."""
_NAMED_SHARE = re.compile(rf"(?<![A-Za-z0-9])([A-Za-z](?>[\w@ -]{{0,40}}))[\s*\"]*[:=|&][\"]?{_SHARE}")


def why_malformed(file: SearchedFile, content: bytes) -> str:
    """Return why a file of data, or the numbers in a text, cannot be read, and what to do; empty if they can."""
    if content.lstrip().startswith(b"<promptfoo>"):
        return "promptfoo's XML is not read. Let promptfoo write JSON: -o output.json"
    if file.ending == "csv" and re.match(rb"(?:.*[,;\t])?-?[0-9]*\.[0-9]+[,;\t\r\n]", content):
        return "its first line does not name the columns. Write their names there"
    if file.ending not in DATA:
        text = content[:_MOST_OF_TEXT].decode("utf-8", "replace")
        if file.ending in ("html", "htm"):  # each row of a table on a line, with a rule below it
            rows = re.sub(r"(?i)</tr>", "\n|-\n", re.sub(r"(?i)<t[dh]\b[^<>]*>", "|", " ".join(text.split())))
            text = re.sub(r"<[^<>]*>", " ", rows)
        lines = text.splitlines()[:ROWS]
        names = [match[1] for line in lines for match in _NAMED_SHARE.finditer(line)]
        for head, rule, row in zip(lines, lines[1:], lines[2:], strict=False):
            if re.fullmatch(r"[\s|:]*-[-\s|:]*", rule):  # at the head of its column in Markdown
                cells = zip(head.split("|"), row.split("|"), strict=False)
                names += [name.strip(" *") for name, cell in cells if re.match(_SHARE, cell)]
        said = "its numbers stand in a text. Let the program that writes it write them as JSON too"
        otherwise = "of XML only JUnit's is read. Write JSON" if file.ending == "xml" else ""
        if _DOCUMENTATION.search(file.path):
            return otherwise
        return said if any((place := headline_place(name)) and not place[0] for name in names) else otherwise
    try:
        value = _value(file.ending, content)
    except UnreadableError as error:
        return f"{error.message}. {error.fix.removesuffix('.')}"
    if value == []:
        return "it has no rows"
    if isinstance(value, list) and all(as_float(each) is not None for each in value):
        return "it lists numbers without a name. Write a row for each, with an id and a score"
    return "" if value is None or isinstance(value, dict | list) else "it is a single value"


def value_of(ending: str, content: bytes) -> Value:
    """Return the value of a JSON, JSON Lines or YAML file, or the rows of a CSV file; None if it is malformed."""
    try:
        return _value(ending, content)
    except UnreadableError:
        return None


@lru_cache(maxsize=1)
def _value(ending: str, content: bytes) -> Value:
    """Do the same; raise UnreadableError if it is malformed. One file is asked several questions in a row."""
    return read_data(ending, content).value if ending in DATA else None


def table_of(value: Value) -> FoundTable | None:
    """Return the value itself if it is a list of objects, or the longest such list under one of its keys."""
    lists = value if isinstance(value, dict) and not named_rows(value) else {"": value}
    tables = []
    for key, values in lists.items():
        if plain_key(key) in NAMES["part of the cases"]:
            continue
        values = values if isinstance(values, list) else named_rows(values)
        rows = [row for row in values if isinstance(row, dict) and row]
        if rows and len(rows) * 10 >= len(values) * 9:
            rows = [rows[index] for index in newest_run(rows, run_column(rows)).value]
            tables.append(FoundTable(key, tuple(rows[:ROWS]), len(rows)))
    return max(tables, key=lambda table: table.size, default=None)


def leaf_paths(value: Value) -> frozenset[str]:
    """Return field paths without indices, such as ``lines[].price``; only the first ones of a large object."""
    return frozenset(path for path, _ in zip(_leaves(value, "", 0), range(_MOST_PATHS), strict=False))


def _leaves(value: Value, path: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, below in value.items():
            yield from _leaves(below, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for below in value[:20]:
            yield from _leaves(below, f"{path}[]", depth + 1)
    elif path:
        yield path
