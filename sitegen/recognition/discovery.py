"""Proposes evals and instructions from the files of a project and their history.

A proposal is a guess from places, names and columns. A trial then folds and scores it as a build would, and only
proposals that give numbers are taken.
"""

import dataclasses
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from posixpath import basename, dirname, normpath, relpath, splitext
from typing import Any, Final, TypeAlias
from unicodedata import normalize

from msgspec.structs import replace

from sitegen.config.findings import home_of
from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import GROUND_TRUTHS
from sitegen.config.notes import NOTES_FILE
from sitegen.data_files.project_files import fetch_command
from sitegen.errors import POINTER, NothingToReportError, SitegenError
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.layout import Layout
from sitegen.history.process import share_processes
from sitegen.history.repository import MISSING, Repository
from sitegen.history.timeline import advance
from sitegen.model.frozen import grouped
from sitegen.model.metrics import traits_of
from sitegen.model.timeline import EvalHistory
from sitegen.recognition.answered_series import MOST_BESIDE, joined_series
from sitegen.recognition.document_folders import beside_their_outputs, folders_of_documents
from sitegen.recognition.files import (
    PDF,
    REPORTS,
    Discovery,
    FilesOfHistory,
    Proposal,
    SearchedFile,
    searched_files,
    why_malformed,
)
from sitegen.recognition.initialising import manifest_text
from sitegen.recognition.instruction_files import instruction_globs
from sitegen.recognition.output_series import (
    OF_EVALS,
    OutputSeries,
    TruthFinder,
    data_files,
    informative_part,
    is_result_by_name,
    is_truth_by_name,
    numbers_alone,
    output_series,
    with_repeats,
)
from sitegen.recognition.places import with_found_evals
from sitegen.recognition.recognition import OFTEN, Recognition, doubt_about, recognise, states_results
from sitegen.recognition.searched_files import BYTES, MOST_BYTES, MOST_READ, Search
from sitegen.scoring.kinds import File, ScoringInputs, scored_with_own_metrics, scorer, specs_of
from sitegen.text.globs import escaped, matches, without_answerers
from sitegen.text.plain import counted
from sitegen.text.values import metric_text

_MOST: Final = 40  # the most evals that are proposed
_MOST_SINGLE: Final = 10  # the most proposed evals with a single output, whose history shows nothing yet
_NOT_IN_AN_ID = re.compile(r"[^\w.-]+")
_BEFORE_A_NUMBER: Final = r"(?i)[-_. ]+(?:v|r|run|round|iter(?:ation)?|exp)[-_ ]?\*$"
"""Matches the end of the name of runs before their numbers: ``gpt-4o_v*``."""


_Found: TypeAlias = tuple[OutputSeries, Proposal]
"""A series of outputs, and the eval that it could be."""


