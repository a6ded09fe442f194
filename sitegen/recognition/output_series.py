"""Groups data files into series of outputs: a file that is overwritten repeatedly, or runs that match one glob.

The ground truth of a series is the file that shares fields with its outputs and, for lists of documents, ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from posixpath import relpath
from types import MappingProxyType
from typing import Any, Final

from sitegen.data_files.folders import DATA
from sitegen.importers.case_rows import columns_apart, named_rows
from sitegen.importers.tool_values import members
from sitegen.importers.usual_names import ANSWER, INPUTS, MODEL, PARTS, TRUE_LABELS, VERDICTS, WEAK_VERDICTS, usual_key
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.outcomes import Value
from sitegen.recognition.files import RESULTS, SearchedFile, leaf_paths, table_of
from sitegen.scoring.case_files import rank_as_id
from sitegen.scoring.ground_truth.truth import ENVELOPES
from sitegen.text.globs import compiled
from sitegen.text.keys import plain_key
from sitegen.text.plain import natural_order
from sitegen.text.values import id_text

_DATED = re.compile(
    r"(?<![0-9])20[0-9]{2}[-_]?[01][0-9](?:[-_]?[0-3][0-9](?:[0-2][0-9][0-5][0-9])?)?(?![0-9])|(?<![0-9])1[5-9][0-9]{8}(?:[0-9]{3})?(?![0-9])"
)
"""Matches a date, or seconds or milliseconds since 1970."""
_NUMBERED = re.compile(
    r"(?<![a-z0-9])(?:run|round|iteration|iter|exp|experiment|attempt|trial|batch|durchlauf|lauf|results?|outputs?|version|v|r)"
    r"[-_ ]?[0-9]+",
    re.IGNORECASE,
)
_NUMBER_IN_FOLDER = re.compile(r"(?:runs?|rounds?|iterations?|experiments?|attempts?|trials?|repeats?)/[0-9]+")
_BEFORE_REPEAT = re.compile(r"(?:.*[/_-])?(?:run|attempt|trial|repeat)(?:s?/|[-_]?)")
_DIGEST = re.compile(r"[-_.]*(?:[0-9a-f]{7,40}[-_.]+)?")
_ORDINAL = re.compile(r"[A-Za-z]{0,4}[-_]?(?=[0-9]{1,6}[-_])")
"""Matches the start of a folder's name with both a counter and a date: ``R003__2025-12-18``."""
OF_NOW = re.compile(r"(?:^|[-_. ])(?:latest|current|newest|last|previous|copy|backup|bak)(?:[-_. ]|$)", re.IGNORECASE)
"""Matches names that only say when a file was written, or that it is a copy."""
_NUMBER = re.compile(r"[0-9]+")
_GLOB_SIGNS = re.compile(r"[*?\[\]\\]")

