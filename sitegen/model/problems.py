"""Findings and problems: failures to read or score as values, which pages show and which never stop a build."""

from typing import Final, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar

from sitegen.model.commits import short_id
from sitegen.model.frozen import Frozen, replace

T = TypeVar("T")

Severity: TypeAlias = Literal["error", "warning", "note"]
"""The effect of a problem on the scores of the newest output. error: they are missing or meaningless. warning: they
would differ without the problem. note: they are not affected."""
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""Most severe first."""
About: TypeAlias = Literal["output", "ground_truth", "mapping", "schema", "settings", "installation"]
"""Which of the scored files a finding is in; in none of them if it is about what is installed."""


class ProblemType(Frozen):
    """A row of ``PROBLEM_TYPES``."""

    severity: Severity
    summary: str
    """A description of several problems of this type together, as a sentence without a full stop."""
    cost: str = ""
    """What a problem costs that does not concern scores, such as one about values that should be hidden."""


PROBLEM_TYPES: Final = {
    # Nothing, or the wrong thing, is compared.
    "nothing_in_common": ProblemType("error", "No field of the output is expected"),
    "unknown_key": ProblemType("error", "Keys that are not known count for nothing", "what the key should say"),
    # Something is left out of the scores, or counted against them, that would change them.
    "missing_document": ProblemType("warning", "Documents are missing from the output; all their values are omissions"),
    "unmapped_values": ProblemType("warning", "Values of the ground truth are not mapped and not scored"),
    "values_elsewhere": ProblemType("warning", "At least half of the omitted values are elsewhere in the output"),
    "invalid_expected_value": ProblemType("warning", "Expected values are invalid and not scored"),
    "unexpected_documents": ProblemType("warning", "Documents of the output are not in the ground truth"),
    "missing_rules": ProblemType("warning", "A mapping or a schema is not there; outputs are scored without one"),
    "unknown_item_field": ProblemType("warning", "Lists are paired by fields that no item has"),
    "missing_headline": ProblemType("warning", "The newest run lacks the headline of its eval"),
    "mixed_units": ProblemType("warning", "Runs seem to write a number as a share or as a percentage"),
    "newest_without_output": ProblemType("warning", "The newest iteration has no output, and is left out"),
    "unmatched_redaction": ProblemType("warning", "Nothing matches a glob under `redact`", "what should be hidden"),
    "unmatched_limit": ProblemType(
        "warning", "Limits or thresholds name no metric or eval, or cannot be reached", "verdicts on targets and limits"
    ),
    "large_site": ProblemType("warning", "The site is larger than its limit", "room and time"),
    # The scores of the newest output are not affected.
    "unmapped_blanks": ProblemType("note", "Columns of the ground truth without any value are not mapped"),
    "value_elsewhere": ProblemType("note", "Omitted values are elsewhere in the output"),
    "missing_source": ProblemType("note", "No file is where `source` says"),
    "unread_source": ProblemType("note", "Documents that `source` names cannot be shown"),
    "unused_rule": ProblemType("note", "Entries of mappings match no field"),
    "iteration_without_output": ProblemType("note", "Iterations have no output, and are left out"),
    "stranger_folder": ProblemType("note", "Folders among the results are not iterations"),
    "versions_hidden": ProblemType("warning", "Versions of an output are hidden by a folder of an iteration"),
    "same_number": ProblemType("note", "Iterations share a number; all are kept"),
    "unlinked_output": ProblemType("note", "sitegen failed to read what outputs state about their runs"),
    "unmatched_instructions": ProblemType("note", "Globs name no instruction file"),
    "unmatched_mute": ProblemType("note", "Mutes name no step"),
}
"""The severity of each type of problem. Problems without a type, such as files that cannot be read, state their
severity where they are created."""


class Finding(Frozen):
    """A problem inside one file, reported by a reader or a scorer that does not know the path of the file."""

    severity: Severity
    message: str
    """One sentence without a full stop. It may name fields, documents and cases, but quotes no value of a file."""
    fix: str
    """What to do about it, as an imperative sentence, also without any value."""
    line: int | None = None
    about: About = "output"
    value: str = ""
    """The value that is quoted after the sentence; empty if there is none."""
    path: str = ""
    """Field path of the value; about settings, the path of the key. If it is empty, an eval with any redacted field
    redacts this value too."""
    type: str = ""
    """A key of ``PROBLEM_TYPES``; empty: none."""
    file: str = ""
    """The path of the file, from the folder of the ground truth or the root, if the side has several; else empty."""
    values: int = 0
    """Number of expected values that are not scored because of it."""
    paste: str = ""
    """What to write into the mapping, as a JSON object of its keys; it may name fields, but quotes no value."""

    @classmethod
    def of_type(
        cls, type: str, message: str, fix: str, about: About = "output", value: str = "", path: str = ""
    ) -> Self:
        """Return a finding whose severity follows from its type."""
        severity = PROBLEM_TYPES[type].severity
        return cls(severity=severity, message=message, fix=fix, about=about, value=value, path=path, type=type)

    @property
    def text(self) -> str:
        """The sentence, followed by the value."""
        return f"{self.message}: {self.value}" if self.value else self.message

    def without_effect(self, severity: Severity = "error") -> Self:
        """Return the finding about a part of a file that is passed over; the rest of the file counts."""
        return replace(self, severity=severity, message=f"{self.message} It does not count.")

    def in_file(self, file: str) -> "Problem":
        """Return the finding with the file that it is in."""
        return Problem(self.severity, self.message, self.fix, path=file, line=self.line)


class Parsed(NamedTuple, Generic[T]):
    """The value read from a file or from settings, with findings about wrong or suspicious parts."""

    value: T
    findings: tuple[Finding, ...] = ()


class Problem(Frozen):
    """A finding with its place in the project.

    It is shown on the problems page, and on the page of the eval, file or commit that it concerns.
    """

    severity: Severity
    message: str
    fix: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    eval_id: str | None = None
    field: str = ""
    """Field path in the file, if it is about one value; in the manifest, the key in the entry or in its settings."""
    past: bool = False
    """Whether only earlier points have it, so that nobody has to act."""
    type: str = ""
    """A key of ``PROBLEM_TYPES``; empty: none."""
    values: int = 0
    """Number of expected values that are not scored because of it."""
    paste: str = ""
    """What to write into files, as a JSON object of their keys by path; empty: nothing that could be copied."""
    not_fetched: bool = False
    """Whether it is that a content has not been fetched, so that the next build may find it."""

    @classmethod
    def of_type(
        cls, type: str, message: str, fix: str, path: str | None = None, eval_id: str | None = None, field: str = ""
    ) -> Self:
        """Return a problem whose severity follows from its type."""
        severity = PROBLEM_TYPES[type].severity
        return cls(severity, message, fix, path=path, eval_id=eval_id, field=field, type=type)

    @property
    def short_commit(self) -> str:
        """The id of the commit, short; empty without one."""
        return short_id(self.commit) if self.commit else ""

    @property
    def changes_scores(self) -> bool:
        """Whether scores of the newest output are missing, meaningless, or different because of the problem."""
        of_scores = self.type not in PROBLEM_TYPES or not PROBLEM_TYPES[self.type].cost
        return not self.past and self.severity != "note" and of_scores