def _proposals(files: Sequence[SearchedFile], existing_ids: Sequence[str]) -> list[Proposal]:
    """Return the evals that the files could hold, the most likely first, and what is told of other files."""
    present = [file for file in files if not file.deleted]
    refused = data_files(
        (file for file in present if file.refused and is_result_by_name(file.path)), {file.ending for file in files}
    )
    # A link that was deleted is missing.
    unread = {
        file.path: file.refused for file in refused if file.oid or file.search.files.refusal(file.path) != MISSING
    }
    unread |= (beside := beside_their_outputs(present))
    candidates = data_files(file for file in files if not (file.refused or file.path in beside))
    # What was expected before it was deleted is the truth if nothing is called so now.
    names = {file.name for file in candidates if not file.deleted and is_truth_by_name(file.path)}
    gone = {file.path for file in candidates if file.deleted and is_truth_by_name(file.path) and file.name not in names}
    sides = tuple(file for file in candidates if not file.deleted or file.path in gone)
    folders = folders_of_documents(sides)
    in_folders = frozenset[str]().union(*(used for _, _, used in folders))
    rest = tuple(file for file in candidates if file.path not in in_folders)

    found: list[_Found] = [(series, proposal) for series, proposal, _ in folders]
    not_recognised: dict[str, tuple[OutputSeries, bytes | None, str]] = {}
    finder = TruthFinder(file for file in sides if file.path not in in_folders)
    series_of_outputs = _series_of_outputs(rest, frozenset(file.path for file in files), finder)
    forms, proposals_in, single = set[tuple[frozenset[str], Any]](), Counter[str](), 0
    while len(found) < _MOST and (one := next(series_of_outputs, None)):
        series, content, proposal, reason = one
        if proposal is None or content is None:
            not_recognised[series.newest.path] = series, content, reason
            continue
        not_recognised.pop(series.newest.path, None)
        folder, kind = series.path.rpartition("/")[0], proposal.entry.get("kind")
        form = (frozenset(splitext(file.path)[0] for file in series.files), kind)
        if form in forms:  # the same results in another form: ``results.csv`` beside ``results.json``
            continue
        forms.add(form)
        if series.versions == 1:
            # The sums beside cases take no place from other evals.
            single += not (traits_of(kind).is_recorded and folder in proposals_in)
            if single > _MOST_SINGLE:
                continue
        proposals_in[folder] += "{" not in folder  # folders of variants have cases or a task of their own
        if proposals_in[folder] <= MOST_BESIDE:
            doubt = doubt_about(series, content, proposal.entry.get("settings", {}))
            found.append((series, replace(proposal, doubt=doubt)))

    unread |= {path: reason for path, (_, _, reason) in not_recognised.items()}
    unread = {path: reason for path, reason in unread.items() if not (found and reason == PDF)}
    homes = {file.folder for series, _ in found for file in series.files}
    of_project: dict[str, str] = {}
    for report in data_files((file for file in present if not file.refused), REPORTS):
        if is_result_by_name(report.path) and report.folder not in homes:
            unread[report.path] = why_malformed(report, report.content or b"")
        elif not found and report.name == "README.md" and report.versions >= OFTEN:
            of_project[report.path] = why_malformed(report, report.content or b"")
    strange = [(series, content) for series, content, _ in not_recognised.values() if content]
    unknown = [_proposal(series, None) for series, content in strange if states_results(series, content)]

    several = [series for series, _ in found if series.parts and not series.path.endswith("/")]
    wider = {one.path: [other.path for other in several if len(other.files) > len(one.files)] for one, _ in found}
    alone = [(one, proposal) for one, proposal in found if not matches(one.newest.path, wider[one.path])]
    kept, told = _without_crowds(alone, proposals_in)
    if single > _MOST_SINGLE:
        why = f"{counted(single - _MOST_SINGLE, 'file')} more that one commit wrote"
        told.append(Proposal(id="", why=why, lacks=f"only the first {_MOST_SINGLE} of these are looked at"))
    kept, sums = _without_sums(_in_shared_folders(kept))
    ids = _ids([series for series, _ in kept], existing_ids)
    named = (replace(proposal, id=name) for (_, proposal), name in zip(kept, ids, strict=True))
    told = [*named, *sums, *told, *unknown[:MOST_BESIDE], *_refused(unread)]
    truths = {file.stem.casefold(): file for file in present if is_truth_by_name(file.folder)}
    left = [(series.newest, truths.get(series.newest.stem.casefold())) for series, _ in strange if series.hinted]
    cased = "is called otherwise only by capital letters. Give both files of a document one name"
    differ = {file.path: f"{truth.path} {cased}" for file, truth in left if truth and truth.stem != file.stem}
    told = told or [*_refused({file.path: differ.get(file.path, _IN_NO_FORM) for file, _ in left})]
    return [*told, *_refused(of_project)]


