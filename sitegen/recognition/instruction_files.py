"""Finds the files that instruct a model, by folder and name or else by their text."""

import re
from collections.abc import Iterator, Sequence
from glob import escape
from posixpath import join
from typing import Final

from sitegen.history.layout import Layout
from sitegen.model.frozen import grouped
from sitegen.recognition.files import (
    MAY_HOLD_PROMPTS,
    MOST_FILES,
    SKIPPED,
    FilesOfHistory,
    InstructionGlob,
    SearchedFile,
    TrackedFile,
    listed_file,
)
from sitegen.recognition.output_series import is_result_by_name, run_globs_of
from sitegen.recognition.searched_files import Search
from sitegen.text.globs import compiled

_OF_TOOLS: Final = {
    "commands and rules of Claude Code": ".claude/{commands,rules}/**/*.md",
    "rules of Copilot": ".github/copilot-instructions.md .github/{instructions,prompts,chatmodes,agents}/**/*.md",
    "rules and commands of Cursor": ".cursor/rules/**/*.mdc .cursor/{rules,commands}/**/*.md .cursorrules",
    "rules of Windsurf": ".windsurfrules .windsurf/rules/**/*.md",
    "rules of Cline and Roo Code": ".clinerules .clinerules/**/*.md .roo/rules*/**/*.md",
    "steering and skills of Kiro": ".kiro/{steering,skills}/**/*.md",
    "prompts of Codex, Gemini CLI and Goose": ".codex/prompts/**/*.md .gemini/**/*.md .goosehints",
    "instructions of agents, of single folders": "**/CLAUDE.md **/AGENTS.md **/GEMINI.md",
    "agents and skills": ".agents/**/*.md **/SKILL.md **/skills/**/*.md",
    "agents and chat modes": "**/*.agent.md **/*.chatmode.md",
    "instructions, by their names": "**/*.instructions.md",
    "prompts, by their names": "**/*.{prompt,prompty} **/*.prompt.{md,txt,yaml,yml,json,toml}",
}
_OF_ENDINGS: Final = (
    ("**/prompts/**/*.", "md txt yaml yml json j2 jinja jinja2 mustache hbs toml", "files in a folder of prompts"),
    ("**/prompt/**/*.", "md txt j2", "files in a folder of prompts"),
    ("**/instructions/**/*.", "md txt", "files in a folder of instructions"),
    ("**/variants/**/*.", "md txt", "files in a folder of variants"),
    ("**/personas/**/*.", "md txt", "files in a folder of personas"),
    ("**/prompt*.", "md txt j2 jinja2", "prompts, by their names"),
    ("**/*[_-]prompt*.", "md txt j2 jinja2", "prompts, by their names"),
    ("**/*[_-]instructions.", "md txt", "instructions, by their names"),
    ("**/*[_-]prompts.", "yaml yml", "prompts, by their names"),
    ("**/prompts.", "yaml yml", "prompts, by their names"),
    ("**/system[_-]prompt*.", "yaml yml json", "system prompts"),
)
_PLACES: Final = (
    *((glob, meaning) for meaning, globs in _OF_TOOLS.items() for glob in globs.split()),
    *((f"{start}{ending}", meaning) for start, endings, meaning in _OF_ENDINGS for ending in endings.split()),
)
"""(glob, meaning of its files), the most specific first. A file belongs to the first glob that matches it."""
_NOT_INSTRUCTIONS = re.compile(
    r"(?:^|/)(?:README|CHANGELOG|HISTORY|CONTRIBUTING|LICEN[CS]E|CODE_OF_CONDUCT|SECURITY|NOTICE|TODO|ROADMAP)[^/]*$|"
    r"(?:^|/)(?:docs?|tests?|test[_-]data|testdata|fixtures?|blog|examples?|results?|runs?|outputs?|reports?|logs?|requirements)/|"
    r"(?:^|[/_.-])(?:results?|outputs?|scores|metrics)\.[^/.]+$|requirements[^/]*\.txt$|robots\.txt$|llms(?:-full)?\.txt$|^\.github/(?:ISSUE|PULL)",
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
"""Phrases that rarely occur outside instructions for a model."""
_HOLDS_A_PROMPT = re.compile(
    rb"\b(?:\w{1,60}_)?(?:PROMPT|prompt|\w{1,60}Prompt|SYSTEM|system|INSTRUCTIONS|instructions)(?:_\w{1,60})?"
    rb"\s*(?::[^=\n]{1,40})?=\s*[rf]{0,2}(?:\"{3}|'{3}|`|\(\s*\n\s*[rf]{0,2}[\"']|[\"'][^\n]{80})|"
    rb"(?m:^)[ \t-]*[\"']?(?:\w{1,60}[_-])?(?:prompt|Prompt|system|instructions)[\"']?[ \t]*:[ \t]*"
    rb"(?:[|>][-+]?[ \t]*\n|[\"'][^\n]{80})"
)
"""Matches a text of several lines, or a long one, under a name or key such as ``JUDGE_PROMPT`` or ``system``.
The parts of names are bounded: a word of megabytes, such as encoded data, would take hours."""
_MOST_FOLDERS: Final = 5_000  # of a commit that are listed
_MOST_CODE: Final = 100  # the most files of code and data in which prompts are looked for
_CERTAIN: Final = 2  # how certain it is that a text instructs: 0, 1 or this
_LEAST_CHARACTERS: Final = 600  # of a text that instructs
_LARGEST: Final = 200_000  # characters
_MOST_READ: Final = 150  # files
_WORDS_PER_IMPERATIVE: Final = 150  # the most words per imperative in a text that instructs


def candidates_at(search: Search, layout: Layout) -> FilesOfHistory:
    """List what may instruct a model in one commit besides the files that the layout names for that, or for an eval.

    Folders of results and of documentation are left out. One more output therefore leaves the list as it is.
    """
    names, folders = search.files.names, [""]
    met: list[TrackedFile] = []
    for folder in folders:  # which grows
        for name, is_folder in sorted(names(folder).items()):
            path = join(folder, name)
            if is_folder:
                is_outside = _NOT_INSTRUCTIONS.search(f"{path}/") or SKIPPED.search(f"{path}/")
                folders += [] if is_outside or len(folders) >= _MOST_FOLDERS else [path]
            elif not (layout.is_instruction(path) or layout.places(path)) and len(met) < MOST_FILES:
                file = listed_file(path, search.files.blob_id(path) or "")
                met += [file] if file and not file.refused else []
    return FilesOfHistory(head="", commits=0, boundary=(), met=tuple(met), links=())


def instruction_globs(files: Sequence[SearchedFile], configured: Sequence[str]) -> tuple[InstructionGlob, ...]:
    """Return globs that match the instruction files, starting with the ``configured`` globs that match any.

    The text of a file counts only if no glob matches it, and only outside folders of results and documentation.
    """
    remaining = [file for file in files if not file.deleted or compiled(tuple(configured)).fullmatch(file.path)]
    globs: list[InstructionGlob] = []

    def in_order() -> Iterator[tuple[str, str, bool]]:
        """Yield (glob, meaning, whether it counts if all of its files look like documentation)."""
        yield from ((glob, "as by default, or as results name them", True) for glob in configured)
        yield from ((glob, meaning, False) for glob, meaning in _PLACES)
        yield from ((glob, meaning, True) for glob, meaning in _globs_by_content(remaining))

    for glob, meaning, everything in in_order():
        pattern = compiled((glob,))
        matches = [file for file in remaining if pattern.fullmatch(file.path)]
        if any(everything or not _NOT_INSTRUCTIONS.search(file.path) for file in matches):
            edits = sum(file.versions for file in matches)
            globs.append(InstructionGlob(glob=glob, meaning=meaning, files=len(matches), edits=edits))
            remaining = [file for file in remaining if not pattern.fullmatch(file.path)]
    return tuple(globs)


def _globs_by_content(files: Sequence[SearchedFile]) -> list[tuple[str, str]]:
    """Return (glob, meaning) for long texts full of imperatives, and for code and data that hold prompts.

    It is a glob for a file, or for a folder of mostly such texts.
    """
    candidates = [
        file
        for file in files
        if file.ending in ("md", "txt", "j2", "jinja", "jinja2", "mustache", "hbs")
        and not (_NOT_INSTRUCTIONS.search(file.path) or is_result_by_name(file.path) or run_globs_of(file.path))
    ]
    candidates.sort(key=lambda file: (-file.versions, file.path))
    certainty = {file.path: _certainty(file.content) for file in candidates[:_MOST_READ]}
    folders = grouped(((file.folder, file.ending), file) for file in candidates)
    globs = []
    for (folder, ending), members in sorted(folders.items()):
        certain = [file for file in members if certainty.get(file.path) == _CERTAIN]
        likely = sum(certainty.get(file.path, 0) > 0 for file in members)
        if folder and len(certain) >= 2 and likely * 2 >= len(members):
            globs.append((f"{escape(folder)}/*.{ending}", "texts that instruct, by what they say"))
        else:
            globs += [(escape(file.path), "a text that instructs, by what it says") for file in certain]
    holders = [file for file in files if MAY_HOLD_PROMPTS.search(file.path) and not _NOT_INSTRUCTIONS.search(file.path)]
    holders.sort(key=lambda file: ("prompt" not in file.name.casefold(), -file.versions, file.path))
    for file in holders[:_MOST_CODE]:
        if _HOLDS_A_PROMPT.search(file.content or b""):
            globs.append((escape(file.path), "prompts, by the names of texts in it"))
    return globs


def _certainty(content: bytes | None) -> int:
    """Return how certainly a text instructs a model: 0 hardly, 1 full of imperatives, 2 it also addresses the model."""
    if content is None or len(content) > _LARGEST:
        return 0
    text = content.decode("utf-8", "replace")
    imperatives = len(_IMPERATIVE.findall(text))
    if len(text) < _LEAST_CHARACTERS or imperatives < 4 or imperatives * _WORDS_PER_IMPERATIVE < len(text.split()):
        return 0
    return _CERTAIN if _ADDRESSED.search(text) else 1
