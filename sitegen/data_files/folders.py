"""A folder with a file for each document, packed into one content, as ground truth that lies in a folder is read."""

import os
import re
from collections.abc import Collection, Iterable
from posixpath import basename, commonprefix, dirname, splitext
from typing import Final

import msgspec

from sitegen.data_files.reading import ending
from sitegen.model.frozen import grouped

DATA: Final = frozenset({"json", "jsonl", "ndjson", "yaml", "yml", "csv"})
"""Endings of files that are read as values."""
MOST_FILES: Final = 10_000
"""The most files of a folder that are read."""
FILE_ENDING: Final = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{1,4}$")
"""Matches the end of a name that is that of a file: ``c1.pdf``."""


def may_hold_document(path: str) -> bool:
    """Whether a file of such a folder holds a document, by its name: neither a note nor a hidden file."""
    return ending(path) in DATA and not basename(path).startswith(".")


def packed(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Pack files, given by their paths in the folder, into one content: the same files make the same bytes."""
    return msgspec.msgpack.encode(sorted((os.fsencode(path), content) for path, content in files))


def unpacked(content: bytes) -> list[tuple[str, bytes]]:
    """Return the files of a packed folder."""
    return [(os.fsdecode(path), data) for path, data in msgspec.msgpack.decode(content, type=list[tuple[bytes, bytes]])]


def names_of_documents(paths: Iterable[str]) -> dict[str, str]:
    """Return the name of the document in each file of a folder: its path up to the first dot of the file's name.

    Where two files would have one name, each has its whole path without the ending.
    """
    short = {path: "/".join((*path.split("/")[:-1], basename(path).partition(".")[0])) for path in paths}
    return short if len({*short.values()}) == len(short) else {path: splitext(path)[0] for path in short}


def documents_in(paths: Collection[str], names: Collection[str]) -> dict[str, str]:
    """Return the name of the document in each file of an output: the longest of ``names`` that its path ends with.

    Where no file has such a name, it is that of the folder around it, as of ``c1/extracted.json``, which may also be
    the folder of the expected document: ``c1/expected.json``. Any other file has its own name up to its first dot, as
    of ``c1.extracted.json``. What all files of a folder end with is no part of a name, as of ``c1_predicted.json``.
    """
    stems_in = grouped((dirname(path), basename(path).partition(".")[0][::-1]) for path in paths)
    common = {at: re.sub("^[^._-]+", "", commonprefix(stems)[::-1]) for at, stems in stems_in.items() if stems[1:]}
    by_folder = {"/".join(folders): name for name in names if (folders := name.split("/")[:-1])}
    found: dict[str, str] = {}
    for is_by_folder in (False, True):
        are_in_folders = is_by_folder and len(by_folder) == len(names) > 1
        by_stem = {FILE_ENDING.sub("", name): name for name in names if name}
        wanted = by_folder if are_in_folders else {**by_stem, **{name: name for name in names if name}}
        for path in () if found else paths:
            *folders, file = path.split("/")
            short = file.partition(".")[0]
            own = [[splitext(file)[0]], [short], [short.removesuffix(common.get(dirname(path), ""))]]
            stems = [[]] if is_by_folder else own
            ends = ("/".join([*folders[depth:], *stem]) for depth in range(len(folders) + 1) for stem in stems)
            if end := next((end for end in ends if end in wanted), ""):
                found[path] = wanted[end]
    return {path: found.get(path) or basename(path).partition(".")[0] for path in paths}