def _without_sums(found: list[_Found]) -> tuple[list[_Found], list[Proposal]]:
    """Return the proposals without recorded metrics of runs whose cases are proposed, and what is said of these.

    sitegen computes them from the cases.
    """
    # Of each the folders of the output, or of the glob of runs, and of what it is by its name.
    described = [
        (
            {series.path.rpartition("/")[0], *(file.folder for part in (series, *series.parts) for file in part.files)},
            informative_part(splitext(basename(without_answerers(series.outputs)))[0]).partition(".")[0],
            traits_of(proposal.entry.get("kind")).is_recorded,
        )
        for series, proposal in found
    ]
    kept, sums = list[_Found](), list[Proposal]()
    for (series, proposal), (places, word, is_recorded) in zip(found, described, strict=True):
        # Two names that say of what are of two runs: ``baseline.json`` has cases, ``redteam.json`` other numbers.
        if not is_recorded or not any(
            places & of_cases and (not (word and other) or word == other)
            for of_cases, other, is_sum in described
            if not is_sum
        ):
            kept.append((series, proposal))
        elif word:
            sums.append(replace(proposal, lacks="its numbers may be of the cases that are found beside it"))
    return kept, sums


def _in_shared_folders(found: list[_Found]) -> list[_Found]:
    """Return the proposals, of which none is in a folder inside that of another with files there: it would own them."""
    moved = []
    for series, proposal in found:
        inside = f"{series.folder}/"
        others = (other.folder for other, _ in found if any(file.path.startswith(inside) for file in other.files))
        shared = (each for each in others if not each or inside.startswith(f"{each}/"))
        folder = min(shared, key=len, default=series.folder)
        if folder != series.folder:
            below = relpath(series.folder, folder or ".")
            entry = {**proposal.entry, "dir": folder or ".", "outputs": f"{below}/{proposal.entry['outputs']}"}
            if truth := entry.get("ground_truth"):
                entry["ground_truth"] = normpath(f"{below}/{truth}")
            proposal = replace(proposal, entry=entry)
        moved.append((series, proposal))
    return moved


def _series_of_outputs(
    candidates: tuple[SearchedFile, ...], paths: frozenset[str], finder: TruthFinder
) -> Iterator[tuple[OutputSeries, bytes | None, Proposal | None, str]]:
    """Yield each series that may be outputs, its content, the eval that it could be, and why it cannot be read.

    The eval is None if the content is not recognised. ``paths``: those of all files, also of others than candidates.
    """
    truths = set[str]()
    remaining = deque(joined_series(output_series(candidates)))
    while remaining:
        series = remaining.popleft()
        path = series.newest.path
        # A deleted output was moved, and is proposed under its new name, or is no eval any more.
        if series.deleted or path in truths:
            continue
        # An output was rewritten, or its path suggests results. Files named like expected values need both.
        if series.versions < OFTEN and not (series.hinted or series.is_named_as_truth):
            continue
        content, recognition, reason = _recognised(series, finder)
        if recognition:
            truths.add(truth := recognition[0].get("ground_truth", ""))
            home = dirname(truth)
            if basename(truth) in GROUND_TRUTHS and series.folder.startswith(f"{home}/"):
                series = replace(series, folder=home, outputs=relpath(series.path, home))
        elif series.parts:  # the newest file is no output, but those of others may be
            remaining.extendleft(reversed(series.parts))
            content = None
        glob = numbers_alone(series.path, paths.difference(file.path for file in series.files))
        series = replace(series, outputs=glob[len(series.path) - len(series.outputs) :])
        yield series, content, _proposal(series, recognition) if recognition and content else None, reason


def _proposal(series: OutputSeries, recognition: Recognition | None) -> Proposal:
    """Return the eval that a series of outputs could be, without an id; one that lacks a form if it is none."""
    runs = f"{len(series.files):,} runs" if series.is_glob else f"written by {counted(series.versions, 'commit')}"
    if series.parts:
        answered = "" if series.is_of_cases or "{case}" in series.outputs else f" of {len(series.parts):,} who answered"
        runs = counted(len(series.files), "file") + answered
    if recognition is None:
        why = f"{series.path}, {runs}: results in no form that is known"
        return Proposal(id=series.path, why=why, lacks=_OF_NO_KNOWN_FORM)
    folder, (keys, why), outputs = series.folder or ".", recognition, series.outputs
    if not traits_of(keys.get("kind")).is_recorded:
        repeats = with_repeats(series.path, [each.path for each in series.files], series.newest.search.files.commits)
        outputs = repeats.removeprefix(f"{series.folder}/")
    entry = {**keys, "dir": folder, "outputs": outputs}
    if series.newest.earlier and not (series.is_glob or series.parts or keys.get("ground_truth")):
        entry["aliases"] = [*series.newest.earlier]  # of both sides, the fold finds the earlier places
    if truth := entry.pop("ground_truth", ""):
        entry["ground_truth"] = relpath(truth, folder)
    return Proposal(id="", entry=entry, why=f"{series.path}, {runs}: {why}")


