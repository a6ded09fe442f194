"""JUnit XML, which pytest with ``--junitxml`` and most other test runners write.

There is no standard. This module reads what runners have in common: suites, which may be nested, of cases that passed
or that contain ``failure``, ``error`` or ``skipped``.
"""

from collections import Counter
from typing import Final
from xml.parsers import expat

from sitegen.data_files.reading import MAX_DEPTH, UnreadableError, too_deep
from sitegen.importers.case import ASSERTED, JudgedCase, JudgedResults, Opinion
from sitegen.importers.tool_values import LONGEST_TEXT, unique
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import Call, Usage, amount_of

_FIX: Final = "Let the test runner write it again."
_OUTCOMES: Final = ("failure", "error", "skipped")
_SUITES: Final = ("testsuites", "testsuite")


def read(content: bytes) -> JudgedResults:
    """Read the outcomes of tests. Raises UnreadableError."""
    reader, parser = _JunitReader(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    parser.EntityDeclHandler = reader.refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UnreadableError(f"it is not valid XML: {expat.ErrorString(error.code)}", _FIX, error.lineno) from None
    except (ValueError, LookupError):  # raised for an unknown encoding
        raise UnreadableError("it is not text in a known encoding", "Write it in UTF-8.") from None
    return JudgedResults(tuple(reader.cases), run=Recorded(timestamp=reader.at.strip() or None))


class _JunitReader:
    """Collects the cases while the parser goes through the file, so that no tree of it is built."""

    def __init__(self) -> None:
        self.cases: list[JudgedCase] = []
        self.at = ""
        """The time stamp of the first suite that has one."""
        self._ids = Counter[str]()
        self._depth = 0
        self._suites: list[str] = []
        self._case: dict[str, str] | None = None
        self._outcome = ""
        self._message = ""
        self._inside = ""
        self._text: list[str] = []

    def refuse_doctype(self, *_: object) -> None:
        """Entities can expand without bounds, or refer to other files. Test runners write none."""
        raise UnreadableError("it has a document type or entities, which are refused", "Write it without.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise too_deep()
        if self._depth == 1 and name not in _SUITES:
            raise UnreadableError(f"it is no JUnit XML: its root is <{name[:80]}>", _FIX)
        if name in _SUITES:
            self._suites.append(attributes.get("name", ""))
            self.at = self.at or attributes.get("timestamp", "")[:LONGEST_TEXT]
        elif name == "testcase":
            self._case, self._outcome, self._message = attributes, "", ""
        elif self._case is not None and name in _OUTCOMES and not self._outcome:
            self._outcome, self._message = name, attributes.get("message", "")
            self._inside, self._text = name, []

    def text(self, data: str) -> None:
        if self._inside and sum(map(len, self._text)) < LONGEST_TEXT:
            self._text.append(data)

    def end(self, name: str) -> None:
        self._depth -= 1
        if name in _SUITES:
            self._suites.pop()
        elif name == self._inside:
            self._message = self._message or "".join(self._text).strip()
            self._inside = ""
        elif name == "testcase" and self._case is not None:
            self.cases.append(self._judged_case(self._case))
            self._case = None

    def _judged_case(self, attributes: dict[str, str]) -> JudgedCase:
        suite = attributes.get("classname") or next(filter(None, reversed(self._suites)), "")
        name = "::".join(filter(None, (suite, attributes.get("name", "")))) or f"case {len(self.cases) + 1}"
        message, skipped, passed = self._message[:LONGEST_TEXT], self._outcome == "skipped", not self._outcome
        attribute = suite or "tests"
        return JudgedCase(
            id=unique(name, self._ids),
            opinion=Opinion(
                name="",
                score=None if skipped else float(passed),
                misses=(f"{attribute}: {message}",) if self._outcome == "failure" else (),
                reasoning=f"Skipped: {message}" if skipped else "",
                counts=() if skipped else (FieldScore(attribute, ASSERTED[passed]),),
            ),
            judges=(),
            passed=None if skipped else passed,
            error=message or "error" if self._outcome == "error" else "",
            # Some runners write commas between thousands.
            call=Call(Usage(latency=amount_of(attributes.get("time", "").replace(",", "")))),
        )
