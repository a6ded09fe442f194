"""The errors that end a command. Anything that need not end it is a ``Problem`` instead."""

import errno
from collections.abc import Sequence
from typing import Final, Self

_PLACES: Final = 20  # largest number of places that an error lists


class SitegenError(Exception):
    """An error with its message, its place and its fix. The command line prints it and exits with ``exit_code``."""

    exit_code = 2

    def __init__(
        self, message: str, *, where: str | None = None, fix: str | None = None, more: tuple[str, ...] = ()
    ) -> None:
        """``more``: further places after ``where``."""
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
    """Return the text on one line, with line breaks and other unprintable characters as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


class ConfigurationError(SitegenError):
    """sitegen.toml, the manifest, a mapping or an option is wrong."""


class RepositoryError(SitegenError):
    """There is no repository, git refuses to read it, or the revision does not exist."""


POINTER: Final = "a Git LFS pointer: git has the file's address, not its contents"
"""Why a content is missing that git lfs has to fetch."""


SMALLER_FILE: Final = "Write a smaller file, or raise max_blob_bytes under [limits] in sitegen.toml."
"""What to do about a content that is larger than what is read."""


class MissingObjectsError(RepositoryError):
    """git lacks a content that the history refers to. In a build it is a problem of the part that needs it."""

    def __init__(self, path: str | None = None, commit: str | None = None, *, in_lfs: bool = False) -> None:
        """``path``, ``commit``: where the content is, if known; ``in_lfs``: git has a pointer of Git LFS."""
        where = path if path is None or commit is None else f"{path} at {commit[:7]}"
        if in_lfs:
            message = f"A content is {POINTER}."
            fix = "Run git lfs fetch --all; then build again."
        else:
            message = "This clone is partial or damaged: contents that the history refers to are missing."
            fix = "Run git fetch --refetch --no-filter, or clone again without --filter; then build again."
        super().__init__(message, where=where, fix=fix)
        self.path = path
        self.commit = commit
        self.in_lfs = in_lfs


class NothingToReportError(SitegenError):
    """A repository without commits, or without any eval."""


class OutputFolderError(SitegenError):
    """A folder that sitegen writes to was not made by it, or holds files that it must not touch."""


class MemoUnreadableError(SitegenError):
    """The memo could not be read. It was thrown away, so that the command can begin again without it."""


class WorkerError(SitegenError):
    """A process of the build ended before its work did."""


def file_system_error(error: OSError) -> SitegenError:
    """Return the error of a file or a folder that the system refuses to read or write, with advice for what it says."""
    elsewhere = "another place to write to, with -o, --cache or the option that named this one"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        fix = f"Make room on the disk, or name {elsewhere}."
    elif error.errno == errno.EFBIG:
        fix = f"Raise the limit on the size of a file (ulimit -f), or name {elsewhere}."
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        fix = f"Give the permission, or name {elsewhere}."
    else:
        fix = f"Name {elsewhere}."
    where = None if error.filename is None else str(error.filename)
    return SitegenError(f"The system says: {error.strerror or error}.", where=where, fix=fix)


class Notice(UserWarning):
    """Something that a command ignores and its user should know; the command line prints it."""


class SecretsError(SitegenError):
    """A site for the public contains a text that looks like a secret."""

    exit_code = 1

    @classmethod
    def of_places(cls, places: Sequence[str], *, removed: bool) -> Self:
        """Return the error for texts at these places. ``removed``: the site was deleted."""
        count = "1 place looks" if len(places) == 1 else f"{len(places):,} places look"
        listed = [*places[:_PLACES], *([f"and {len(places) - _PLACES:,} more"] if len(places) > _PLACES else [])]
        gone = " It was deleted from the output folder." if removed else ""
        return cls(
            f"{count} like a secret: the site must not be published.{gone}",
            where=listed[0],
            more=tuple(listed[1:]),
            fix="Revoke the secret and name its field under redact. If it is not a secret, list its whole text under "
            "allow in [public].",
        )

    @classmethod
    def of_globs(cls, globs: Sequence[str]) -> Self:
        """Return the error for globs under ``redact`` that match no field; the site was deleted."""
        listed = ", ".join(map(repr, globs[:_PLACES]))
        return cls(
            f"Under redact, {listed} {'fits' if len(globs) == 1 else 'fit'} no field of any output or ground truth: "
            "the site may show what it should hide, and must not be published. It was deleted from the output folder.",
            fix="Correct the glob, or remove it.",
        )