def _recognised(series: OutputSeries, truths: TruthFinder) -> tuple[bytes | None, Recognition | None, str]:
    """Return the content by which an output is recognised, as what, and why it is not if it cannot be read.

    One broken output, or one whose calls all failed, does not hide all that were written before it.
    """
    file, files = series.newest, series.newest.search.files
    content = file.content
    if series.is_of_cases:
        folders = {each.folder for each in series.files}
        are_folders = len(folders) > 1 and not any(sign in series.outputs for sign in "*{")
        cases = counted(len(folders if are_folders else {each.name for each in series.files}), "case")
        return content, ({"kind": "judged"}, f"{cases} with a verdict or a score, each in a file"), ""
    recognition = recognise(series, content, truths) if content else None
    # With the labels of a model it may be an output as well.
    if series.is_named_as_truth and (series.versions < OFTEN or not series.hinted):
        columns = recognition[0].get("settings", {}).get("columns", {}) if recognition else {}
        if content is None or {"expected", "output"} <= columns.keys():
            return content, recognition, ""
        return None, None, why_malformed(file, content)
    if recognition is not None:
        return content, recognition, ""
    reason = why_malformed(file, content) if content else files.refusal(file.path, BYTES) * (content is None)
    if series.versions > 1 and (reason or series.hinted):
        content = next(files.earlier(file.path, BYTES), None if reason else content)
        recognition = recognise(series, content, truths) if content else None
    return content, recognition, reason if series.hinted else ""


def _refused(reasons: Mapping[str, str]) -> Iterator[Proposal]:
    """Yield what is told of files in places of results that cannot be read: the first one of each folder."""
    told = {path: reason for path, reason in reasons.items() if reason}
    told |= {path: f"{POINTER}. {fetch_command(path)}".removesuffix(".") for path in told if told[path] == POINTER}
    by_folder = grouped((dirname(path), path) for path in told).values()
    # What each of many runs has in a folder of its own.
    alike = grouped(((basename(paths[0]), told[paths[0]]), paths) for paths in by_folder)
    for (first, *others), *elsewhere in alike.values():
        more = f", and {counted(len(others), 'other file')} in its folder" if others else ""
        more += f", and the same in {counted(len(elsewhere), 'other folder')}" if elsewhere else ""
        lacks, lost = f"it cannot be read: {told[first]}", reasons[first] in (POINTER, MISSING)
        yield Proposal(id=first, why=f"{first}{more}", lacks=lacks, not_fetched=lost)


def _without_crowds(found: list[_Found], proposals_in: Mapping[str, int]) -> tuple[list[_Found], list[Proposal]]:
    """Return the proposals without files of a crowded folder whose names say nothing, and what is said of such folders.

    ``proposals_in``: the number of files in each folder that an eval could have.
    """
    left_out = []
    for folder, number in proposals_in.items():
        if number > MOST_BESIDE:  # digests, for example, are the names of files in a cache
            beside = (one for one, _ in found if one.path.rpartition("/")[0] == folder and not one.is_glob)
            nameless = [one for one in beside if re.search("[0-9]", one.path) and not informative_part(one.newest.stem)]
            found = [(one, proposal) for one, proposal in found if one not in nameless]
            others = f" beside {MOST_BESIDE - len(nameless)} others" if len(nameless) < MOST_BESIDE else ""
            why = f"{counted(number - MOST_BESIDE + len(nameless), 'file')}{others} in {folder}"
            left_out.append(Proposal(id=folder, why=why, lacks="each may be one document of an eval"))
    return found, left_out