_PLACE = re.compile(
    r"eval|result|output|comparison|(?:^|[/_.-])runs?(?:[/_.-]|$)|(?:^|/)logs?/|bench|predict|extract|(?:^|[/_.-])actual(?![a-z])|report|respon|scor|metric|experiment|"
    r"answer|judg|classif|trace|accura|baseline|regression|评测|评估|评价|評価|結果|结果|(?:^|[/_.-])(?:(?:leader)?board|preds?(?=[/_.-]))|"
    r"(?:^|[/_.-])(?:braintrust|deepeval|helm|langfuse|langsmith|opik|ragas|trulens)(?![a-z])",
    re.IGNORECASE,
)
_TRUTH = re.compile(r"truth|gold|expected|answer[_-]?key|(?:^|[/_.-])gt(?:[/_.-]|$)", re.IGNORECASE)
_TRUTH_NAME = re.compile(r"label|reference|annotat|correct", re.IGNORECASE)
"""Words that suggest expected values in the name of a file, but not in the name of a folder."""
_OUTPUT = re.compile(r"output|extract|predict|result|respon|actual|generat|answer|(?:^|/)runs?(?:/|$)", re.IGNORECASE)
_DATA_SET = re.compile(r"data[_-]?set|questions|test[_-]?(?:cases|set)", re.IGNORECASE)
"""Words in the name of a file that may hold questions, with what is expected or without."""
_NO_RESULTS = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|tsconfig[^/]*\.json|jsconfig\.json|components\.json|composer\.json|turbo\.json|vercel\.json|"
    r"(?:[^/]*[-_.])?lock(?:file)?\.(?:json|ya?ml)|pnpm-workspace\.yaml|mkdocs\.ya?ml|(?:docker-)?compose[^/]*\.ya?ml|(?:[^/]*[-_.])?schema\.json|"
    r"[^/]*(?:config|threshold)[^/]*\.(?:json|ya?ml)|(?:manifest|gates?)\.(?:json|ya?ml)|renovate\.json|settings[^/]*\.json|environment\.ya?ml)$"
    r"|(?:^|/)configs?/(?:[^/]*$|.*\.ya?ml$)|(?:^|/)(?:[^/]*[-_.]manifest|task)\.(?:json|ya?ml)$|[^/]*(?:checkpoint|intermediate|partial|backup|confusion[-_]?matrix|npm-audit|(?:calibration|roc|pr)[-_]?curve|shap[-_]|feature[-_](?:importance|attribution))[^/]*$|(?:^|/)[^/]*search[-_]results?(?:/|[^/]*$)|(?:^|/)(?:fixtures?|helm|testdata|test[_-]data|schemas?|i18n|locales?|translations?)/|(?:^|/)\.",
    re.IGNORECASE,
)
"""Matches settings of tools, what they say of dependencies, matrices of classes, curves, test data, hidden files."""
_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/", re.IGNORECASE)
_EVALS_OF_TESTS = re.compile(r"/(?:evals?|evaluations?|runs?|prompts?)/", re.IGNORECASE)
"""Matches folders below test folders in which files are results of evals nevertheless."""
_DATA_FOLDERS: Final = frozenset(("data", "dataset", "datasets"))
_LEAST_RUNS: Final = 2  # runs of a series

_NO_PART_OF_A_NAME = re.compile(
    r"(?<![a-z0-9])(?:20\d{2}[-_]?\d{2}[-_]?\d{2}(?:T?[-_]?\d{2,6}(?:[-_]?\d{2}){0,2}Z?)?|(?=[a-f]*\d)[0-9a-f]{7,64}|"
    r"\d{4,}|iteration[-_]?\d+|latest|last|current|newest|results?|outputs?|responses?|summary|metrics|scores?|reports?|cache|data|all)"
    r"(?![a-z0-9])",
    re.IGNORECASE,
)
"""Matches what says in the name of a file when it was written, or that it has results, but not of what."""
OF_EVALS: Final = frozenset(("evals", "eval", "evaluation", "evaluations", "experiments"))
_UNINFORMATIVE: Final = OF_EVALS | {
    *("runs", "run", "iterations", "iteration", "läufe", "baselines", "raw", "v", "export", "exports", "metadata"),
    *("src", "apps", "app", "web", "public", "static", "lib", "packages", "files", "logs"),
}
"""Names that do not describe what is in a file or a folder."""


