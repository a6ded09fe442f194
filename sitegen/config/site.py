"""Reads the site's configuration from ``sitegen.toml`` or ``pyproject.toml``."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from posixpath import basename
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config.findings import (
    FIX,
    OUTSIDE,
    UNKNOWN,
    adapter_of,
    describe,
    error_of,
    finding_of,
    leads_out,
    remove,
    unreadable,
    valid_part,
)
from sitegen.config.models import MOST_BASELINES, SiteConfig
from sitegen.data_files.project_files import LARGEST_CONFIGURATION, SITE_FILES, fix_of, read_file, read_inside
from sitegen.data_files.reading import Location, UnreadableError
from sitegen.data_files.yaml_reader import read_toml
from sitegen.errors import ConfigurationError
from sitegen.model.problems import Finding, Parsed, Problem
from sitegen.text.keys import key_path, names_of, nearest
from sitegen.text.plain import is_web_address

Read = Callable[[str, int], bytes | None]
"""Reads a file of at most so many bytes that decides how others are read, as ``read_rules`` does."""

_BASELINE: Final = re.compile(r"\w[\w.-]*")  # the name of a baseline, as ``compare EVAL@NAME`` takes it

_DEEPEST: Final = 12  # steps of a key whose line is looked up: tool.sitegen.gate.evals.ID.slices.VALUE.metrics.NAME

_NOT_OF_A_FILE: Final[dict[Location, tuple[str, str]]] = {
    ("engine", "dask"): (
        "whoever names a dask scheduler runs code on your machine",
        "Remove it; sitegen build --dask tcp://... or the environment variable SITEGEN_DASK names one.",
    ),
    ("llm", "base_url"): (
        "your API key is sent there",
        "Remove it; --base-url or the environment variable ANTHROPIC_BASE_URL names one.",
    ),
}
"""Keys that no file of a project may set: the reason, and how the user sets them."""


def read_site(read: Read) -> Parsed[SiteConfig]:
    """Read the site's configuration: ``sitegen.toml``, else ``[tool.sitegen]`` of ``pyproject.toml``, else defaults.

    Unknown keys and wrong values do not count, and are findings that name the file. Raises ConfigurationError if a file
    cannot be read, or if ``redact`` is wrong or misspelt: values that it should hide would be on the site.
    """
    for name, content in _site_contents(read):
        table: Any = _toml(name, content)
        if name == "pyproject.toml":
            tool = table.get("tool")
            if not isinstance(tool, dict) or "sitegen" not in tool:
                continue
            table = tool["sitegen"]
        site, findings = _site(name, content, table)
        return Parsed(site, tuple(replace(finding, file=name) for finding in findings))
    return Parsed(SiteConfig())


def read_site_file(file: Path) -> SiteConfig:
    """Read the configuration in a file of any name, in the format of ``sitegen.toml``. Raises ConfigurationError."""
    try:
        content = read_file(file, LARGEST_CONFIGURATION)
    except OSError as error:
        raise ConfigurationError(
            f"{file.name} cannot be read: {error.strerror}.",
            where=str(file),
            fix=fix_of(error, str(file), "Name a file that is there."),
        ) from error
    site, findings = _site(str(file), content, _toml(str(file), content))
    if findings:
        raise error_of(findings[0].in_file(str(file)))
    return site


def missing_baseline(name: str, revision: str) -> Problem:
    """Return the problem of a baseline whose revision the clone lacks."""
    message = f"The baseline {name!r} is the revision {revision!r}, which this clone does not have."
    fix = "Correct it, or fetch it: git fetch --tags."
    return Problem("note", message, fix, path=SITE_FILES[0], field=f"baselines.{name}")


def located(problems: Iterable[Problem], read: Read) -> Iterator[Problem]:
    """Yield problems; those of the site's configuration with file and line of their keys."""
    contents = cache(lambda: _site_contents(read)[:1])  # few projects have such a problem
    for problem in problems:
        if not (problem.past or problem.line) and problem.path == SITE_FILES[0]:
            for name, content in contents():
                problem = replace(problem, path=name, line=_line_of(name, content, problem.field))
        yield problem


def _site_contents(read: Read) -> list[tuple[str, bytes]]:
    return [(name, content) for name in SITE_FILES if (content := read(name, LARGEST_CONFIGURATION)) is not None]


def read_rules(root: Path, name: str, largest: int) -> bytes | None:
    """Read a file of the work tree that decides how others are read; None if there is none.

    Raises ConfigurationError if it is there and cannot be read.
    """
    try:
        return read_inside(root, name, largest)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise ConfigurationError(
            f"{basename(name)} cannot be read: {error.strerror}.",
            where=str(root / name),
            fix=fix_of(error, name, "Put a regular file there that you may read."),
        ) from error


def _toml(name: str, content: bytes) -> dict[str, Any]:
    try:
        return read_toml(content)
    except UnreadableError as error:
        raise error_of(unreadable(name, error).in_file(name)) from None


