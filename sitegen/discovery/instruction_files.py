"""Files that tell a model what to do, by where they lie and what they are called, else by what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sitegen.config import INSTRUCTIONS
from sitegen.discovery.contents import Shelf
from sitegen.discovery.output_series import is_result_by_name, run_globs_of
from sitegen.discovery.tracked import TrackedFile
from sitegen.history.globs import compiled

_TEXTS: Final = ("md", "txt", "yaml", "yml", "json", "j2", "jinja", "jinja2", "mustache", "hbs", "toml")

PLACES: Final = (
    (".claude/commands/**/*.md", "commands of Claude Code"),
    (".claude/rules/**/*.md", "rules of Claude Code"),
    (".github/copilot-instructions.md", "instructions of GitHub Copilot"),
    (".github/instructions/**/*.md", "instructions of GitHub Copilot"),
    (".github/prompts/**/*.md", "prompts of GitHub Copilot"),
    (".github/chatmodes/**/*.md", "chat modes of GitHub Copilot"),
    (".github/agents/**/*.md", "agents of GitHub Copilot"),
    (".cursor/rules/**/*.mdc", "rules of Cursor"),
    (".cursor/rules/**/*.md", "rules of Cursor"),
    (".cursor/commands/**/*.md", "commands of Cursor"),
    (".cursorrules", "rules of Cursor"),
    (".windsurfrules", "rules of Windsurf"),
    (".windsurf/rules/**/*.md", "rules of Windsurf"),
    (".clinerules", "rules of Cline"),
    (".clinerules/**/*.md", "rules of Cline"),
    (".roo/rules*/**/*.md", "rules of Roo Code"),
    (".kiro/steering/**/*.md", "steering of Kiro"),
    (".kiro/skills/**/*.md", "skills of Kiro"),
    (".agents/**/*.md", "agents and skills"),
    (".codex/prompts/**/*.md", "prompts of Codex"),
    (".gemini/**/*.md", "instructions of Gemini CLI"),
    (".goosehints", "hints of Goose"),
    ("**/CLAUDE.md", "instructions of Claude Code, of single folders"),
    ("**/AGENTS.md", "instructions of agents, of single folders"),
    ("**/GEMINI.md", "instructions of Gemini CLI"),
    ("**/SKILL.md", "skills"),
    ("**/skills/**/*.md", "skills"),
    ("**/agents/**/*.agent.md", "agents"),
    ("**/*.agent.md", "agents"),
    ("**/*.chatmode.md", "chat modes"),
    ("**/*.instructions.md", "instructions, by their names"),
    ("**/*.prompt.md", "prompts, by their names"),
    ("**/*.prompt", "prompts, by their names"),
    ("**/*.prompty", "prompts, by their names"),
    *((f"**/*.prompt.{ending}", "prompts, by their names") for ending in ("txt", "yaml", "yml", "json", "toml")),
    *((f"**/prompts/**/*.{ending}", "files in a folder of prompts") for ending in _TEXTS),
    *((f"**/prompt/**/*.{ending}", "files in a folder of prompts") for ending in ("md", "txt", "j2")),
    *(
        (f"**/{folder}/**/*.{ending}", f"files in a folder of {folder}")
        for folder in ("variants", "personas")
        for ending in ("md", "txt")
    ),
    *((f"**/prompt*.{ending}", "prompts, by their names") for ending in ("md", "txt", "j2", "jinja2")),
    *((f"**/*[_-]prompt*.{ending}", "prompts, by their names") for ending in ("md", "txt", "j2", "jinja2")),
    *((f"**/*[_-]instructions.{ending}", "instructions, by their names") for ending in ("md", "txt")),
    *((f"**/system[_-]prompt*.{ending}", "system prompts") for ending in ("yaml", "yml", "json")),
)
"""(glob, what lies there), the surest first. A file belongs to the first that names it."""

CODE: Final = tuple(
    (f"**/*prompts.{ending}", "code that is named after the prompts in it") for ending in ("py", "ts", "js")
)
"""Where no text instructs anybody, the prompts stand in code."""

_NOT_INSTRUCTIONS = re.compile(
    r"(?:^|/)(?:README|CHANGELOG|HISTORY|CONTRIBUTING|LICEN[CS]E|CODE_OF_CONDUCT|SECURITY|NOTICE|TODO|ROADMAP)[^/]*$|"
    r"(?:^|/)(?:docs?|tests?|test[_-]data|testdata|fixtures?|blog|examples?|results?|runs?|outputs?|reports?|logs?|requirements)/|"
    r"requirements[^/]*\.txt$|robots\.txt$|llms(?:-full)?\.txt$|^\.github/(?:ISSUE|PULL)",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\b(?:you are (?:a|an|the)\b|you (?:must|should|will|need to)\b|your (?:task|job|role|goal) is|do not\b|"
    r"don't\b|never\b|always\b|make sure\b|respond (?:with|in|only)\b|return (?:only|a|the|json)\b|"
    r"output (?:only|json|format)\b|think step by step|step \d+:|if the user\b|"
    r"given the following\b|answer (?:only|with|the)\b)",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"\byou are (?:a|an|the|now)\b|\byour (?:task|job|role|goal) is\b|\bact as (?:a|an|the)\b", re.IGNORECASE
)
"""What hardly any text says but one that instructs a model."""

_SURE: Final = 2
_LEAST_CHARACTERS: Final = 600
_LARGEST: Final = 200_000
_MOST_READ: Final = 150
_OFTEN: Final = 150
"""Words to one imperative, at most, in a text that instructs."""


class InstructionGlob(NamedTuple):
    """One glob of the configuration, and what it names."""

    glob: str
    what: str
    files: int
    edits: int
    """Commits that wrote one of them, each file counted."""


def instruction_globs(
    files: Sequence[TrackedFile], shelf: Shelf, kept: Sequence[str] = INSTRUCTIONS
) -> tuple[InstructionGlob, ...]:
    """The globs that name the instruction files, beginning with those of *kept* that name any.

    By content only texts are found that no place speaks for, outside folders of results and documentation.
    """
    left = [file for file in files if not file.deleted or compiled(tuple(kept)).fullmatch(file.path)]
    found: list[InstructionGlob] = []
    for glob, what in (*((glob, "as by default") for glob in kept), *PLACES):
        left = _take(found, left, glob, what, everything=what == "as by default")
    for glob, what in _by_content(left, shelf):
        left = _take(found, left, glob, what, everything=True)
    if not found:
        for glob, what in CODE:
            left = _take(found, left, glob, what, everything=False)
    return tuple(found)


def _take(
    globs: list[InstructionGlob], left: list[TrackedFile], glob: str, what: str, *, everything: bool
) -> list[TrackedFile]:
    """Note a glob that names any of the files, and give back those that it does not name."""
    pattern = compiled((glob,))
    named = [file for file in left if pattern.fullmatch(file.path)]
    if not any(everything or not _NOT_INSTRUCTIONS.search(file.path) for file in named):
        return left
    globs.append(InstructionGlob(glob=glob, what=what, files=len(named), edits=sum(file.versions for file in named)))
    return [file for file in left if not pattern.fullmatch(file.path)]


def _by_content(files: Iterable[TrackedFile], shelf: Shelf) -> list[tuple[str, str]]:
    """Texts that are long and full of imperatives: a folder of three such files or more, else each by itself."""
    candidates = [
        file
        for file in files
        if file.ending in ("md", "txt", "j2", "jinja2")
        and not (_NOT_INSTRUCTIONS.search(file.path) or is_result_by_name(file.path) or run_globs_of(file.path))
    ]
    candidates.sort(key=lambda file: (-file.versions, file.path))
    told = {file.path: _instructs(shelf.content(file.oid)) for file in candidates[:_MOST_READ]}
    folders: dict[tuple[str, str], list[TrackedFile]] = {}
    for file in candidates:
        folders.setdefault((file.folder, file.ending), []).append(file)
    globs = []
    for (folder, ending), members in sorted(folders.items()):
        sure = [file for file in members if told.get(file.path) == _SURE]
        likely = sum(told.get(file.path, 0) > 0 for file in members)
        if folder and len(sure) >= 2 and likely * 2 >= len(members):
            globs.append((f"{_literal(folder)}/*.{ending}", "texts that instruct, by what they say"))
        else:
            globs += [(_literal(file.path), "a text that instructs, by what it says") for file in sure]
    return globs


def _instructs(content: bytes | None) -> int:
    """Whether a text instructs a model: 0 hardly, 1 it is full of imperatives, 2 it addresses the model besides."""
    if content is None or len(content) > _LARGEST:
        return 0
    text = content.decode("utf-8", "replace")
    imperatives = len(_IMPERATIVE.findall(text))
    if len(text) < _LEAST_CHARACTERS or imperatives < 4 or imperatives * _OFTEN < len(text.split()):
        return 0
    return _SURE if _ADDRESSED.search(text) else 1


def _literal(path: str) -> str:
    """A path as a glob that names nothing else."""
    return re.sub(r"([*?\[\\])", r"\\\1", path)