class OutputSeries(Frozen):
    """A file that is overwritten, or the runs that a glob matches."""

    folder: str
    """The folder of an eval with these outputs; empty for the root."""
    outputs: str
    """The file or the glob, relative to the folder."""
    files: tuple[SearchedFile, ...]
    """Sorted by name; of several who answered, those of each."""
    parts: tuple[OutputSeries, ...] = ()
    """The outputs of each model or variant, if several answered."""

    @property
    def newest(self) -> SearchedFile:
        """The only file, or the last run by name."""
        return self.files[-1]

    @property
    def is_glob(self) -> bool:
        """Whether the outputs are runs."""
        return "*" in self.outputs

    @property
    def is_of_cases(self) -> bool:
        """Whether each file is one case with its verdict or score."""
        return bool(self.parts) and self.outputs.endswith("/")

    @property
    def deleted(self) -> bool:
        """Whether every file was deleted."""
        return all(file.deleted for file in self.files)

    @property
    def versions(self) -> int:
        """The largest possible number of outputs."""
        return sum(file.versions for file in self.files)

    @property
    def path(self) -> str:
        """The path of the file or the glob, relative to the root."""
        return f"{self.folder}/{self.outputs}" if self.folder else self.outputs

    def is_namesake(self, truth: SearchedFile) -> bool:
        """Whether the name begins with that of a file of expected values: ``truth/a.json``, ``output/a_read.json``."""
        in_place = is_truth_by_name(truth.folder) and not is_truth_by_name(self.folder)
        return in_place and bool(re.match(rf"{re.escape(truth.stem)}(?![A-Za-z0-9])", self.newest.stem))

    def may_have(self, truth: SearchedFile) -> bool:
        """Whether a file is neither an output of another run nor in another part of the project."""
        if self.is_namesake(truth):
            return True
        is_output = truth.name == self.newest.name or (self.is_glob and bool(run_globs_of(truth.path)))
        above, below = sorted((truth.folder, self.folder), key=len)
        tops = [folder.partition("/")[0] for folder in (above, below)]
        # A folder that is named after what is in it, and not after a part of the project, is one of all parts.
        are_of_all = all(top in _DATA_FOLDERS or is_result_by_name(top) or is_truth_by_name(top) for top in tops)
        return not is_output and (below.startswith(above) or tops[0] == tops[1] or are_of_all)

    @property
    def is_named_as_truth(self) -> bool:
        """Whether the path suggests expected values."""
        path, name = self.newest.path, self.newest.name
        return (is_truth_by_name(name) or is_truth_by_name(path) > is_result_by_name(name)) and not self.is_glob

    @property
    def hinted(self) -> bool:
        """Whether the path suggests results."""
        return is_result_by_name(self.path)


def is_truth_by_name(path: str) -> bool:
    """Whether a path suggests expected values."""
    return _TRUTH.search(path) is not None or _TRUTH_NAME.search(path.rpartition("/")[2]) is not None


def is_result_by_name(path: str) -> bool:
    """Whether a path suggests the results of a run."""
    return _PLACE.search(path) is not None


def data_files(files: Iterable[SearchedFile], endings: Collection[str] = RESULTS) -> tuple[SearchedFile, ...]:
    """Return the files that may hold outputs, expected values or results.

    A document is called like settings if a file beside expected documents is, as ``golden/config.json``.
    """
    files = [file for file in files if file.ending in endings]
    documents = {file.name for file in files if is_truth_by_name(file.folder)}
    return tuple(
        file
        for file in files
        if not _NO_RESULTS.search(file.path.replace(f"/{file.name}", "/_") if file.name in documents else file.path)
        and not _GLOB_SIGNS.search(file.path)
        and (not _TESTS.search(file.path) or _EVALS_OF_TESTS.search(file.path))
    )


