"""JUnit XML: what test runners write, pytest with ``--junitxml`` and others alike.

There is no standard of it. Read is what runners have in common: suites, in each other or one after the other, and in
them cases that passed, or hold ``failure``, ``error`` or ``skipped``.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from sitegen.data_files.reading import MAX_DEPTH, UnreadableError
from sitegen.model.metrics import Counts
from sitegen.scoring.judged.case import JudgedCase, JudgedResults, JudgedRun, Opinion, Usage
from sitegen.scoring.judged.formats.json_values import LONGEST
from sitegen.scoring.judged.formats.result_format import ResultFormat

_FIX: Final = "Let the test runner write it again."
_OUTCOMES: Final = ("failure", "error", "skipped")
_SUITES: Final = ("testsuites", "testsuite")


def _recognises(ending: str, head: bytes) -> bool:
    return ending == "xml"


def _read(content: bytes) -> JudgedResults:
    reader = _JunitReader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    parser.EntityDeclHandler = reader.refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UnreadableError(f"it is no valid XML: {expat.ErrorString(error.code)}", _FIX, error.lineno) from None
    except (ValueError, LookupError):  # an encoding that nobody knows
        raise UnreadableError("it is no text in an encoding that is known", "Write it in UTF-8.") from None
    return JudgedResults(tuple(reader.cases), (), JudgedRun(tool=reader.tool, at=reader.at))


class _JunitReader:
    """Collects cases while the parser goes through the file; nothing else of it is kept."""

    def __init__(self) -> None:
        self.cases: list[JudgedCase] = []
        self.tool = ""
        self.at = ""
        self._ids: dict[str, int] = {}
        self._depth = 0
        self._suites: list[str] = []
        self._case: dict[str, str] | None = None
        self._outcome = ""
        self._message = ""
        self._inside = ""
        self._text: list[str] = []

    def refuse_doctype(self, *_: object) -> None:
        """Entities can make much of little, or name other files; no test runner writes any."""
        raise UnreadableError("it has a document type or entities, which are refused", "Write it without.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.")
        if self._depth == 1 and name not in _SUITES:
            raise UnreadableError(f"it is no JUnit XML: its root is <{name[:80]}>", _FIX)
        if name in _SUITES:
            self._suites.append(attributes.get("name", ""))
            self.tool = self.tool or attributes.get("name", "")[:LONGEST]
            self.at = self.at or attributes.get("timestamp", "")[:LONGEST]
        elif name == "testcase":
            self._case, self._outcome, self._message = attributes, "", ""
        elif self._case is not None and name in _OUTCOMES and not self._outcome:
            self._outcome, self._message = name, attributes.get("message", "")
            self._inside, self._text = name, []

    def text(self, data: str) -> None:
        """Text of an element."""
        if self._inside and sum(map(len, self._text)) < LONGEST:
            self._text.append(data)

    def end(self, name: str) -> None:
        """An element ends."""
        self._depth -= 1
        if name in _SUITES:
            self._suites.pop()
        elif name == self._inside:
            self._message = self._message or "".join(self._text).strip()
            self._inside = ""
        elif name == "testcase" and self._case is not None:
            self.cases.append(self._judged(self._case))
            self._case = None

    def _judged(self, attributes: dict[str, str]) -> JudgedCase:
        suite = attributes.get("classname") or next((each for each in reversed(self._suites) if each), "")
        wanted = "::".join(filter(None, (suite, attributes.get("name", "")))) or f"case {len(self.cases) + 1}"
        place = self._ids[wanted] = self._ids.get(wanted, 0) + 1
        message, skipped, passed = self._message[:LONGEST], self._outcome == "skipped", not self._outcome
        attribute = suite or "tests"
        counts = Counts(tp=1) if passed else Counts(fp=1, fn=1, wrong_value=1)
        return JudgedCase(
            id=wanted if place == 1 else f"{wanted} ({place})",
            opinion=Opinion(
                name="",
                score=None if skipped else float(passed),
                misses=(f"{attribute}: {message}",) if self._outcome == "failure" else (),
                reasoning=f"Skipped: {message}" if skipped else "",
                counts=() if skipped else ((attribute, counts),),
            ),
            judges=(),
            passed=None if skipped else passed,
            error=message or "error" if self._outcome == "error" else "",
            usage=Usage(latency=_seconds(attributes.get("time", ""))),
        )


def _seconds(written: str) -> float | None:
    """A time as runners write it, some of them with commas between thousands."""
    try:
        seconds = float(written.replace(",", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


JUNIT: Final = ResultFormat(name="JUnit XML", file_names=("junit.xml",), recognises=_recognises, read=_read)