def _ids(all_series: Sequence[OutputSeries], used_ids: Sequence[str]) -> list[str]:
    """Return an unused id for each: what its nearest informative folder or its file is called, then longer names.

    Those that would share one are all named longer: by folders in which they differ, by files, or by numbers in order.
    """
    names = [_names(series) for series in all_series]
    alike = grouped((each[0], {*series.folder.split("/")}) for each, series in zip(names, all_series, strict=True))
    wanted = []
    for (short, plain, whole), series in zip(names, all_series, strict=True):
        shared = set.intersection(*alike[short]) if len(alike[short]) > 1 else {short}
        own = [part for part in series.folder.split("/") if part not in shared and informative_part(part)]
        longer = ("-".join((*own[start:], short)) if own else "" for start in (-1, 0))
        near, path = (_NOT_IN_AN_ID.sub("-", normalize("NFC", name)).strip("-._ ") for name in longer)
        wanted.append((short, near, plain, whole, path, path and f"{path}{whole.removeprefix(short)}"))
    ids: dict[int, str] = {}
    for level in range(len(wanted[0]) if wanted else 0):
        waiting = {number: each[level] for number, each in enumerate(wanted) if number not in ids and each[level]}
        taken = [*used_ids, *ids.values(), *waiting.values()]
        ids |= {number: name for number, name in waiting.items() if taken.count(name) == 1}
    for number in sorted({*range(len(wanted))}.difference(ids), key=lambda number: all_series[number].path):
        numbered = (f"{wanted[number][0]}-{count}" for count in range(1, 10_000))
        ids[number] = next(name for name in numbered if name not in (*used_ids, *ids.values()))
    return [ids[number] for number in range(len(wanted))]


def _names(series: OutputSeries) -> tuple[str, str, str]:
    """Return three names for outputs, the shortest first, in words of their path; an empty one says too little."""
    outputs = without_answerers(series.outputs)
    file = "" if "{case}" in basename(series.outputs) else basename(outputs.rstrip("/"))
    stem = file if outputs.endswith("/") else re.sub(_BEFORE_A_NUMBER, "", file.rpartition(".")[0])
    stem = stem.removesuffix(".baseline").removesuffix(".eval").replace("20*", "").replace("*", "")
    task = dirname(series.outputs).partition("}/")[2]  # ``{model}/qa/metrics.json``
    folders = [part for part in f"{series.folder}/{task}".split("/") if part.strip("*")]
    said = next((name for name in reversed(folders) if informative_part(name)), "")
    informative = informative_part(said) if re.search("20[0-9]{2}[-_]?[01][0-9]", said) else said
    of_evals = next((name for name in folders if name.casefold() in OF_EVALS), "")
    parts = (informative, informative_part(stem), stem, of_evals)
    folder, plain, whole, above = (_NOT_IN_AN_ID.sub("-", normalize("NFC", part)).strip("-._ ") for part in parts)
    plainly, wholly = ("-".join(filter(None, (folder or above, part))) for part in (plain, whole))
    return folder or plain or above or "evals", plainly, wholly


_OF_NO_KNOWN_FORM: Final = "list cases as rows, each with an id and a verdict or a score; points need their maximum"
_IN_NO_FORM: Final = f"its form is not known. To have it read, {_OF_NO_KNOWN_FORM}"
_MOST_BROKEN: Final = 3  # the most newest outputs that may be impossible to score if one before them is not
_LEAST_ANSWERED: Final = 0.25  # the least share of expected values for which a structured output must have some value
_LEAST_CORRECT: Final = 0.1  # the least share of these values that must be correct
_LEAST_ROUGE: Final = 0.15  # the least ROUGE-1 of responses of which none is exactly as expected


def _with_newest_score(repository: Repository, history: EvalHistory) -> Proposal:
    """Score the newest output of an eval, unless an earlier search did. Never raises.

    If that is impossible, the eval lacks something, which may be there at the next search.
    """
    with_outputs = [each for each in history.snapshots if each.outputs]
    found = Proposal(id=history.id, points=len(with_outputs))
    if not with_outputs:
        return replace(found, lacks="no output was found")
    newest = tuple(with_outputs[: -_MOST_BROKEN - 2 : -1])
    files = [(at.label, at.outputs, at.ground_truth, at.mapping, at.schema, at.settings) for at in newest]
    question = f"the newest score {history.kind} {files}"
    try:
        score = partial(_newest_score, repository, replace(history, snapshots=newest))
        return replace(found, newest=repository.answers.about(newest[0].outputs[0].oid, question, score) or "")
    except SitegenError as error:
        return replace(found, lacks=error.message)