def output_series(files: Iterable[SearchedFile]) -> tuple[OutputSeries, ...]:
    """Return series of runs, then single files; within both, those with the most versions, nearest to the root, first.

    A file belongs to the widest glob that at least ``_LEAST_RUNS`` files share; without such a glob it is a series of
    its own.
    """
    series: list[OutputSeries] = []
    remaining = [(file, run_globs_of(file.path)) for file in files]
    while remaining:
        widest = {globs[0] for _, globs in remaining if globs}
        by_glob: dict[str, list[tuple[SearchedFile, tuple[str, ...]]]] = {}
        for file, globs in remaining:
            if globs:  # runs without a model beside those of models are runs of one eval
                globs = globs[1:] if globs[1:] and globs[1] in widest else globs
                by_glob.setdefault(globs[0], []).append((file, globs[1:]))
            else:
                series.append(OutputSeries(file.folder, file.name, (file,)))
        remaining = []  # files whose glob matches too few runs try their next narrower glob
        for glob, of_glob in by_glob.items():
            if len({MODEL.sub("", file.path) for file, _ in of_glob}) < _LEAST_RUNS:  # or each is of another model
                remaining += of_glob
                continue
            segments = glob.split("/")
            wild = next(index for index, segment in enumerate(segments) if "*" in segment)
            in_order = tuple(sorted((file for file, _ in of_glob), key=lambda file: natural_order(file.path)))
            series.append(OutputSeries("/".join(segments[:wild]), "/".join(segments[wild:]), in_order))
    runs = {file.oid: len(one.files) for one in series if one.is_glob for file in one.files}
    series = [one for one in series if one.is_glob or one.versions - 1 > runs.get(one.newest.oid, -1)]
    series.sort(key=lambda one: (not one.is_glob, not one.hinted, -one.versions, one.path.count("/"), one.path))
    named = {(one.folder, one.newest.oid): one.versions for one in series if not OF_NOW.search(one.newest.stem)}
    first = {(one.newest.oid, one.newest.name): one.path for one in series[::-1] if not (one.is_glob or one.deleted)}
    kept = []
    for one in series:
        path = first.get((one.newest.oid, one.newest.name), one.path)
        # A ``latest.json`` is a file of another name again, or a file one in another part of the project.
        is_again = OF_NOW.search(one.newest.stem) and one.versions <= named.get((one.folder, one.newest.oid), 0)
        is_copy = one.path.endswith(f"/{path}") or one.path.partition("/")[0] != path.partition("/")[0]
        if one.is_glob or not (is_again or is_copy):
            kept.append(one)
    return tuple(kept)


def run_globs_of(path: str) -> tuple[str, ...]:
    """Return the globs of runs that a path may belong to, widest first; empty if no part of it looks like a run.

    A segment looks like a run if it has a date, or a number after a word for runs, which may be the folder around it.
    The wildcard replaces the date or number and everything after it, except the suffix of a file. Repeats in the folder
    of a run have two: ``iteration-*/runs/*/results.jsonl``.
    """
    segments = path.split("/")
    globs = []
    for index, segment in enumerate(segments):
        is_file = index == len(segments) - 1
        stem, dot, ending = segment.rpartition(".") if is_file else (segment, "", "")
        if index and _NUMBER_IN_FOLDER.fullmatch(f"{segments[index - 1].lower()}/{stem}"):
            globs.append("/".join((*segments[:index], f"*{dot}{ending}", *segments[index + 1 :])))
        for match in _runs_in(stem):
            number = _NUMBER.search(stem, match.start())
            ordinal = None if is_file else _ORDINAL.match(stem)
            start = ordinal.end() if ordinal else number.start() if number else match.start()
            before = stem[:start] or ("20" if is_file and stem.startswith("20") else "")  # without ``latest.json``
            model = MODEL.search(stem, match.end()) if is_file else None
            # The runs of each model are an eval: ``2025-01-01_gpt-4o.jsonl``.
            ends = (f"*{stem[model.start() - 1 :]}", "*") if model and model.end() == len(stem) else ("*",)
            # A file that repeats the date of its folder is of that run: ``2025-01-01/sums-2025-01-01.json``.
            below = segments[index + 1 :]
            if below and match[0] in below[-1] and _DATED.fullmatch(match[0]) and (own := run_globs_of(below[-1])):
                below[-1] = f"{own[0].partition('*')[0]}*{re.split(f'{match[0]}[-_T0-9Z]*', below[-1])[-1]}"
            globs += ["/".join((*segments[:index], f"{before}{end}{dot}{ending}", *below)) for end in ends]
    for glob in globs[1:]:
        if _BEFORE_REPEAT.fullmatch(glob.partition("*")[0]):
            both = zip(globs[0].split("/"), glob.split("/"), strict=True)
            globs.insert(0, "/".join(run if "*" in run else repeat for run, repeat in both))
            break
    return tuple(dict.fromkeys(globs))


