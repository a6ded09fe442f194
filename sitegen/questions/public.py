"""Searches a built site for secrets (``build --public``), and deletes a site that may contain any from its folder.

Every file of the folder is read, including foreign files, because all of them would be published. The memo stores the
digests of files without a finding, so that only new contents are searched.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sitegen.config.site import read_site
from sitegen.engine.cached_kinds import CLEAN_FILES
from sitegen.engine.memo import Memo
from sitegen.engine.output_folder import LIST, claimed, files_not_in_memo, remove
from sitegen.engine.writer import digest
from sitegen.errors import SecretsError
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.repository import Repository
from sitegen.project import MARKER, Options, open_project
from sitegen.text.secrets import Detector, Secret

_DIGEST: Final = 16  # length of a digest, in bytes


class PublicCheck:
    """Checks a site after its build. Create it before the build, so that a wrong configuration is reported at once."""

    def __init__(self, options: Options) -> None:
        """Raises ConfigurationError if the configuration is wrong."""
        self._project = project = open_project(options, "")
        head = project.head or Repository(project.place).resolve(project.revision)
        config = read_site(FilesAt(project.place, head, on_disk=True).read_rules).value
        self._detector = Detector(config.public.allow)

    def check(self, unmatched_redactions: tuple[str, ...]) -> None:
        """Raise SecretsError if any file contains a possible secret, OSError if a file cannot be read.

        SecretsError is also raised if a glob under ``redact`` matches no field: the values may be on any page.

        If sitegen wrote one of these files, all files that it wrote are deleted first, so that they are not published
        even if the failure is ignored. Foreign files stay.
        """
        out, rules = self._project.out, digest(self._detector.version)
        with Memo.open(self._project.cache) as memo:
            if unmatched_redactions:
                self._withdraw(memo)
                raise SecretsError.of_globs(unmatched_redactions)
            kept = CLEAN_FILES.get(memo, str(out), [rules]) or b""
            searched = {kept[start : start + _DIGEST] for start in range(0, len(kept), _DIGEST)}
            clean, places = self._search(searched)
            if clean != searched:
                with memo.transaction():
                    CLEAN_FILES.keep(memo, str(out), b"".join(sorted(clean)), rules)
            if places:
                listed = [f"{path}:{line} ({rule})" for path in places for line, rule in places[path]]
                raise SecretsError.of_places(listed, removed=bool(self._withdraw(memo, set(places))))

    def _withdraw(self, memo: Memo, refused: set[str] | None = None) -> int:
        """Delete the files of sitegen if one is among ``refused``; None: in any case. Returns the number of files."""
        out, site = self._project.out, self._project.site
        with claimed(out, force=True):
            rows = list(memo.each_page(site))
            if refused is not None and refused.isdisjoint(row.path for row in rows):
                return 0
            with memo.transaction():
                memo.mark_dirty(site)
                memo.forget_pages(site, rows)
            paths = [row.path for row in rows]
            removed, _ = remove(out, dict.fromkeys((*paths, *files_not_in_memo(out, paths)[1])))
            (out / LIST).unlink(missing_ok=True)
            return removed

    def _search(self, searched: set[bytes]) -> tuple[set[bytes], dict[str, tuple[Secret, ...]]]:
        """Return digests of files without a finding, and findings by path. ``searched``: digests of clean files."""
        out = self._project.out
        clean: set[bytes] = set()
        places: dict[str, tuple[Secret, ...]] = {}
        for path in _published_files(out):
            content = (out / path).read_bytes()
            key = hashlib.blake2b(content, digest_size=_DIGEST).digest()
            secrets: tuple[Secret, ...] = ()
            if key not in searched:
                text = content.decode("utf-8", "replace")
                secrets = self._detector.search(text, markup=path.endswith(".html"))
            if secrets:
                places[path] = secrets
            else:
                clean.add(key)
        return clean, places


def _published_files(out: Path) -> Iterator[str]:
    """Relative paths of all files below a folder, sorted; without the marker and the list of a build."""
    for folder, folders, names in os.walk(out, onerror=_raise_error):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), out)
            if path not in (MARKER, LIST):
                yield path


def _raise_error(error: OSError) -> None:
    raise error
