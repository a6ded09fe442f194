"""Globs over whole paths, as ``.gitignore`` and ``pathlib`` read them, compiled to one regular expression.

``*`` and ``?`` match within a folder, ``**`` between slashes matches any number of folders, ``[a-z]`` and ``[!a-z]``
are sets, ``{a,b}`` is one of several texts, a backslash makes the next character literal, and a slash at the end
matches everything below.

``{model}``, ``{variant}``, ``{repeat}`` and ``{case}`` match a part of a name, and say who answered, in which repeat,
and what: the groups of a match, in the order of ``answerers_in``.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_SPECIAL = re.compile(r"[*?\[{\\]")
_ANSWERER = re.compile(r"(?<!\\)\{(model|variant|repeat|case)\}")
_PART = re.compile(
    r"(?P<star>\*+)|(?P<any>\?)|(?P<set>\[[!^]?\]?[^\]/]{0,200}\])|(?P<texts>\{[^{}/,]{1,99}(?:,[^{}/,]{1,99}){1,20}\})"
    rf"|(?P<answerer>{_ANSWERER.pattern})|\\(?P<plain>.)",
    re.DOTALL,
)
_SEGMENT = re.compile(r"((?:\\.|[^/])+|(?=/))(/?)", re.DOTALL)


@lru_cache(maxsize=256)
def compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern whose ``fullmatch`` accepts every path that a glob matches. Without globs it accepts none."""
    return re.compile("|".join(f"(?:{_glob_expression(glob)})" for glob in globs) or r"(?!)", re.DOTALL)


def escaped(path: str) -> str:
    """Return a glob that matches a path alone."""
    return _SPECIAL.sub(r"\\\g<0>", path)


def answerers_in(glob: str) -> tuple[str, ...]:
    """Return the names of the axes in a glob, in order: ``model`` of ``results/{model}/``."""
    return tuple(_ANSWERER.findall(glob))


def fault_in_answerers(glob: str) -> str:
    """Return why a glob does not tell who answered, and what to write; empty if it does, or names nobody."""
    names, segments = answerers_in(glob), glob.split("/")
    named = [index for index, segment in enumerate(segments) if answerers_in(segment)]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        return f"in which {{{twice}}} stands twice; write * in one of these places"
    if re.search(rf"{_ANSWERER.pattern}(?:\*|{_ANSWERER.pattern})|\*{_ANSWERER.pattern}", glob):
        return "in which nothing divides a name from what is beside it; write a text between them, such as _ or /"
    if named and any("**" in segment for segment in segments[: named[0]]):
        return f"in which ** stands before {{{names[0]}}}; write the folders, or * for each of them"
    return ""


def without_answerers(glob: str) -> str:
    """Return a glob without the names of axes in it, and with ``*`` for a number."""
    return _ANSWERER.sub("", glob).replace("[0-9]*", "*")


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a path matches one of the globs."""
    return compiled(tuple(globs)).fullmatch(path) is not None


def literal_prefix(glob: str) -> str:
    """Return the folder that holds all matches of a glob, or the file if it has no wildcards; empty for the root."""
    glob = _normal_glob(glob)
    special = _SPECIAL.search(glob)
    return glob if special is None else glob[: special.start()].rpartition("/")[0]


def _normal_glob(glob: str) -> str:
    glob = glob.removeprefix("./").lstrip("/")
    return glob + "**" if glob.endswith("/") else glob


def _glob_expression(glob: str) -> str:
    pieces = [""]
    for segment, slash in _SEGMENT.findall(_normal_glob(glob)):
        if segment != "**":
            pieces[-1] += _segment_expression(segment) + slash
        elif slash:
            pieces.append("")
        else:
            pieces[-1] += ".+"
    return _between_wildcards(["(?:[^/]+/)*?"] * (len(pieces) - 1), pieces)


def _segment_expression(segment: str) -> str:
    pieces, wildcards, end = [""], list[str](), 0
    for match in _PART.finditer(segment):
        pieces[-1] += re.escape(segment[end : match.start()])
        end = match.end()
        if match["star"] or match["answerer"]:
            wildcards.append("[^/]*?" if match["star"] else "([^/]+?)")
            pieces.append("")
        else:
            pieces[-1] += _characters(match)
    pieces[-1] += re.escape(segment[end:])
    return _between_wildcards(wildcards, pieces)


def _between_wildcards(wildcards: Sequence[str], pieces: Sequence[str]) -> str:
    """Return the expression of ``pieces`` with a wildcard between each two of them, which matches as little as it can.

    A piece with wildcards on both sides is matched where it occurs first, and nowhere else: any later place leaves less
    to the pieces after it. Without this, the time for one path grows with its length to the power of the wildcards.
    """
    first, *others = pieces
    *between, last = map("".join, zip(wildcards, others, strict=True)) if others else [""]
    return f"{first}{''.join(f'(?>{part})' for part in between)}{last}"


def _characters(match: re.Match[str]) -> str:
    if match["any"]:
        return "[^/]"
    if match["plain"]:
        return re.escape(match["plain"])
    if match["texts"]:
        return f"(?:{'|'.join(map(re.escape, match['texts'][1:-1].split(',')))})"
    content = match["set"][1:-1]
    negated = content[0] in "!^"
    content = (content[1:] if negated else content).replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    content = content.replace("&&", r"\&&").replace("||", r"\||").replace("~~", r"\~~").replace("--", r"\--")
    return f"(?!/)[{'^' if negated else ''}{content}]"
