"""Records the files of a build whose folder lies on top of an existing site, for ``watch``."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sitegen.engine.below import remove
from sitegen.engine.built_site import LastBuild, Site
from sitegen.engine.memo import Memo
from sitegen.engine.output_folder import Claim, files_not_in_memo, shorten_list
from sitegen.engine.site_files import SiteFiles
from sitegen.project import Project


class LayerFiles(SiteFiles):
    """Records a build on top of an existing site: only files that differ are written, to another folder.

    The site below is neither written nor read, and the memo is not changed. After the build the folder has the files
    that the site below lacks or has with other contents; ``gone`` lists the files that only the site below has.
    """

    def __init__(self, below: Project, claim_below: Claim, claim: Claim, memo: Memo) -> None:
        super().__init__(below, claim_below, memo, LastBuild(below, claim_below, memo))
        self._into = claim.folder
        self._not_in_memo = files_not_in_memo(claim.folder, ())
        self.gone: frozenset[str] = frozenset()

    def reserve(self, paths: Iterable[str], make: Callable[[], bytes]) -> None:
        """Write no placeholders: the pages are shown when all of them are written."""

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete the files of this folder that the site below has as well, and those that the previous build left."""
        below = {row.path: row.key for row in self._memo.each_page(self._site)} if self._last.is_trusted else {}
        differ = [row for row in self.recorded.all() if below.get(row.path) != row.key]
        self.gone = frozenset(row.path for row in self.recorded.stale(self._changes(complete).outdated))
        paths = {row.path for row in differ}
        left = files_not_in_memo(self._into, paths).unlisted
        removal = remove(self._into, dict.fromkeys(left))
        shorten_list(self._into, lambda: differ, None)
        return self._with_counts(site, removal.removed)