def _newest_score(repository: Repository, tried: EvalHistory) -> str:
    """Say how good the first output is that can be scored. Raises SitegenError with what the eval lacks."""
    broken, traits = "", traits_of(tried.kind)
    for snapshot in tried.snapshots:
        reads = repository.read_blobs([blob.oid for blob in snapshot.scored])
        contents = zip(snapshot.scored, reads, strict=True)
        files = {blob: File(blob.path, read.content, read.reason) for blob, read in contents}
        card = scored_with_own_metrics(scorer(tried.kind), ScoringInputs.of(snapshot, files)).scorecard
        value = card.metrics[0].value if card.metrics else None
        if card.status == "scored" and value is not None:
            break
        errors = (finding.message for finding in card.findings if finding.severity == "error")
        broken = broken or next(errors, "nothing can be scored")
    else:
        raise SitegenError(broken)
    counts = card.counts
    answered = counts.tp + counts.wrong_value + counts.format_error
    is_answered = answered >= _LEAST_ANSWERED * (answered + counts.omission)
    # What one file holds of both sides belongs together.
    agrees = counts.tp > 0 and (
        snapshot.ground_truth in (None, *snapshot.outputs) or (is_answered and counts.tp >= _LEAST_CORRECT * answered)
    )
    if traits.is_structured and not agrees:
        raise SitegenError("the output contains hardly any expected value")
    if traits.answers_cases and not value and not (card.metric("rouge1") or 0) > _LEAST_ROUGE:
        raise SitegenError("no output says what was expected")
    nouns, documents = scorer(tried.kind).nouns, len(card.documents)
    sample = f"{documents:,} {nouns.document if documents == 1 else nouns.documents}"
    if traits.answers_cases:
        sample = counted(card.expected_values, "expected answer")
    spec = specs_of(tried.kind, [card])[0]
    since = f" at {snapshot.label}; since then: {broken}" if broken else ""
    return f"{spec.label} {metric_text(value, spec.unit)} over {sample}{since}"


def _of_its_package(folder: str, globs: Sequence[str], tracked: Sequence[SearchedFile]) -> list[str]:
    """Return globs of the instructions in the nearest folder around a folder that has any; all globs if none has."""
    present = [file for file in tracked if not file.deleted and matches(file.path, globs)]
    packages = {at.folder for at in tracked if re.match(r"(package|composer)\.json$|(pyproject|Cargo)\.toml$", at.name)}
    while folder:
        is_part = folder in packages or informative_part(basename(folder))
        inside = [f"{folder}/{glob}" if glob.startswith("**/") else glob for glob in globs if is_part]
        own = [glob for glob in inside if glob.startswith(f"{folder}/")]
        files = [file for file in present if matches(file.path, own)]
        if not all(is_result_by_name(file.folder) for file in files):  # those are copies, and instructions of judges
            before = [escaped(path) for file in files for path in file.earlier if not matches(path, own)]
            return [*(glob for glob in own if any(matches(file.path, [glob]) for file in files)), *before]
        folder = dirname(folder)
    return [*globs]


_ABOUT: Final = (
    "These are guesses from names, columns and fields: look them over, and write thresholds, a mapping or a "
    "description where they help."
)