def numbers_alone(glob: str, paths: Iterable[str]) -> str:
    """Return a glob with numbers alone for ``*`` if that matches a text: for ``qa_*.json`` ``qa_summary.json``."""
    of_text = compiled((glob.replace("*", "[!0-9]*", 1),))
    return glob.replace("*", "[0-9]*", 1) if "*" in glob and any(map(of_text.fullmatch, paths)) else glob


def with_repeats(glob: str, paths: Sequence[str], commits: Callable[[str], tuple[str, ...]]) -> str:
    """Return a glob of runs with ``{repeat}`` for the last number if one commit added all of each: they are repeats."""
    start, _, end = glob.rpartition("*")
    before = start.rpartition("*")[2]
    if not before:
        return glob
    runs = [path.removesuffix(end).rpartition(before) for path in paths]
    numbers = {number.partition("/")[0] for *_, number in runs}
    may_be = 1 < len(numbers) <= 30 and _BEFORE_REPEAT.fullmatch(start) and all(map(str.isdecimal, numbers))
    commits_of_runs = grouped((run, commits(path)[-1:]) for (run, *_), path in zip(runs, paths, strict=True))
    is_at_once = all(len({*added}) == 1 for added in commits_of_runs.values())
    return f"{start}{{repeat}}{end}" if may_be and is_at_once else glob


def _runs_in(stem: str) -> list[re.Match[str]]:
    """Return the number of a run in a name that only a digest parts from a date, and the date; none of a model."""
    masked = MODEL.sub(lambda model: "~" * len(model[0]), stem)
    dated, numbered = _DATED.search(masked), _NUMBERED.search(masked)
    if dated and numbered and not _DIGEST.fullmatch(masked, numbered.end(), max(numbered.end(), dated.start())):
        numbered = None
    return [match for match in (numbered, dated) if match and not (dated and match.start() > dated.start())]


def names_a_run(name: str) -> bool:
    """Whether the name of a folder has the date or the number of a run, or is a number."""
    return name.isdecimal() or bool(_runs_in(name))


def informative_part(name: str) -> str:
    """Return a name without what it says of time and of results; empty if that is all that it says."""
    rest = re.sub(r"[-_. ]{2,}", "-", _NO_PART_OF_A_NAME.sub("", name)).strip("-_. ").removesuffix("-v")
    return rest if rest.casefold() not in _UNINFORMATIVE and any(map(str.isalpha, rest)) else ""


_LEAST_AGREEMENT: Final = 0.5  # the least share of expected fields that an output must have
_BY_NAME: Final = 0.5  # added to the agreement of a file whose name suggests expected values
_NO_TRUTH = re.compile(
    r"output|extract|predict|result|respon|actual|generat|report|checkpoint|metric|example", re.IGNORECASE
)
"""Words in the path of a file that does not hold expected values, unless another word says that it does."""
_TRUTHS_TRIED: Final = 12  # number of the nearest files that are tried as the expected values of an output
_NAMES_OF_IDS: Final = ("id", "file", "filename", "document")
"""Ends of names of fields that tell documents apart, and hardly the items of a list in one of them."""
_STATES: Final = frozenset((*VERDICTS, *WEAK_VERDICTS))


def _holds_questions(file: SearchedFile) -> bool:
    """Whether a file may hold questions by its name or its folder, which may have what is expected beside them."""
    in_data = file.folder.partition("/")[0] in _DATA_FOLDERS and not is_truth_by_name(file.path)
    return in_data or _DATA_SET.search(file.name) is not None


