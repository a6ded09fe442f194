"""Writes the files of ``sitegen init``: skeletons, configuration, and copies of templates.

A workflow installs the sitegen that runs, from where it was installed. Comments in the configuration describe each
entry and its reason.
"""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import sitegen
from sitegen import __version__
from sitegen.data_files.project_files import NotOpenedError, write_inside
from sitegen.errors import ConfigurationError, RepositoryError, SitegenError
from sitegen.history.repository import Repository
from sitegen.history.repository_place import find_repository
from sitegen.project import OWN_TEMPLATES
from sitegen.recognition.files import InstructionGlob, Proposal
from sitegen.text.plain import line, web_address

SKELETONS: Final = (
    ("manifest.yaml", "evals/manifest.yaml"),
    ("field_mapping.yaml", "schemas/field_mapping.yaml"),
    ("agent.md", ".claude/agents/verifier.md"),
    ("instructions.md", ".claude/instructions/verifier/instructions.md"),
    ("error-types.md", ".claude/instructions/verifier/error-types.md"),
    ("metrics.md", ".claude/instructions/verifier/metrics.md"),
    ("critic.md", ".claude/agents/critic.md"),
    ("critic-instructions.md", ".claude/instructions/critic/instructions.md"),
    ("extractor.md", ".claude/instructions/extractors/instructions.md"),
    ("settings.json", ".claude/settings.json"),
)
"""(name in ``sitegen/recognition/skeletons``, path in the project), in reading order."""

_GITHUB: Final[tuple[tuple[str, str], ...]] = (
    ("pages.yml", ".github/workflows/pages.yml"),
    ("gate.yml", ".github/workflows/gate.yml"),
    ("gate-comment.yml", ".github/workflows/gate-comment.yml"),
)
_GITLAB: Final[tuple[tuple[str, str], ...]] = (
    ("gitlab-pages.yaml", ".gitlab/sitegen.yml"),
    ("gitlab-ci.yaml", ".gitlab-ci.yml"),
)

_SKELETONS: Final = files("sitegen") / "recognition" / "skeletons"
THEME: Final = "theme.css"
_COPIED: Final = frozenset({".html", ".css", ".js", ".svg"})  # suffixes of templates and assets that can be copied


def skeleton_files() -> dict[str, bytes]:
    """Return every skeleton by its path in the project."""
    return {path: (_SKELETONS / name).read_bytes() for name, path in SKELETONS}


def workflows(repository: Repository, *, vendor: bool) -> dict[str, bytes]:
    """Return what publishes a project's site on the host of ``origin``, by path; none if that cannot install sitegen.

    For GitHub, also without any remote, and for GitLab these are workflows that install the sitegen that runs: from the
    package index, from the commit that it was installed from or, with ``vendor``, from a wheel beside them. For another
    host it is a script that copies the site to a web server.
    """
    origin, root = repository.origin_url(), repository.place.top
    host = urlsplit(origin or "").hostname or ""
    if "gitlab" in host or ("github" not in host and (root / ".gitlab-ci.yml").exists()):
        names, folder = _GITLAB, ".gitlab"
    elif "github" in host or origin is None or (root / ".github").is_dir():
        names, folder = _GITHUB, ".github/sitegen"
    else:
        return {"publish-site.sh": (_SKELETONS / "publish-site.sh").read_bytes()}
    contents = {}
    package = requirement()
    if vendor:
        name, content = wheel()
        contents[f"{folder}/{name}"], package = content, f"./{folder}/{name}"
    if package is None:
        return {}
    branch = _quoted(repository.default_branch() or "main")
    for name, path in names:
        text = (_SKELETONS / name).read_text("utf-8").replace(f'"{PACKAGE}"', f'"{package}"')
        contents[path] = text.replace('branches: ["main"]', f"branches: [{branch}]").encode()
    return contents


