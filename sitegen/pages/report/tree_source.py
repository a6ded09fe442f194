"""Adds the source to the page of ground truth beside output: the place of each value according to the output."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from sitegen.pages.report.tree import PagePicture, SourceNote, TreeNode, TreeView
from sitegen.scoring.evidence import Evidence, EvidenceByPath
from sitegen.text.words import QuotedPassage, SearchedText

_MOST_PICTURES: Final = 60  # largest number of pages of the source that one page shows

_INDEX: Final = re.compile(r"(\[\d+\])\+")  # matches the key of an item that only the output has
_NOT_THERE: Final = "this quote is not in the source: a hint at a hallucination"


SourcePage: TypeAlias = SearchedText | PagePicture | str
"""A page as a text or a picture; a string states why it is neither, and is empty if the page is not needed."""


class Citation(NamedTuple):
    """The place of a value in the source, as stated by the output."""

    document: str
    way: tuple[TreeNode, ...]
    """The nodes from the root to the node of the value."""
    name: str
    """Name of the value below that node; empty for the node itself."""
    evidence: Evidence


def citations(root: TreeNode, evidence: Mapping[str, EvidenceByPath], *, several: bool) -> Iterator[Citation]:
    """Yield the citations of all values in a tree, from top to bottom. ``several``: each document has its own node."""
    starts = root.nodes.items() if several else ((document, root) for document in evidence)
    for document, node in starts:
        yield from _below((node,), "", document, evidence.get(document, {}))


def _below(way: tuple[TreeNode, ...], path: str, document: str, by_path: EvidenceByPath) -> Iterator[Citation]:
    """Yield the citations at and below a node. ``way``: the nodes down to it.

    ``path``: the path of the node in the output, where list items can have other indices than in the ground truth.
    """
    if path and path in by_path:
        yield Citation(document=document, way=way, name="", evidence=by_path[path])
    for value in way[-1].values:
        name = value.name
        whole = f"{path}{name}" if name.startswith("[") or not path else f"{path}.{name}"
        if whole in by_path:
            yield Citation(document=document, way=way, name=name, evidence=by_path[whole])
    for key, child in way[-1].nodes.items():
        if child.whole != "missing":
            step = f"[{child.pair.actual}]" if child.pair else _INDEX.sub(r"\1", key)
            yield from _below((*way, child), f"{path}{step}" if path else step.removeprefix("."), document, by_path)


def with_source(
    view: TreeView, cited: Sequence[Citation], pages: Mapping[str, Mapping[int | None, SourcePage]]
) -> TreeView:
    """Add a note for each citation. ``pages``: by document, then by number; None for the whole document."""
    pictures = _pictures(cited, pages)
    anchors = {path: f"page-{number}" for number, path in enumerate(pictures, start=1)}
    notes = {}
    doubtful: set[TreeNode] = set()
    for citation in cited:
        of_document, (number, quote, confidence, _) = pages.get(citation.document, {}), citation.evidence
        page = of_document.get(number, of_document.get(None))
        anchor = anchors.get(page.path, "") if isinstance(page, PagePicture) else ""
        passage, doubt = _passage(number, quote, of_document)
        if page is None and number and of_document:
            doubt = f"the source has no page {number}: a hint at a hallucination"
        remark = f"page not shown: {page}" if isinstance(page, str) and page else ""
        if isinstance(page, PagePicture) and not anchor:
            remark = f"only the first {_MOST_PICTURES} pages are shown"
        notes[citation.way[-1], citation.name] = SourceNote(
            page=number,
            quote="" if passage else quote,
            confidence=confidence,
            passage=passage,
            anchor=anchor,
            remark=doubt or remark,
            is_doubtful=bool(doubt),
        )
        if doubt:
            doubtful.update(citation.way)
    return replace(view, notes=notes, doubtful=frozenset(doubtful), pictures=tuple(pictures.values()))


def _pictures(
    cited: Sequence[Citation], pages: Mapping[str, Mapping[int | None, SourcePage]]
) -> dict[str, tuple[str, PagePicture]]:
    """The titles and pictures that are shown, by address, in the order of the citations."""
    several = len(pages) > 1
    pictures: dict[str, tuple[str, PagePicture]] = {}
    for document, _, _, (number, *_) in cited:
        of_document = pages.get(document, {})
        page = of_document.get(number, of_document.get(None))
        if isinstance(page, PagePicture) and page.path not in pictures and len(pictures) < _MOST_PICTURES:
            title = f"Page {number}" if number in of_document and number else "The document"
            pictures[page.path] = f"{title} of {document}" if several and document else title, page
    return pictures


def _passage(
    number: int | None, quote: str, pages: Mapping[int | None, SourcePage]
) -> tuple[QuotedPassage | None, str]:
    """Find the quote in the texts of a document, first on its own page, and state any problem with it."""
    texts = {page: text for page, text in pages.items() if isinstance(text, SearchedText)}
    if not quote or not texts:
        return None, ""
    for page in sorted(texts, key=lambda page: (page != number, page or 0)):
        if passage := texts[page].passage(quote):
            is_elsewhere = page is not None and number is not None and page != number
            return passage, f"this quote is on page {page}, not on page {number}" if is_elsewhere else ""
    # The quote may be on a page that could not be read.
    return None, "" if any(isinstance(page, str) for page in pages.values()) else _NOT_THERE