class Shape(Frozen):
    """The fields of the documents of a file, and the ids of the documents."""

    fields: frozenset[str]
    whole: frozenset[str] = frozenset()
    """The fields of an object with all that stands beside its list, as if it were one document."""
    keys: Mapping[str, frozenset[str]] = MappingProxyType({})
    """The values of each field that is unique in the list."""
    list_at: str = ""
    """Key of the list of documents; empty if the file is the list itself, or a single document."""
    sides: tuple[str, ...] = ("", "", "")
    """The columns of the question, of what is expected, and of an output, in a list that has them."""

    def is_answered_by(self, actual: Shape) -> bool:
        """Whether this list states what is expected, and the other one an output under the same ids of any name.

        A label is an output if the expected ones are called true.
        """
        is_label = plain_key(self.sides[1]) in TRUE_LABELS and plain_key(actual.sides[1]) == "label"
        sides = self.sides[1] and (is_label or (actual.sides[2] and not actual.sides[1]))
        ids = [[own for key, own in side.keys.items() if rank_as_id(key) < 2] for side in (self, actual)]
        are_cases = any(len(own & other) * 2 >= len(own) for own in ids[0] for other in ids[1])
        return bool(sides and (are_cases or self._common_key(actual)))

    def agreement(self, actual: Shape) -> float:
        """Return the share of these expected fields that an output has; 0 if the documents cannot be the same."""
        if self.is_answered_by(actual):
            return 1.0
        ids = [side.keys["id"] for side in (self, actual) if len(side.keys.get("id", ())) == len(side.keys) == 1]
        if len({*ids}) > 1:
            return 0.0  # each file is one document, and another one
        key, is_like = self._pairing(actual)
        if is_like and key and any(plain_key(path) in _STATES for path in self.fields):
            return 0.0  # both are reports of one program
        wanted, given = (self.fields, actual.fields) if key else (self.whole, actual.whole)
        return len(wanted & given) / len(wanted) if (key or is_like) and len(wanted & given) > 1 else 0.0

    def keys_of_entry(self, actual: Shape) -> dict[str, Any]:
        """Return the kind, and the settings for the list of documents and the field with their ids, unless usual."""
        is_text = not any(path.startswith(f"{self.sides[1]}.") for path in self.fields)
        if (self.sides[0] or plain_key(self.sides[1]) in TRUE_LABELS) and is_text and self.is_answered_by(actual):
            return {"kind": "responses"}
        path, key = actual.list_at or self.list_at, self._pairing(actual)[0]
        where = {**({"path": path} if path else {}), "key": key}
        return {"settings": {"documents": where}} if key and (path or key != "id") else {}

    def _pairing(self, actual: Shape) -> tuple[str, bool]:
        """Return the field that pairs the documents of both lists, and whether the files are alike besides these.

        The field is empty if each file is one document that has a list.
        """
        sides = [{path for path in one.whole if not path.startswith(f"{one.list_at}[]")} for one in (self, actual)]
        common, key = len(sides[0] & sides[1]), self._common_key(actual)
        is_like = common > 1 and common * 2 >= min(map(len, sides))
        return key if plain_key(key).endswith(_NAMES_OF_IDS) or not is_like else "", is_like

    def _common_key(self, actual: Shape) -> str:
        """Return the unique field of both sides most like an id with half of its expected values in common, or none."""
        sides = ((key, ids, actual.keys.get(key, frozenset())) for key, ids in self.keys.items())
        common = [key for key, ids, actual_ids in sides if len(ids & actual_ids) * 2 >= len(ids)]
        return min(common, key=lambda key: (key != "id", rank_as_id(key)), default="")


def documents_by_name(value: Value) -> list[Value]:
    """Return the documents that an object or its envelope holds by their names, as rows; none if it holds others."""
    envelope = next((name for name in ENVELOPES if members(members(value).get(name))), "")
    documents = members(members(value).get(envelope, value))
    first = members(next(iter(documents.values()), None))
    if len(documents) < _LEAST_RUNS or any(first.keys().isdisjoint(members(each)) for each in documents.values()):
        return []
    return [{**members(each), "document": name} for name, each in documents.items()]