def _site(name: str, content: bytes, table: Any) -> Parsed[SiteConfig]:
    line = partial(_line_of, name, content)
    if not isinstance(table, dict):
        what = Finding("error", f"[tool.sitegen] is {describe(table)}, a table is wanted.", "Write [tool.sitegen].")
        return Parsed(SiteConfig(), (what.without_effect(),))
    findings: list[Finding] = []
    valid, misfits = valid_part(SiteConfig, table)
    for location, misfit in misfits:
        if location in _NOT_OF_A_FILE and misfit["type"] in UNKNOWN:
            reason, fix = _NOT_OF_A_FILE[location]
            message = f"A file cannot set {key_path(location)}: {reason}."
            findings.append(Finding("error", message, fix, line=line(key_path(location))))
            continue
        finding = finding_of(misfit, line(key_path(location)), SiteConfig)
        if location[0] == "redact" or nearest(str(location[0]), names_of(SiteConfig)) == "redact":
            raise error_of(finding.in_file(name))
        findings.append(finding.without_effect())
    wrong = list(_wrong_values(adapter_of(SiteConfig).validate_python(valid)))
    for location, message, fix in wrong:
        findings.append(Finding("error", message, fix, line=line(key_path(location))).without_effect())
    for location, _, _ in reversed(wrong):  # the last item of a list first
        remove(valid, location)
    return Parsed(adapter_of(SiteConfig).validate_python(valid), tuple(findings))


def _wrong_values(site: SiteConfig) -> Iterator[tuple[Location, str, str]]:
    """Yield the place of each value of the right type that cannot be meant, what is wrong with it, and what to do."""
    for index, (name, revision) in enumerate(site.baselines.items()):
        if index >= MOST_BASELINES:
            message = f"baselines names more than {MOST_BASELINES} revisions: {describe(name)} is one more."
            yield ("baselines", name), message, "Remove those that nobody compares with."
        elif not _BASELINE.fullmatch(name):
            message = f"The name of a baseline is {describe(name)}, which no command can take."
            fix = "Use letters, digits, '.', '_' and '-', beginning with a letter or digit."
            yield ("baselines", name), message, fix
        elif revision.startswith("-") or not revision.isprintable() or not revision:
            message = f"{key_path(('baselines', name))} is {describe(revision)}, which cannot be a revision."
            yield ("baselines", name), message, "Write a tag, a branch or the id of a commit."
    for key, fix in site.llm.misfits():
        yield ("llm", key), f"llm.{key} is {describe(getattr(site.llm, key))}.", fix
    # A slash at the start of a glob is the project's root.
    paths: list[tuple[Location, str, str]] = [(("evals_dir",), site.evals_dir, site.evals_dir)]
    paths += [(("mapping", at), path, path) for at, path in enumerate(site.mapping)]
    paths += [(("instructions", at), glob, glob.lstrip("/")) for at, glob in enumerate(site.instructions)]
    for location, stated, path in paths:
        if leads_out(path):
            yield location, f"{key_path(location)} is {describe(stated)}: {OUTSIDE}.", FIX
    for key in ("repository_url", "base_url"):
        address = getattr(site, key)
        if address and not is_web_address(address):
            message = f"{key} is no web address without secrets."  # no page may show what is refused
            fix = "Write one such as https://example.org/path: http or https, without user name, ? and #."
            yield (key,), message, fix


def _line_of(file: str, content: bytes, key: str) -> int | None:
    """Return the line of the innermost part of a key that has one, by its spelling: tomllib does not report lines."""
    wanted = "tool.sitegen." * (file == SITE_FILES[1]) + "".join(key.split()).replace("[", ".[")
    lines, steps = _lines_of(content), wanted.split(".", _DEEPEST)
    return next(filter(None, (lines.get(tuple(steps[:depth])) for depth in range(_DEEPEST, 0, -1))), None)


@lru_cache(maxsize=2)  # a file may have thousands of keys that fit nothing
def _lines_of(content: bytes) -> dict[tuple[str, ...], int]:
    """Return the first line of each key of a file and of each table around it, by their steps, ``_DEEPEST`` at most."""
    lines: dict[tuple[str, ...], int] = {}
    tables, table = Counter[str](), list[str]()
    for number, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), 1):
        is_header = line.lstrip().startswith("[")
        before, end, _ = line.partition("]" if is_header else "=")
        name = re.sub(r"""[\s"']|^\[+""", "", before)
        steps = [*([] if is_header else table), *name.split(".", _DEEPEST)][:_DEEPEST]
        if line.lstrip().startswith("[["):
            steps.append(f"[{tables[name]}]")
            tables[name] += 1
        for depth in range(len(steps) if end else 0):
            lines.setdefault(tuple(steps[: depth + 1]), number)
        table = steps if is_header and end else table
    return lines