@share_processes()
def discover(repository: Repository, configured: Layout, history: FilesOfHistory) -> Discovery:
    """Search the files of a history. Reads only git, within bounds, and writes nothing."""
    config, head = configured.site, history.head
    search = Search(FilesAt(repository.place, head), repository.answers)
    tracked = searched_files(history, search)
    existing_ids, unassigned = _unassigned(tracked, Layout(*with_found_evals(config, configured.manifest, search)))
    found = _proposals(unassigned, [*existing_ids])
    unread = [path for path, content in search.contents.items() if content == b""]
    reason = f"a search reads at most {MOST_READ} files and {MOST_BYTES // 1_000_000} MB, and these were reached before"
    found += _refused(dict.fromkeys(filter(is_result_by_name, unread), reason))
    proposals = {proposal.id: proposal for proposal in found if not proposal.lacks}

    # The entries are read back from their text, so that the trial uses exactly what a build will read.
    text = manifest_text([(proposal.id, proposal.entry, ()) for proposal in proposals.values()], "")
    entries = manifest_in_force(text.encode(), "manifest.yaml", config.evals_dir).value.evals
    manifest = dataclasses.replace(configured.manifest, evals=(*configured.manifest.evals, *entries))
    # Without instructions, which decide no score, git lists only the commits of the evals.
    layout = Layout(*with_found_evals(dataclasses.replace(config, instructions=()), manifest, search))
    evals: dict[str, EvalHistory] = {}
    named = (*config.instructions, *layout.site.instructions)
    globs = instruction_globs([file for file in tracked if not file.refused], named)
    with suppress(NothingToReportError):  # a shallow history is folded as far as it goes
        folded = advance(repository, layout, head=head)
        evals, repository = {one.id: one for one in folded.evals}, repository.overlaid({**folded.overlay})

    tried, own = [], {entry.id: entry.instructions for entry in layout.manifest.evals}
    for name, proposal in proposals.items():
        lost = Proposal(id=name, lacks="no commit wrote such a file")
        trial = _with_newest_score(repository, evals[name]) if name in evals else lost
        # Names of both sides say which documents these are, however bad or broken the newest output is.
        truth = proposal.entry.get("ground_truth", "").rstrip("/")
        if trial.points and proposal.entry["outputs"].endswith("/") and is_truth_by_name(truth):
            trial = replace(trial, lacks="")
        # Without this, the instructions that init writes for agents of sitegen would make every output stale.
        instructions = own.get(name) or _of_its_package(proposal.entry["dir"], [each.glob for each in globs], tracked)
        entry = {**proposal.entry, "instructions": [*instructions]} if instructions else proposal.entry
        tried.append(replace(trial, why=proposal.why, entry=entry, doubt=proposal.doubt))
    accepted = tuple(one for one in tried if not (one.lacks or one.doubt))
    about = f"The evals that sitegen init found in {counted(history.commits, 'commit')}, up to {head[:10]}. {_ABOUT}"
    about += " Only edits of the files that `instructions` names can make an output stale." * bool(globs)
    written = [(one.id, one.entry, (f"{one.why}.", f"{one.summary}.")) for one in accepted]
    return Discovery(
        history=history,
        existing=tuple(
            Proposal(id=name, points=sum(bool(at.outputs) for at in one.snapshots))
            for name, one in evals.items()
            if name not in proposals
        ),
        proposed=accepted,
        doubtful=tuple(one for one in tried if one.doubt and not one.lacks),
        rejected=tuple(one for one in (*tried, *found) if one.lacks),
        instructions=globs,
        manifest=manifest_text(written, about) if accepted else None,
        adds_globs=any(glob.glob not in config.instructions for glob in globs),
    )


def _unassigned(files: Sequence[SearchedFile], layout: Layout) -> tuple[set[str], list[SearchedFile]]:
    """Return the ids of the evals that a layout has without a search, and the files that are of none of them.

    These are the evals that a manifest names, and folders with expected values and outputs by convention.
    """
    places = (place for file in files for place in layout.places(file.path) if place.role != "stranger")
    sides = {(place.eval_id, place.role == "ground_truth") for place in places}
    known = {name for name, is_truth in sides if is_truth and (name, False) in sides}
    known.update(entry.id for entry in layout.manifest.evals)
    # Of runs that are read with all their folders, what is left, such as their sums, is no other eval.
    of_runs = tuple(
        f"{home_of(entry, layout.site.evals_dir)}/{entry.outputs.partition('**/')[0]}"
        for entry in layout.manifest.evals
        if "*/**/" in entry.outputs
    )
    others = [file for file in files if basename(file.path) != NOTES_FILE and not matches(file.path, of_runs)]
    return known, [file for file in others if not any(at.eval_id in known for at in layout.places(file.path))]