class TruthFinder:
    """Finds expected values among the data files of a history. Each file is read and parsed at most once."""

    def __init__(self, files: Iterable[SearchedFile]) -> None:
        self._shapes: dict[str, Shape | None] = {}
        present = {file.path: file for file in files if file.ending in DATA}
        self._named = {path: file for path, file in present.items() if is_truth_by_name(path) or _holds_questions(file)}
        self._others = [file for path, file in present.items() if not (path in self._named or _NO_TRUTH.search(path))]
        self._beside = grouped((file.folder, file.stem) for file in present.values())

    def paired(self, series: OutputSeries) -> tuple[SearchedFile, dict[str, Any]] | None:
        """Return the file with the expected values of an output, and keys of an entry that match their documents."""
        file, beside = series.newest, self._beside.get(series.newest.folder, ())
        ends = (f"{sign}{word}" for word in ("expected", "gold", "golden", "truth", "gt") for sign in "._-")
        is_by_name = any(f"{file.stem}{end}" in beside for end in ends)  # ``d1.json`` beside ``d1.golden.json``
        may_be = file.ending in DATA and (series.is_glob or _OUTPUT.search(series.path) or is_by_name)
        actual = self._shape(file) if may_be else None
        if actual is None:
            return None
        scored = [
            (agreement + _BY_NAME * is_truth_by_name(file.path) + 2 * series.is_namesake(file), file, expected)
            for file in self._truths(series)
            if (expected := self._shape(file))
            and (agreement := expected.agreement(actual)) >= _LEAST_AGREEMENT
            and (expected.is_answered_by(actual) or not _holds_questions(file))
        ]
        if not scored:
            return None
        # Of equally good files, this is the first, which is the nearest.
        _, file, expected = max(scored, key=lambda row: row[0])
        return file, expected.keys_of_entry(actual)

    def _truths(self, series: OutputSeries) -> list[SearchedFile]:
        """Return candidates for the expected values of an output: by name, then rarely edited ones; nearest first."""
        own_paths = {file.path for file in series.files}
        beside = self._beside.get(series.newest.folder, ())
        # Of two versions of an output, another file that has one is not known to be stable.
        stable = (file for file in self._others if series.versions > file.versions * 2) if series.versions > 2 else ()
        # A file that is called like another output beside this one has the expected values of that one.
        tried = [
            file
            for file in (*self._named.values(), *stable)
            if file.path not in own_paths
            and not OF_NOW.search(file.stem)
            and series.may_have(file)
            and (file.folder == series.newest.folder or series.is_namesake(file) or file.stem not in beside)
        ]

        def place(file: SearchedFile) -> tuple[Any, ...]:
            steps = f"/{relpath(file.folder or '.', series.folder or '.')}/".replace("/./", "/")  # up, and then down
            up, every = steps.count("../"), steps.count("/")
            name = series.is_namesake(file) * -len(file.stem)
            return name, file.path not in self._named, up, every, file.path

        return sorted(tried, key=place)[:_TRUTHS_TRIED]

    def _shape(self, file: SearchedFile) -> Shape | None:
        if file.path not in self._shapes:
            value = file.value
            value = named_rows(value) or documents_by_name(value) or value
            table = table_of(value)
            whole = leaf_paths(value) if isinstance(value, dict) else frozenset[str]()
            own = id_text(members(value).get("id"))
            shape = Shape(whole, whole, {"id": frozenset({own})} if own else {}) if isinstance(value, dict) else None
            if table is not None and (isinstance(value, list) or table.size > 1):
                shape = Shape(
                    fields=frozenset(path.removeprefix("[].") for path in leaf_paths(list(table.rows))),
                    whole=whole,
                    keys=columns_apart(table.rows),
                    list_at=table.key,
                    sides=tuple(usual_key(table.rows, names) for names in (INPUTS, PARTS["expected"], ANSWER)),
                )
            self._shapes[file.path] = shape
        return self._shapes[file.path]
