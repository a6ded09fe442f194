"""A build on top of a site that stands: what differs goes into a folder of its own, and nothing is remembered of it."""

from __future__ import annotations

from sitegen.analysis.memo import Memo
from sitegen.project import Project
from sitegen.render.below import remove
from sitegen.render.output_folder import Claim, look_into, shorten_list
from sitegen.stages.site_files import Ledger, Site


class Overlay(Ledger):
    """The ledger of such a build. To the stages it is one more commit's; the site below is neither written nor read.

    The folder then holds the files that the site below does not have, or has otherwise; ``gone`` are those that only
    the site below has.
    """

    def __init__(self, below: Project, claim_below: Claim, claim: Claim, memo: Memo) -> None:
        super().__init__(below, claim_below, memo)
        self._into = claim.folder
        self._standing = look_into(claim.folder, ())
        self.gone: frozenset[str] = frozenset()

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete what the build before left in the folder and this one did not write. The memo stays as it is."""
        below = {row.path: row.key for row in self._memo.pages(self._site)} if self.trusted else {}
        differ = [row for row in self.recorded() if below.get(row.path) != row.key]
        self.gone = frozenset(row.path for row in self._stale(self._before(complete)))
        paths = {row.path for row in differ}
        removed, _ = remove(self._into, ((path, None) for path in self._standing.unlisted if path not in paths))
        shorten_list(self._into, paths, None)
        return site._replace(written=self._written, kept=max(0, self._kept), removed=removed)
