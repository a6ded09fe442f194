"""The outcome of a build, and what the memo knows about an output folder since the last one.

A build with nothing new imports nothing else of the stages: ``LastBuild`` tells whether there is anything to do.
"""

import json
from collections.abc import Callable
from typing import NamedTuple, Self

from sitegen.engine.memo import Memo, decoding
from sitegen.engine.output_folder import same_times
from sitegen.project import Project


class Progress(NamedTuple):
    """Callbacks by which a build reports its progress, called only from the building process."""

    stage: Callable[[str, int], None] = lambda name, steps: None
    """Called when a stage begins, with the number of its steps."""
    step: Callable[[int], None] = lambda steps: None
    """Called with the number of further steps of the stage that are done."""
    first_page: Callable[[str], None] = lambda path: None
    """Called with the path of the overview if it can be opened before the build ends."""


class Site(NamedTuple):
    """The outcome of a build, which the command line and the API report."""

    page: str
    """Path of the first page on disk."""
    head: str
    commits: int
    evals: int
    iterations: int
    errors: int
    warnings: int
    problems_in_words: str = ""
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    """Number of evals, instruction files and single pages that sitegen failed to make. They count among the errors."""
    unmatched_redactions: tuple[str, ...] = ()
    """Globs under ``redact`` that match no field: the site may show what they should hide."""
    own_metrics: tuple[tuple[str, int], ...] = ()
    """Names and versions of the metrics that installed packages added to its evals."""
    sentences: tuple[str, ...] = ()
    """What became of the evals with the newest outputs, then what else may be an eval."""
    not_fetched: int = 0
    """Number of contents that were not fetched, such as those in Git LFS, which are no failures of sitegen."""

    @property
    def must_be_made_again(self) -> bool:
        """Whether the next build makes the whole site again, because something was left out of this one."""
        return bool(self.failed or self.not_fetched)

    @property
    def problems(self) -> int:
        """Number of causes of problems that ``--strict`` counts: errors and warnings, not notes."""
        return self.errors + self.warnings


class FolderState(NamedTuple):
    """What a build stores about its output folder, unless a part of the site failed."""

    fingerprint: str
    """The digest of everything besides history that decides the site."""
    head: str
    """The commit that the folder shows."""
    revision: str
    """The name by which the user named this commit."""
    foreign: tuple[str, ...]
    """The files of the folder that no build wrote."""
    list_size: int
    """Bytes of the list of files in the folder."""
    site: Site
    refs: str = ""
    """As in ``Project``."""

    def encode(self) -> bytes:
        """Encode the state for the memo."""
        return json.dumps(self._asdict() | {"site": self.site._asdict()}).encode()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Decode what ``encode`` returned."""
        values = json.loads(content)
        site = Site(**values.pop("site"))
        return cls(
            **values | {"foreign": tuple(values["foreign"])},
            site=site._replace(
                unmatched_redactions=tuple(site.unmatched_redactions),
                sentences=tuple(site.sentences),
                own_metrics=tuple((name, version) for name, version in site.own_metrics),
            ),
        )


class LastBuild:
    """The last build of an output folder, and whether the folder still shows its site."""

    def __init__(self, project: Project, memo: Memo) -> None:
        self.project = project
        self.memo = memo
        content = memo.site(project.site)
        with decoding():
            self.state = FolderState.decode(content) if content else None
        """What the last build stored; None if it was not finished, or if there was none."""
        self.is_trusted = (
            self.state is not None and not project.options.force and same_times(project.out, memo.folders(project.site))
        )
        """The last build was finished, no folder changed since, and ``--force`` does not ask to compare every file."""

    @property
    def head(self) -> str | None:
        """The commit that the folder shows; None if the folder is not trusted or more than history changed."""
        if not self.state or not self.is_trusted or self.state.fingerprint != self.project.fingerprint:
            return None
        if metrics := self.state.site.own_metrics:
            # Most sites use none, and a build without changes should import as little as possible.
            from sitegen.scoring.kinds import still_installed

            return self.state.head if still_installed(metrics) else None
        return self.state.head

    @property
    def is_up_to_date(self) -> bool:
        """Whether the folder shows the commit that is built, by the name that the user gave it this time."""
        if self.state is None or self.head is None:
            return False
        shown = self.head, self.state.revision, self.state.refs
        return shown == (self.project.head, self.project.revision, self.project.refs)

    def unchanged(self) -> Site:
        """Return the outcome of a build that has nothing to do: the outcome of the last build, with nothing written."""
        assert self.state is not None
        unchanged, _ = self.memo.size_of_site(self.project.site)
        return self.state.site._replace(written=0, removed=0, unchanged=unchanged)
