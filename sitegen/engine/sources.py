"""Reads the documents that outputs were made from, if a manifest states them, for the pages that show them.

Contents are read one at a time by blob id. Texts and the sizes of pictures are held while one eval is processed;
pictures are not.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.pictures import raster_picture
from sitegen.data_files.reading import UnreadableError
from sitegen.engine.scorecard_store import all_inputs
from sitegen.engine.worker_context import WorkerContext
from sitegen.history.files_at_commit import FilesAt, SourceFile, source_files
from sitegen.history.repository import Repository
from sitegen.model.commits import WORKTREE
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.report.tree import PagePicture, TreeView, has_tree, tree_page
from sitegen.pages.report.tree_source import Citation, SourcePage, citations, with_source
from sitegen.scoring.evidence import evidence_in
from sitegen.scoring.fields import FieldsScorer
from sitegen.text.words import SearchedText

_FILE_BYTES: Final = 5_000_000  # largest size of a source file that is read, in bytes
_TEXTS: Final = 2_000_000
"""Limit on the characters of all texts that one page searches for up to 2,000 values: it bounds hostile outputs."""
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_LISTED: Final = 10  # largest number of files that are reported individually because they cannot be shown


class EvalSources:
    """Reads the sources of the outputs of one eval."""

    def __init__(self, context: WorkerContext, info: EvalInfo, folders: tuple[str, ...]) -> None:
        """``folders``: where the eval may have been at a commit, the most likely folder first."""
        self._context = context
        self._info = info
        self._folders = folders
        largest = min(context.limits.max_blob_bytes, _FILE_BYTES)
        self._repository = Repository(context.place, max_blob_bytes=largest, overlay=dict(context.overlay))
        self._scorer = FieldsScorer()
        """Compiles the ground truth of the eval, which names the documents, once for many outputs."""
        self._pictures: dict[str, PagePicture | str] = {}
        self._texts: dict[str, SearchedText | str] = {}
        self._characters = 0
        """Number of characters of all texts that are held."""

    def files(self, snapshot: Snapshot) -> dict[SourceFile, str]:
        """Return the blob id of each file of the source at the commit of a snapshot; at HEAD for an uncommitted one."""
        at = FilesAt(self._context.place, "HEAD" if snapshot.commit.sha == WORKTREE else snapshot.commit.sha)
        for folder in self._folders:
            if files := source_files(self._info.source, folder, at.names):
                return {file: at.blob_id(file.path) or "" for file in files}
        return {}

    def tree_page(
        self, snapshot: Snapshot, result: Result
    ) -> tuple[Page | None, tuple[PagePicture, ...], tuple[Problem, ...]]:
        """Make the page of ground truth beside output, if there is one, with the sources of values that have a place.

        Returns the pictures of the source that it shows as well, and a problem for each file that it cannot show.
        """
        tree = tree_page(self._info, snapshot, result) if has_tree(self._info, result) else None
        if tree is None or not isinstance(tree.view, TreeView):
            return tree, (), ()
        view = tree.view
        (inputs,) = all_inputs(self._context, [snapshot])
        several = len(result.scorecard.documents) > 1
        try:
            documents = self._scorer.documents(inputs)
        except UnreadableError:
            documents = {}
        evidence = {name: evidence_in(document) for name, document in documents.items()}
        cited = list(citations(view.root, evidence, several=several))
        files = self.files(snapshot)
        self._texts.clear()
        self._characters = 0
        cases = {document.name: document.case for document in result.scorecard.documents}
        files_of = {
            document: {file: oid for file, oid in files.items() if file.document in (None, case)}
            for document, case in ((place.document, cases.get(place.document, place.document)) for place in cited)
        }
        pages = {document: self._pages(document, of_case, cited) for document, of_case in files_of.items()}
        unread = {
            file.path: page
            for document, of_case in files_of.items()
            for file in of_case
            if isinstance(page := pages[document][file.page], str) and page
        }
        sourced = with_source(view, cited, pages)
        pictures = tuple(picture for _, picture in sourced.pictures)
        return replace(tree, view=sourced), pictures, tuple(self._problems(unread, snapshot))

    def content(self, oid: str) -> bytes:
        """Return the content of a picture that ``tree_page`` listed."""
        return self._repository.read_blob(oid).content or b""

    def _pages(
        self, document: str, files: Mapping[SourceFile, str], cited: Iterable[Citation]
    ) -> dict[int | None, SourcePage]:
        numbers = {place.evidence.page for place in cited if place.document == document}
        pages: dict[int | None, SourcePage] = {}
        for file, oid in files.items():
            if file.page in pages:
                continue
            if not file.path.lower().endswith(_PICTURES):
                pages[file.page] = self._text(oid)
            elif file.page is None or file.page in numbers:
                pages[file.page] = self._picture(oid)
            else:
                pages[file.page] = ""
        return pages

    def _picture(self, oid: str) -> PagePicture | str:
        if oid not in self._pictures:
            _, content, reason, _ = self._repository.read_blob(oid)
            picture = raster_picture(content or b"")
            if picture:
                ending, width, height = picture
                path = links.source_picture(self._info.id, f"{oid}.{ending}")
                self._pictures[oid] = PagePicture(path=path, oid=oid, width=width, height=height)
            else:
                self._pictures[oid] = reason or "no PNG, JPEG, GIF or WebP picture"
        return self._pictures[oid]

    def _text(self, oid: str) -> SearchedText | str:
        if oid not in self._texts:
            _, content, reason, _ = self._repository.read_blob(oid)
            try:
                text = (content or b"").decode("utf-8-sig")
            except UnicodeDecodeError:
                text = "\0"
            if reason or "\0" in text:
                self._texts[oid] = reason or "no picture and no text in UTF-8"
            elif self._characters + len(text) > _TEXTS:
                return f"beyond the {_TEXTS:,} characters of one page"
            else:
                self._characters += len(text)
                self._texts[oid] = SearchedText(text)
        return self._texts[oid]

    def _problems(self, unread: Mapping[str, str], snapshot: Snapshot) -> Iterator[Problem]:
        """Yield a problem for each file that cannot be shown, up to a limit. ``unread``: maps paths to reasons."""
        listed = list(unread.items())
        for path, reason in listed[:_LISTED]:
            more = len(listed) - _LISTED if path == listed[:_LISTED][-1][0] and len(listed) > _LISTED else 0
            yield Problem(
                "note",
                f"A file of the source cannot be shown: {reason}."
                + (f" So it is with {more} more files." if more else ""),
                f"Commit a PNG, JPEG, GIF or WebP picture, or a text in UTF-8, of at most {_FILE_BYTES / 1e6:.0f} MB.",
                path=path,
                commit=snapshot.commit.sha,
                eval_id=self._info.id,
                type="unread_source",
            )