def wheel() -> tuple[str, bytes]:
    """Return the name and the content of a wheel of the sitegen that runs, made of the files that are installed.

    The same files make the same bytes. Raises SitegenError if sitegen runs without having been installed.
    """
    try:
        installed = distribution(PACKAGE)
    except PackageNotFoundError:
        raise SitegenError("sitegen was not installed.", fix="Install it with pip, and run init again.") from None
    name = f"{PACKAGE.replace('-', '_')}-{installed.version}"
    package = Path(sitegen.__file__).parent
    folders = {package: "sitegen"}
    if not (package / "site_templates").is_dir():  # of a clone, which has it beside the package
        folders[package.parent / "site_templates"] = "sitegen/site_templates"
    contents = {
        f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for folder, place in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    for file in ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE"):
        contents[f"{name}.dist-info/{file}"] = (installed.read_text(file) or "").encode()
    rows = [
        f"{path},sha256={urlsafe_b64encode(sha256(content).digest()).decode().rstrip('=')},{len(content)}\n"
        for path, content in contents.items()
    ]
    contents[f"{name}.dist-info/RECORD"] = "".join([*rows, f"{name}.dist-info/RECORD,,\n"]).encode()
    archive = BytesIO()
    with ZipFile(archive, "w", ZIP_DEFLATED) as written:
        for path, content in sorted(contents.items()):
            info = ZipInfo(path)  # without the time of today
            info.external_attr = 0o644 << 16
            written.writestr(info, content, ZIP_DEFLATED)
    return f"{name}-py3-none-any.whl", archive.getvalue()


def copy_templates(root: Path, ours: Path, names: Sequence[str]) -> dict[Path, bool]:
    """Copy built-in templates and assets into the project's own folder, where they override the built-in ones.

    A name is a file or a folder below ``site_templates/``, ``theme.css`` or ``all``. Raises ConfigurationError
    if there is no such name, SitegenError if a folder cannot be made.
    """
    templates = {path.relative_to(ours).as_posix(): path for path in sorted(ours.rglob("*")) if path.suffix in _COPIED}
    templates = {path: file for path, file in templates.items() if not path.startswith("serve/")}  # of no site
    contents: dict[str, bytes] = {}
    for name in names:
        if name == THEME:
            contents[name] = (_SKELETONS / name).read_bytes()
            continue
        folder = "" if name == "all" else f"{name.rstrip('/')}/"
        matches = [path for path in templates if path == name or path.startswith(folder)]
        if not matches:
            close = get_close_matches(name, (THEME, *templates), 1, 0.4)
            fix = f"Did you mean {close[0]!r}?" if close else f"Look into {ours}."
            raise ConfigurationError(f"There is no template {name!r}.", fix=fix)
        contents |= {path: templates[path].read_bytes() for path in matches}
    return write_files(root, {f"{OWN_TEMPLATES}/{name}": content for name, content in contents.items()})


def write_files(root: Path, contents: Mapping[str, bytes]) -> dict[Path, bool]:
    """Write files whose paths are free. Returns all paths, and whether each is new.

    Raises SitegenError if a folder cannot be made.
    """
    written = {}
    for name, content in contents.items():
        target = root / name
        try:
            write_inside(root, name, content, replace=False)
            written[target] = True
        except FileExistsError:
            written[target] = False
        except (NotOpenedError, NotADirectoryError) as error:
            message, fix = f"A folder cannot be written to: {error.strerror}.", "Put a folder there"
            if not isinstance(error, NotOpenedError):
                message, fix = "A file stands where a folder is needed.", "Rename it"
            raise SitegenError(message, where=str(target.parent), fix=f"{fix}, and run init again.") from None
    return written


PACKAGE: Final = "sitegen-evals"

PUBLISHED: Final = False
"""Whether a package index has sitegen. Tests check that the README agrees."""
_PUBLIC: Final = re.compile(r"https://[\w.-]+(/[\w.~-]+)+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def source() -> str | None:
    """Return the web repository and commit that sitegen was installed from, in pip's notation; None if there is none.

    For an installation from a local folder, it is the checked-out commit at the web address of the remote ``origin``.
    """
    try:
        record = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return source_of(json.loads(record)) if record else None


def source_of(record: dict[str, Any]) -> str | None:
    """Return the same for a record as PEP 610 describes it. Credentials are left out."""
    if "dir_info" in record:
        folder = Path(unquote(urlsplit(record["url"]).path))
        try:
            place, head = find_repository(folder)
            if place.root is None or place.root != folder.resolve():
                return None
            address, commit = Repository.open(folder).origin_url(), head
        except RepositoryError:
            return None
    else:
        address, commit = web_address(record["url"]), record.get("vcs_info", {}).get("commit_id")
    if not _PUBLIC.fullmatch(address or "") or not _COMMIT.fullmatch(commit or ""):
        return None
    return f"git+{address}@{commit}"


def requirement() -> str | None:
    """Return what pip installs as this sitegen; None if it is neither in an index nor at an address on the web."""
    address = source()
    return f"{PACKAGE} @ {address}" if address else f"{PACKAGE}=={__version__}" if PUBLISHED else None


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_COMMENT: Final = 110  # the length of a comment's lines, in characters


def manifest_line(proposal: Proposal) -> str:
    """Return the manifest that has a proposal alone, in one line."""
    return flow({"version": "2.0", "evals": {proposal.id: proposal.entry}})


def manifest_text(entries: Iterable[tuple[str, Mapping[str, Any], Sequence[str]]], about: str) -> str:
    """Return the text of ``manifest.yaml``. An entry is (id, keys, sentences above the keys)."""
    entries = tuple(entries)
    rows = [*_comments(about, ""), 'version: "2.0"', "evals:" if entries else "evals: {}"]
    for eval_id, keys, comment in entries:
        rows.append(f"  {_yaml_text(eval_id)}:")
        for sentence in comment:
            rows += _comments(sentence, "    ")
        rows += [f"    {_yaml_text(key)}: {flow(value)}" for key, value in keys.items()]
    return "\n".join(rows) + "\n"


def site_text(globs: Sequence[InstructionGlob]) -> str:
    """Return the text of ``sitegen.toml``: the globs of the instruction files."""
    keys = [(f"  {_quoted(glob.glob)},", f"# {glob.summary}") for glob in globs]
    width = min(60, max(len(key) for key, _ in keys))
    lines = [
        "# Which files instruct the model: sitegen follows every edit of them.",
        "instructions = [",
        *(f"{key:<{width}}  {comment}" for key, comment in keys),
        "]",
    ]
    return "\n".join(lines) + "\n"


def _comments(text: str, indent: str) -> list[str]:
    width = _COMMENT - len(indent) + 1
    return [
        f"{indent}# {row}"
        for row in wrap(" ".join(line(text).split()), width, break_long_words=False, break_on_hyphens=False)
    ]


def flow(value: object) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml_text(str(key))}: {flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return _yaml_text(value) if isinstance(value, str) else json.dumps(value)


def _yaml_text(text: str) -> str:
    """Return a text as a YAML scalar, quoted only if YAML would otherwise read another value."""
    return text if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS else _quoted(text)


def _quoted(text: str) -> str:
    """Return a text in double quotes, which YAML and TOML read alike."""
    return json.dumps(text, ensure_ascii=False)
