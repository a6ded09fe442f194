"""The tree of errors that end a command. What can be passed over is a Problem instead, and never ends anything."""

from __future__ import annotations


class SitegenError(Exception):
    """Says what, where, and what to do. The command line prints it and exits with ``exit_code``."""

    exit_code = 2

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        """Up to three lines: what; where; what to do."""
        lines = [self.what]
        if self.where:
            lines.append(f"  at: {self.where}")
        if self.fix:
            lines.append(f"  do: {self.fix}")
        return "\n".join(lines)


class ConfigurationError(SitegenError):
    """sitegen.toml, the manifest or a mapping says something that sitegen does not understand."""


class RepositoryError(SitegenError):
    """There is no repository, git does not want to read it, or the revision does not exist."""


class ShallowRepositoryError(RepositoryError):
    """The history is cut off, so that the oldest commit seems to add everything."""


class NothingToReportError(SitegenError):
    """A repository without commits, or without any eval."""


class OutputFolderError(SitegenError):
    """The output folder was not made by sitegen, and would be overwritten."""


class SecretsError(SitegenError):
    """A site that was to be public holds what looks like a secret."""

    exit_code = 1
