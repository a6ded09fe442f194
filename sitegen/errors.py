"""The errors that end a command. Anything that need not end it is a ``Problem`` instead."""

from __future__ import annotations


class SitegenError(Exception):
    """An error with its message, its place and its fix. The command line prints it and exits with ``exit_code``."""

    exit_code = 2

    def __init__(
        self, message: str, *, where: str | None = None, fix: str | None = None, more: tuple[str, ...] = ()
    ) -> None:
        """``more``: further places after *where*."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix
        self._more = more

    def __str__(self) -> str:
        """Return the message, a line for each place, and the fix. Invisible characters are spelled out."""
        lines = [self.message]
        if self.where:
            lines += [f"  at: {self.where}", *(f"      {place}" for place in self._more)]
        if self.fix:
            lines.append(f"  do: {self.fix}")
        return "\n".join(map(_printable, lines))


def _printable(text: str) -> str:
    """The text on one line, with line breaks and other characters that cannot be printed as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


class ConfigurationError(SitegenError):
    """sitegen.toml, the manifest, a mapping or an option is wrong."""


class RepositoryError(SitegenError):
    """There is no repository, git refuses to read it, or the revision does not exist."""


class ShallowRepositoryError(RepositoryError):
    """The history is cut off, so that the oldest commit seems to add everything."""


class MissingObjectsError(RepositoryError):
    """git lacks a content that the history refers to. In a build it is a problem of the part that needs it."""

    def __init__(self, path: str | None = None, commit: str | None = None) -> None:
        """*path* and *commit* locate the content, if they are known."""
        where = path if path is None or commit is None else f"{path} at {commit[:7]}"
        super().__init__(
            "This clone is partial or damaged: contents that the history refers to are missing.",
            where=where,
            fix="Run git fetch --refetch --no-filter, or clone again without --filter; then build again.",
        )
        self.path = path
        self.commit = commit


class NothingToReportError(SitegenError):
    """A repository without commits, or without any eval."""


class OutputFolderError(SitegenError):
    """The output folder was not made by sitegen, or a build would have to change files that it must not touch."""


class ArchiveError(SitegenError):
    """The archive of old reports cannot be opened or written."""


class CacheFolderError(SitegenError):
    """The folder of the memo cannot be used."""


class MemoError(SitegenError):
    """The memo cannot be read or written: the disk is full, another program has locked it, or it is damaged."""


class MemoDamagedError(MemoError):
    """The memo was damaged. It was moved aside, so that the command can begin again without it."""


class WorkerError(SitegenError):
    """A process of the build ended before its work did."""


class Notice(UserWarning):
    """Something that a command ignores and its user should know; the command line prints it."""


class SecretsError(SitegenError):
    """A site for the public contains a text that looks like a secret."""

    exit_code = 1
