"""Pairs folders in which each document has a file of its own: ``golden/c1.json`` with ``outputs/c1.json``.

The expected documents may also be in one file, by the names of the others: ``golden.json`` with ``outputs/c1.json``.

Folders of outputs beside each other are those of one eval: its runs if their names have a number or a date, otherwise
those of the models or variants that answered.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice
from pathlib import PurePosixPath as PurePath
from posixpath import basename, commonpath, dirname, join, relpath, splitext
from typing import Any, Final, TypeAlias

from sitegen.data_files.folders import DATA, FILE_ENDING, documents_in, may_hold_document, names_of_documents
from sitegen.history.layout import records_of
from sitegen.importers.case_rows import columns_apart
from sitegen.importers.tool_values import members
from sitegen.importers.usual_names import MODEL
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Value
from sitegen.model.usage import TOKENS_IN, TOKENS_OUT
from sitegen.recognition.files import TEXT, Proposal, SearchedFile, leaf_paths, value_of
from sitegen.recognition.output_series import (
    OutputSeries,
    documents_by_name,
    is_result_by_name,
    is_truth_by_name,
    names_a_run,
)
from sitegen.scoring.case_files import rank_as_id
from sitegen.text.globs import literal_prefix
from sitegen.text.keys import plain_key
from sitegen.text.plain import natural_order
from sitegen.text.values import id_text

_LEAST: Final = 2  # the least number of documents that two folders have in common
_LEAST_SHARE: Final = 0.5
"""The least share of files of outputs that are named like expected documents, and of the expected fields in them."""
_MOST_FILES: Final = 12
"""The most files that are read to see whether they hold expected documents by name, those nearest to the root."""
_READ: Final = 3  # number of pairs of files whose fields are compared
_OUTPUTS = re.compile(
    r"(?i)(?:^|[/._-])(?:actuals?|answers?|extracted|generated|out(?:puts?)?|pred(?:s|icted|ictions?)?|responses?|"
    r"results?|runs?)(?:[._-][^/]*)?(?:/[^/]*)?$"
)
"""Matches the path of a folder that is called as outputs are, or that is in such a folder."""

_SIDE: Final = re.compile(
    r"(?i)(.+)[._-](?:(expected|gold(?:en)?|truth|gt)|actual|extracted|got|out(?:put)?|pred(?:icted|iction)?|response|result)"
)
"""Matches a name that ends with the side of its document which it is: what is expected, or else what was given."""
_MOVE: Final = "both sides are in one folder. Move what is expected to expected/NAME.json, outputs to outputs/NAME.json"

_OF_THE_CALL: Final = frozenset((*TOKENS_IN, *TOKENS_OUT, "totaltokens", "modelname", "rawoutput", "rawresponse"))
"""Plain names of what a program adds to an output about the call that made it."""

Documents = Mapping[str, SearchedFile]
"""Files by the names of their documents."""
Sides: TypeAlias = list[tuple[str, Value, Value]]
"""The name, the expected value and the output of documents; None for a value that no version of a file states."""


def folders_of_documents(files: Iterable[SearchedFile]) -> list[tuple[OutputSeries, Proposal, frozenset[str]]]:
    """Return (outputs, proposal, paths of both sides) of the evals of folders that pair by names and fields.

    The files of outputs are those of the newest run, and the expected folder is the one that fits best.
    """
    present = [file for file in files if may_hold_document(file.path)]
    present.sort(key=lambda file: (_truth_or_folder(file), file.path))
    by_folder = {folder: [*own] for folder, own in groupby(present, key=_truth_or_folder)}
    truths = {truth: expected for truth, expected in _truths(by_folder) if len(expected) >= _LEAST}
    by_name = {truth: expected for truth, expected in truths.items() if is_truth_by_name(truth)}
    records = {*records_of("fields")}.difference(file.name for own in by_name.values() for file in own.values())
    given = [file for file in present if file.path not in truths and file.name not in records]
    # Any two folders may have files of the same names: if none is named as the truth, the other is as an answer.
    answers = [file for file in given if is_result_by_name(f"{file.folder}/") or MODEL.search(file.folder)]
    unnamed = {truth: expected for truth, expected in truths.items() if truth not in by_name}
    nearest = {**_of_nearest_truth(by_name, given), **_of_nearest_truth(unnamed, answers)}
    found: list[tuple[OutputSeries, Proposal, frozenset[str]]] = []
    used: set[str] = set()
    for truth, expected in truths.items():
        if truth in used:
            continue
        named = {
            folder: documents
            for folder, documents in _folders_of_outputs(nearest[truth], expected).items()
            if folder not in used and not is_truth_by_name(folder)
        }
        sides = {at: _sides(at, expected, own) for at, own in named.items() if len(own) >= _LEAST}
        agree = {folder for folder in sides if sides[folder]}
        # A model or a run that gave little, or something else, is one of those beside it.
        beside = {folder for folder in named if dirname(folder) in {*map(dirname, agree)}}
        beside = {each for each in beside if MODEL.search(basename(each)) or names_a_run(basename(each))}
        outputs = {folder: documents for folder, documents in named.items() if folder in agree | beside}
        known = tuple(f"{folder}/" for folder in (truth, *outputs))
        others = [folder for folder in by_folder if not f"{folder}/".startswith(known)]
        evals = list(_evals(truth, expected, outputs, others, sides))
        found += evals
        used |= {truth, *outputs} if evals else set()
    return found


def beside_their_outputs(files: Iterable[SearchedFile]) -> dict[str, str]:
    """Return both files of each document of a folder that holds both sides, and for the expected one what to do."""
    sides: dict[str, dict[str, dict[bool, str]]] = {}
    for file in files:
        if match := _SIDE.fullmatch(file.stem if file.ending in TEXT | DATA else file.name):
            sides.setdefault(file.folder, {}).setdefault(match[1], {})[bool(match[2])] = file.path
        elif file.ending in DATA and is_result_by_name(file.path):  # ``d1.json`` beside ``d1.golden.json``
            sides.setdefault(file.folder, {}).setdefault(file.stem, {}).setdefault(False, file.path)
    pairs = ([both for both in documents.values() if len(both) > 1] for documents in sides.values())
    several = [both for of_folder in pairs if len(of_folder) >= _LEAST for both in of_folder]
    return {path: _MOVE * is_expected for both in several for is_expected, path in both.items()}


def _truth_or_folder(file: SearchedFile) -> str:
    """Return the outermost folder around a file that is named like expected values, otherwise its own folder."""
    parts = file.folder.split("/")
    above = ("/".join(parts[: depth + 1]) for depth, part in enumerate(parts) if is_truth_by_name(part))
    return next(above, file.folder)


def _truths(by_folder: Mapping[str, Sequence[SearchedFile]]) -> Iterator[tuple[str, Documents]]:
    """Yield folders and files that may hold what is expected, those that are named so first, and their documents."""
    for folder in sorted(by_folder, key=lambda folder: (not is_truth_by_name(folder), folder)):
        names = names_of_documents(file.path.removeprefix(f"{folder}/") for file in by_folder[folder])
        expected = dict(zip(names.values(), by_folder[folder], strict=True))
        is_of_answers = is_result_by_name(f"{folder}/") or MODEL.search(basename(folder))
        if folder and (is_truth_by_name(folder) or not (is_of_answers or any(map(is_truth_by_name, expected)))):
            yield folder, expected
    files = (file for own in by_folder.values() for file in own)
    in_files = [file for file in files if file.ending in DATA and is_truth_by_name(file.name)]
    for file in sorted(in_files, key=lambda file: (file.path.count("/"), file.path))[:_MOST_FILES]:
        yield file.path, dict.fromkeys(_ids_in(file)[1], file)


def _ids_in(file: SearchedFile) -> tuple[str, list[str]]:
    """Return the key of the ids of the documents that a file lists, and these as names of files; none without a key."""
    value = value_of(file.ending, next(file.contents, b""))
    rows = [members(row) for row in (value if isinstance(value, list) else documents_by_name(value))]
    keys = sorted(columns_apart(rows), key=lambda key: (rank_as_id(key), key != "document", key != "id"))
    key = next((key for key in keys if rank_as_id(key) < 2), "")  # 2 is any other column
    return key, [FILE_ENDING.sub("", id_text(row[key])) for row in rows if key]


def _of_nearest_truth(truths: Mapping[str, Documents], files: Iterable[SearchedFile]) -> dict[str, list[SearchedFile]]:
    """Return the files that may be outputs of each truth: those of the folders to which no truth that fits is nearer.

    A truth fits if most files of the folder, or the folder itself, are called as one of its documents.
    """
    found: dict[str, list[SearchedFile]] = {truth: [] for truth in truths}
    words = {truth: {basename(part) for name in truths[truth] for part in (name, dirname(name))} for truth in truths}
    below = grouped((above, truth) for truth in truths for above in PurePath(truth).parents)
    for folder, own in grouped((file.folder, file) for file in sorted(files, key=lambda file: file.path)).items():
        called = [{file.stem, basename(folder), *accumulate(re.split("(?=[._-])", file.name))} for file in own]
        for above in PurePath(folder, "_").parents:
            if near := [
                truth
                for truth in below.get(above, ())
                if sum(not words[truth].isdisjoint(each) for each in called) >= _LEAST_SHARE * len(own)
            ]:
                for truth in near:
                    found[truth] += own
                break
    return found


def _folders_of_outputs(files: Iterable[SearchedFile], expected: Documents) -> dict[str, Documents]:
    """Return folders most of whose files are named like expected documents, or are each in a folder of such a name."""
    folders: dict[str, dict[str, SearchedFile]] = {}
    sizes: dict[str, int] = {}
    left = {file.path: file for file in files}
    for _ in range(2):  # first those of files, if any are
        named = {path: name for path, name in documents_in(left, expected).items() if name in expected}
        for path, name in named.items():
            file = left.pop(path)
            is_by_file = basename(name) in (splitext(file.name)[0], file.name.partition(".")[0])
            inner = dirname(name) if is_by_file or not file.folder.endswith(f"/{name}") else name
            folder = file.folder.removesuffix(inner).rstrip("/")
            sizes[folder] = sizes.get(folder, 0) + 1 + (name in folders.get(folder, ()) and not is_by_file)
            folders.setdefault(folder, {})[name] = file
    for file in left.values():
        sizes[file.folder] = sizes.get(file.folder, 0) + 1
    return {
        folder: documents
        for folder, documents in sorted(folders.items())
        if folder and len(documents) >= _LEAST_SHARE * sizes[folder]
    }


def _sides(folder: str, expected: Documents, given: Documents) -> Sides:
    """Return both sides of a few documents; none if the files of a folder seem to be no outputs.

    They are outputs if one, in its newest or an earlier version, has most of the expected fields, in an envelope or
    not, or, in a folder that is called as outputs are, nothing else. Where no version can be read, names decide.
    """
    is_called_so = _OUTPUTS.search(folder) or MODEL.search(basename(folder)) or names_a_run(basename(folder))
    sides, shares = Sides(), list[float]()
    for name in sorted(given)[:: -(-len(given) // _READ)]:
        files = expected[name], given[name]
        if b"" in [next(file.contents, None) for file in files]:
            return []
        wanted, truth = next(_stated(name, files[0]), (frozenset[str](), None))
        best, output = -1.0, None
        for paths, value in _stated(name, files[1]) if wanted else ():
            common = sum(path in paths or any(each.endswith(f".{path}") for each in paths) for path in wanted)
            share = 1.0 if is_called_so and paths <= wanted else common / len(wanted)
            best, output = (share, value) if share > best else (best, output)
            if best >= _LEAST_SHARE:
                break
        sides.append((name, truth, output))
        shares += [best] if output is not None else []
    by_names = all(is_truth_by_name(file.path) for file in expected.values())
    return sides if max(shares, default=by_names) >= _LEAST_SHARE else []


def _stated(name: str, file: SearchedFile) -> Iterator[tuple[frozenset[str], Value]]:
    """Yield (field paths, value) of a document in each version of a file that has any, the newest first."""
    for content in islice(file.contents, file.versions):
        value = value_of(file.ending, content)
        value = value.get(name, value) if isinstance(value, dict) else value
        if paths := leaf_paths(value):
            yield frozenset(path.removeprefix("[].") for path in paths), value


def _evals(
    truth: str, expected: Documents, outputs: Mapping[str, Documents], others: Collection[str], sides: dict[str, Sides]
) -> Iterator[tuple[OutputSeries, Proposal, frozenset[str]]]:
    """Yield the evals of folders of outputs: one of those beside each other, or one for each of other folders.

    ``others``: folders that are neither outputs nor the truth. ``sides``: those of documents of folders of outputs.
    """
    in_order = sorted(outputs, key=natural_order)
    by_glob = grouped((_glob_around(folder, outputs, others), folder) for folder in in_order)
    for place, of_place in by_glob.items():
        folders = {folder: outputs[folder] for folder in of_place}
        # Whose outputs these are is not known, if their names are neither those of models nor of outputs.
        name = basename(place)
        if not (is_truth_by_name(truth) or is_result_by_name(place) or MODEL.search(name) or "{" in name):
            continue  # two folders of anything
        is_sure = place != of_place[0] or len(by_glob) == 1 or is_result_by_name(name) or MODEL.search(name)
        unsure = "" if is_sure else f"{basename(of_place[-1])} may be a run, a model or something else"
        above = dirname(literal_prefix(f"{place}/"))
        common = commonpath([dirname(truth), above]) if dirname(truth) and above else ""
        inside = relpath(place, common or ".")
        files = tuple(file for documents in folders.values() for file in documents.values())
        inner = "" if any(file.path == truth for file in expected.values()) else "/"
        shared = len({name for documents in folders.values() for name in documents})
        series = OutputSeries(common, f"{inside}/", files)
        own = [side for folder in of_place for side in sides.get(folder, ())]
        stated = {key for _, wanted, _ in own for key in members(wanted)}
        ignore = [
            key
            for name, wanted, given in own
            for key, cell in members(given).items()
            if members(wanted) and key not in stated and key.isidentifier()
            if plain_key(key) in _OF_THE_CALL or cell == name
        ]
        settings: dict[str, Any] = {} if inner else {"documents": {"key": _ids_in(next(iter(expected.values())))[0]}}
        settings |= {"ignore": [*dict.fromkeys(ignore)]} if ignore else {}
        place_of_truth = f"{relpath(truth, common or '.')}{inner}"
        entry: dict[str, Any] = {"dir": common or ".", "outputs": series.outputs, "ground_truth": place_of_truth}
        entry |= {"settings": settings} if settings else {}
        why = f"{truth}{inner and '/*'} and {place}/* have {shared} names in common, as of documents with a file each"
        doubt = unsure if is_truth_by_name(truth) else f"is {truth}{inner} the truth?"
        used = frozenset(file.path for file in (*expected.values(), *files))
        yield series, Proposal(id="", entry=entry, why=why, doubt=doubt), used


def _glob_around(folder: str, outputs: Collection[str], others: Collection[str]) -> str:
    """Return the glob of folders that are in one eval with a folder of outputs; the folder itself if it is alone.

    A run is ``*``. One who answered is ``{model}`` or ``{variant}`` if several are in its place, and nothing else: of
    the folders that are beside it, or in the runs beside its run.
    """
    above, is_run = dirname(folder), names_a_run(basename(folder))
    if is_run and not above:
        return folder
    is_in_run = not is_run and names_a_run(basename(above)) and bool(dirname(above))
    one = above if is_run else folder
    start = dirname(above) if is_in_run else dirname(one)
    inside, depth = f"{start}/" if start else "", one.count("/")
    names, strange = (
        {at[len(inside) :].split("/")[is_in_run] for at in of if at.startswith(inside) and at.count("/") >= depth}
        for of in (outputs, others)
    )
    answerer = basename(one)
    if len(names) >= _LEAST and not strange and not any(map(names_a_run, names)):
        answerer = "{model}" if any(map(MODEL.search, names)) else "{variant}"
    if is_run:
        return f"{join(start, answerer) if answerer == '{model}' else above}/*"
    return join(start, "*" if is_in_run else "", answerer)
