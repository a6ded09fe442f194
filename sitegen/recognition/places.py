"""Finds evals in places where nothing else lies: where tools leave judged results and recorded numbers, and cases.

Judged results lie where promptfoo, Inspect, AgentV and evals of skills leave them, and in folders of evals; recorded
numbers in files whose names clearly show that they are results.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, zip_longest
from posixpath import basename, dirname, join, normpath
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config.findings import folder_path, home_of
from sitegen.config.manifest import canonical, stated_llm
from sitegen.config.models import EvalConfig, Manifest, SiteConfig, files_of
from sitegen.data_files.reading import UnreadableError, split_json
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.importers import ANSWER, INDEX, importer_of
from sitegen.importers.recorded_layouts import headline_place, is_measure, numbers_of_layout, read_record
from sitegen.importers.skill_grading import BESIDE
from sitegen.importers.tool_values import items, members
from sitegen.recognition.files import value_of
from sitegen.recognition.found_cases import (
    candidates_below,
    case_file_evals,
    judged_by_responses,
    kind_of_newest,
    settings_of_table,
    test_case_evals,
)
from sitegen.recognition.searched_files import OTHER_KINDS, Search
from sitegen.text.globs import escaped, without_answerers
from sitegen.text.plain import natural_order

PROMPTFOO_CONFIGURATIONS: Final = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
PROMPTFOO_RESULTS: Final = ("output.json", "results.json")
_RESULTS: Final = ("results", "result", "outputs", "output", "runs", "evals")
"""Folders in which the results of a tool may lie, below that of its configuration."""
_MOST_READ: Final = 20  # the most files that are read beside a configuration of a tool
_GITHUB_PROMPT: Final = r"(.+)\.prompt\.ya?ml"

_MOST_PROMPTS: Final = 200  # prompts of a configuration
_PROMPT_FILE: Final = r".+\.(?:txt|json|jsonl|yaml|yml|md|j2)"
_FUNCTION: Final = r"(\.(?:py|js|cjs|mjs|ts)):[^/]*$"


def promptfoo_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each file or series of results beside a configuration of promptfoo, driven by its prompts."""
    for folder in search.folders:
        names = search.files.names(folder)
        configuration = next((name for name in PROMPTFOO_CONFIGURATIONS if names.get(name) is False), None)
        if configuration is None or folder in search.homes:
            continue
        instructions = _prompt_globs(search, join(folder, configuration), folder)
        usual = [name for name in PROMPTFOO_RESULTS if names.get(name) is False][:1]
        home = basename(folder) or "promptfoo"
        for number, outputs in enumerate(usual or _results_beside(search, folder, "promptfoo")):
            eval_id = f"{home}-{_stem_of(outputs)}" if number else home
            yield EvalConfig(id=eval_id, kind="judged", dir=folder or ".", outputs=outputs, instructions=instructions)


def github_prompt_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each file or series of results of ``gh models eval``, driven by the prompt file beside it."""
    for folder in search.folders:
        prompts = {
            match[1]: name for name in search.files.names(folder) if (match := re.fullmatch(_GITHUB_PROMPT, name))
        }
        if not prompts or folder in search.homes:
            continue
        for outputs in _results_beside(search, folder, "gh-models"):
            named = [name for prompt, name in sorted(prompts.items()) if prompt in outputs] or sorted(prompts.values())
            texts = tuple(join(folder, name) for name in named)
            eval_id = named[0].partition(".prompt.")[0] if len(named) == 1 else _stem_of(outputs)
            yield EvalConfig(id=eval_id, kind="judged", dir=folder or ".", outputs=outputs, instructions=texts)


def _results_beside(search: Search, folder: str, tool: str) -> Iterator[str]:
    """Yield the files and globs of runs that a tool wrote into a folder, or into one below it for results."""
    candidates = (each for each in candidates_below(search, folder, _RESULTS) if each[1].endswith(".json"))
    for outputs, newest in islice(candidates, _MOST_READ):
        if search.answer("format of results", join(folder, newest), _format_of) == tool:
            yield outputs


def _format_of(content: bytes) -> str:
    return importer_of("x.json", content).name


def _stem_of(outputs: str) -> str:
    return basename(without_answerers(outputs)).removesuffix(".json").replace("*", "").strip("-_. ") or "results"


def _with_prompts(search: Search, entry: EvalConfig) -> EvalConfig:
    """Return an entry that names no instructions with those that the newest of its results of promptfoo names.

    Their paths begin at the folder that promptfoo ran in: the nearest one above the file with any of them.
    """
    if entry.instructions or not entry.outputs.endswith(".json"):
        return entry
    outputs = folder_path(without_answerers(entry.outputs))
    newest = next(search.newest_first(home_of(entry, search.evals_dir), outputs), "")
    folder = newest if newest and search.answer("format of results", newest, _format_of) == "promptfoo" else ""
    while folder:
        folder = dirname(folder)
        globs = _prompt_globs(search, newest, folder)
        if any(next(search.newest_first("", glob), "") for glob in globs):
            return dataclasses.replace(entry, instructions=globs)
    return entry


def _prompt_globs(search: Search, path: str, folder: str) -> tuple[str, ...]:
    """Return globs of the prompts that a configuration or a file of results names, if their paths begin at a folder."""
    globs: dict[str, None] = {}
    for text in json.loads(search.answer("prompts of promptfoo", path, _stated_prompts) or "[]"):
        prompt = re.sub(_FUNCTION, r"\1", text.removeprefix("file://"))
        is_file = text.startswith("file://") or (" " not in prompt and re.fullmatch(_PROMPT_FILE, prompt))
        if is_file and not re.search(r"[\n{]|://|^[/\\]", prompt):  # else it is the prompt itself
            globs[folder_path(join(folder, prompt))] = None
    return tuple(glob for glob in globs if glob and not glob.startswith(".."))


def _stated_prompts(content: bytes) -> str:
    """Return the prompts of a configuration, also of that which results state, as JSON; none if it cannot be read."""
    from sitegen.importers.promptfoo import ROWS  # few projects have its results

    try:
        is_result = _format_of(content) == "promptfoo"
        root = value_of("json", split_json(content, *ROWS)[0]) if is_result else read_configuring_yaml(content)[0]
    except UnreadableError:
        return "[]"
    stated: Any = members(members(root).get("config", root)).get("prompts")
    prompts = (stated if isinstance(stated, list) else [stated])[:_MOST_PROMPTS]
    texts = (prompt.get("id", prompt.get("raw")) if isinstance(prompt, dict) else prompt for prompt in prompts)
    return json.dumps([text.strip() for text in texts if isinstance(text, str)])


INSPECT_LOGS: Final = "logs"
"""The folder that Inspect writes its logs into."""
_LOG: Final = r"20\d{2}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}[^_/]*_([^_/*?\[\]]+)_[^_/]+\.(eval|json)"
"""Matches the name of a log: time, task, id. In each part Inspect writes ``-`` for ``_``."""
_LOG_ENDINGS: Final = {("eval",): "eval", ("json",): "json", ("eval", "json"): "[ej][vs][ao][ln]"}
"""The suffix of the glob of a task's logs, by the suffixes of the logs."""


def inspect_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each task, with a run for each log."""
    ids_in_use: set[str] = set()
    for folder in search.folders:
        home = join(folder, INSPECT_LOGS)
        if home in search.homes or not search.files.names(folder).get(INSPECT_LOGS):
            continue
        endings: dict[str, set[str]] = {}
        for name, is_folder in search.files.names(home).items():
            if not is_folder and (match := re.fullmatch(_LOG, name)):
                endings.setdefault(match[1], set()).add(match[2])
        for task in sorted(endings):
            eval_id = f"{basename(folder)}-{task}" if task in ids_in_use else task
            ids_in_use |= {task, eval_id}
            ending = _LOG_ENDINGS[tuple(sorted(endings[task]))]
            yield EvalConfig(id=eval_id, kind="judged", dir=home, outputs=f"*_{task}_*.{ending}")


_AGENTV_RESULTS: Final = ".agentv/results"  # the folder that AgentV writes its runs into
_RUN_INDEXES: Final = ("*/.internal/index.jsonl", "*/index.jsonl", "runs/*/index.jsonl")
"""Paths of the index of a run, newest layout first."""
_BASELINE: Final = ".baseline.jsonl"
_EXPERIMENTS: Final = f"{_AGENTV_RESULTS}/runs"
"""The folder with a folder for each experiment, which holds those of its runs."""


def agentv_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield one eval for the runs of an experiment, because only their lines name evals, and one for each baseline."""
    free = () if _AGENTV_RESULTS in search.homes else _RUN_INDEXES
    globs = [glob for glob in free if any(search.newest_first(_AGENTV_RESULTS, glob))]
    found = [("agentv", _AGENTV_RESULTS, globs[0] if len(globs) == 1 else f"**/{INDEX}")] if globs else []
    for experiment in sorted(search.files.names(_EXPERIMENTS)) if free else ():
        home = join(_EXPERIMENTS, experiment)
        if home not in search.homes and any(search.newest_first(home, f"*/{INDEX}")):
            found.append((f"agentv-{experiment}", home, f"*/{INDEX}"))
    for eval_id, home, outputs in found:
        run = outputs[: outputs.index("*/") + 2]
        if any(any(search.newest_first(home, f"{run}{below}/outputs/{ANSWER}")) for below in ("*/*", "*")):
            outputs = f"{run}**/{{{INDEX},{ANSWER}}}"
        yield EvalConfig(id=eval_id, kind="judged", dir=home, outputs=outputs)
    for folder in search.folders:
        names = search.files.names(folder)
        # An eval in a folder above other evals would own their files.
        holds_evals = folder and f"{search.evals_dir}/".startswith(f"{folder}/")
        if folder in search.homes or holds_evals or not OTHER_KINDS.isdisjoint(names):
            continue
        # A baseline beside AgentV's evals is overwritten from commit to commit.
        for name in sorted(name for name, is_folder in names.items() if name.endswith(_BASELINE) and not is_folder):
            stem = name.removesuffix(_BASELINE).removesuffix(".eval")
            eval_id = basename(folder) if stem == "suite" and folder else stem
            if eval_id:
                yield EvalConfig(id=eval_id, kind="judged", dir=folder or ".", outputs=name)


_SKILLS: Final = (".claude/skills", ".agents/skills", ".github/skills")
"""Hidden folders of skills. Others are called ``skills``, or are searched like any folder."""
_WORKSPACE: Final = r"(?:(.+)-)?workspace|evals"
"""Matches the folder in which the evals of a skill are run, beside the skill or in it."""
_SUMMARY: Final = '{"headline":"run_summary.with_skill.pass_rate.mean"}'
"""The settings of a benchmark that states no runs."""
_GRADINGS: Final = {
    "iteration-*/*/*/grading.json": "",
    "iteration-*/*/*/run-*/grading.json": "",
    "iteration-*/*/*/outputs/grading.json": "",
    "iteration-*/*/*grading*.json": "*",
}
"""Places of the gradings of a skill, and what stands on both sides of this word in their names."""
_SKILL_NAME: Final = re.compile(rb'"skill_name"\s*:\s*"([A-Za-z0-9][\w.-]{0,80})"')
_WITH_SKILL: Final = re.compile(rb'"run_summary"\s*:\s*\{\s*"with_skill"\s*:\s*\{')
_BESIDE: Final = ",".join(name.removesuffix(".json") for name in BESIDE)


def skill_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each skill with a workspace, a run for each iteration, driven by the text of the skill."""
    for folder in dict.fromkeys((*search.folders, *(join(each, "skills") for each in search.folders), *_SKILLS)):
        for name, is_folder in sorted(search.files.names(folder).items()):
            match, home = re.fullmatch(_WORKSPACE, name), join(folder, name)
            if not match or not is_folder or home in search.homes:
                continue
            benchmark = next(search.newest_first(home, "iteration-*/benchmark.json"), None)
            stated = benchmark and search.answer(
                "name of a skill", benchmark, lambda content: b"".join(_SKILL_NAME.findall(content)[:1]).decode()
            )
            skill = match[1] or stated or basename(folder) or name
            newest = {
                around: natural_order(path)
                for glob, around in _GRADINGS.items()
                if (path := next(search.newest_first(home, glob), None))
            }
            # A benchmark of a later iteration sums up gradings that are not kept.
            if newest and (not benchmark or max(newest.values()) >= natural_order(dirname(benchmark))):
                outputs = f"iteration-*/**/{max(newest)}{{grading,{_BESIDE}}}{max(newest)}.json"
                entry = EvalConfig(id=skill, kind="judged", outputs=outputs)
            elif benchmark is None:
                continue
            elif search.answer("format of results", benchmark, _format_of) == "agent-skills":
                entry = EvalConfig(id=skill, kind="judged", outputs="iteration-*/benchmark.json")
            elif not search.answer(
                "summary of a skill", benchmark, lambda content: "summary" if _WITH_SKILL.search(content) else ""
            ):
                continue
            else:
                entry = EvalConfig(id=skill, kind="recorded", outputs="iteration-*/benchmark.json", settings=_SUMMARY)
            texts = (*(join(above, skill) for above in (folder, "skills", *_SKILLS, "")), folder)
            of_skill = next((text for text in texts if search.is_file(join(text, "SKILL.md"))), None)
            beside = () if of_skill is None else search.files.names(of_skill)
            texts = ("SKILL.md", "references/**/*.md")
            instructions = tuple(join(of_skill or "", text) for text in texts if text.partition("/")[0] in beside)
            yield dataclasses.replace(entry, dir=home, instructions=instructions)


def judged_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each folder of evals with judged results and nothing of another kind.

    Responses beside a file of test cases are such results as well, if they state verdicts or scores.
    """
    for eval_id, folder in search.eval_folders.items():
        if folder in search.homes:
            continue
        names, entry = search.files.names(folder), EvalConfig(id=eval_id)
        judged = judged_by_responses(search, entry)
        own = [name for name in files_of("judged").outputs if names.get(name) is False]
        if own and OTHER_KINDS.isdisjoint(names):
            settings = search.answer("columns", path := join(folder, own[0]), partial(settings_of_table, path))
            judged = dataclasses.replace(entry, kind="judged", settings=settings or "{}")
        if judged.kind:
            yield judged


_LM_EVAL: Final = r"results_20\d{2}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}[.\d]*\.json"


def recorded_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield the evals of kind ``recorded``, except prompt evaluations."""
    for folder in search.folders:
        names = search.files.names(folder)
        if folder in search.homes:
            continue
        if basename(folder) == "dvclive":  # DVCLive overwrites its file
            own = [name for name in files_of("recorded").outputs if names.get(name) is False and "metrics." in name]
            for path in own[:1]:
                yield EvalConfig(id=basename(dirname(folder)) or "dvclive", kind="recorded", dir=folder, outputs=path)
        if any(re.fullmatch(_LM_EVAL, name) and not names[name] for name in names):  # a file for each run
            eval_id = basename(folder) or "lm-eval"
            yield EvalConfig(id=eval_id, kind="recorded", dir=folder or ".", outputs="results_20*.json")
    judged = files_of("judged").outputs
    for eval_id, folder in search.eval_folders.items():
        names = search.files.names(folder)
        if folder in search.homes or any(name in OTHER_KINDS or name in judged for name in names):
            continue
        paths = (path for path in files_of("recorded").overwritten if search.is_file(f"{folder}/{path}"))
        path = next(paths, "")
        if path and search.answer("headline", f"{folder}/{path}", _settings_of_run):
            yield EvalConfig(id=eval_id, kind="recorded", outputs=path)
    yield from _runs_over_highlights(search)


def _runs_over_highlights(search: Search) -> Iterator[EvalConfig]:
    """Yield results of runs, ``results/run-*.json``, as a separate eval beside the scored one."""
    for eval_id, folder in (("", search.evals_dir), *search.eval_folders.items()):
        names = search.files.names(folder) if eval_id else {}
        is_marked = any(name in names for name in files_of("highlights").ground_truths)
        is_free = folder and (folder not in search.homes or is_marked)
        newest = next(search.newest_first(f"{folder}/results", "run-*.json"), "") if is_free else ""
        headline = search.answer("headline", newest, _settings_of_run) if newest else ""
        if not headline:
            continue
        runs = EvalConfig(id=eval_id, kind="recorded", outputs="results/run-*.json", settings=headline)
        if not eval_id:
            runs = dataclasses.replace(runs, id="highlights-runs", dir=folder)
        elif is_marked or any(name in OTHER_KINDS for name in names):
            yield EvalConfig(id=eval_id)  # two evals share a folder only if both are named
            runs = dataclasses.replace(runs, id=f"{eval_id}-runs", dir=folder)
        yield runs


def _settings_of_run(content: bytes) -> str:
    """Return the settings that name the headline of a file of numbers; empty if none has the name of a metric."""
    try:
        numbers = numbers_of_layout(read_record("run.json", content).value, {})
    except UnreadableError:
        return ""
    measures = (number.name for number in numbers if not number.is_sample and is_measure(number.name))
    places = {name: place for name in measures if (place := headline_place(name))}
    return canonical({"headline": min(places, key=places.__getitem__)}) if places else ""


_PROMPT_EVALUATIONS: Final = "evaluations/results"
"""The folder in which a framework that evaluates prompts writes a file for each run, which names its prompt."""
_MOST_FILES: Final = 200  # newest files that are read


def prompt_evaluations(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each prompt that results name: the runs that name it, driven by the prompt."""
    if _PROMPT_EVALUATIONS in search.homes:
        return
    folders = (name for name, is_folder in search.files.names(_PROMPT_EVALUATIONS).items() if is_folder)
    paths = (
        f"{home}/{name}"
        for home in (_PROMPT_EVALUATIONS, *(f"{_PROMPT_EVALUATIONS}/{folder}" for folder in folders))
        for name, is_folder in search.files.names(home).items()
        if not is_folder and name.endswith(".json")
    )
    prompts: dict[str, None] = {}
    for path in sorted(paths, reverse=True)[:_MOST_FILES]:
        prompts |= dict.fromkeys(json.loads(search.answer("prompts of results", path, _prompts_of) or "[]"))
    ids_in_use: set[str] = set()
    for prompt in sorted(prompts):
        stem = basename(prompt).rpartition(".")[0] or basename(prompt)
        eval_id = stem if stem not in ids_in_use else f"{basename(dirname(prompt))}-{stem}"
        if not eval_id:
            continue
        ids_in_use.add(eval_id)
        path = normpath(prompt)
        yield EvalConfig(
            id=eval_id,
            kind="recorded",
            dir=_PROMPT_EVALUATIONS,
            outputs="**/*.json",
            instructions=() if path.startswith(("/", "..")) or not path.isprintable() else (escaped(path),),
            settings=canonical({"where": {"prompt_path": prompt}}),
        )


def _prompts_of(content: bytes) -> str:
    root = members(value_of("json", content))
    path = root.get("prompt_path") if isinstance(root.get("results"), dict) else None
    several = items(root.get("prompt_paths")) if isinstance(root.get("individual_results"), dict) else []
    return json.dumps([path] if isinstance(path, str) else [each for each in several if isinstance(each, str)])


_FINDERS: Final[tuple[Callable[[Search], Iterator[EvalConfig]], ...]] = (
    *(promptfoo_evals, github_prompt_evals, inspect_evals, agentv_evals, skill_evals, case_file_evals),
    *(judged_evals, test_case_evals, recorded_evals, prompt_evaluations),
)
"""Each yields an entry for each eval in the places that it searches, without the folders of the manifest's evals.

In order of precedence: of two evals with the same id in the same folder, the first counts."""


def with_found_evals(config: SiteConfig, manifest: Manifest, search: Search) -> tuple[SiteConfig, Manifest]:
    """Add the evals that finders find to the configuration and the manifest, whose own entries take precedence.

    If several finders find the same id in the same folder, that is one eval, with the entry of the first finder. The
    same id in another folder is another eval, named after its folder.

    Never raises: a configuration of a tool that cannot be read names no prompts.
    """
    evals_dir = folder_path(config.evals_dir)
    search = replace(search, evals_dir=evals_dir)
    evaluation = search.evaluation.value
    if evaluation is not None:
        config = dataclasses.replace(config, llm=stated_llm(config.llm, evaluation))
    stated = tuple(judged_by_responses(search, kind_of_newest(search, entry)) for entry in manifest.evals)
    manifest = dataclasses.replace(manifest, evals=stated)
    search = replace(search, stated=stated)
    homes = {entry.id: home_of(entry, evals_dir) for entry in stated}
    found_evals: dict[str, EvalConfig] = {}
    for find in _FINDERS:
        ids_before = set(homes)
        for entry in find(search):
            home, by_convention = home_of(entry, evals_dir), join(evals_dir, entry.id)
            # A folder of evals with files of another kind is an eval by convention, without a finder.
            if (
                entry.id not in homes
                and home != by_convention
                and not OTHER_KINDS.isdisjoint(search.files.names(by_convention))
            ):
                homes[entry.id] = by_convention
            found = [(homes[name], one.outputs, one.settings) for name, one in found_evals.items()]
            if (home, entry.outputs, entry.settings) in found or (entry.id in ids_before and homes[entry.id] == home):
                continue
            if entry.id in homes:
                # Named after its folder, or else with a number.
                folder = home.replace("/", "-").lstrip(".")
                by_folder = folder if folder.endswith(entry.id) else f"{folder}-{entry.id}"
                names = (by_folder, *(f"{entry.id}-{number}" for number in range(2, len(homes) + 3)))
                eval_id = next(name for name in names if name[0] != "-" and name not in homes)
                entry = dataclasses.replace(entry, id=eval_id, dir=home or ".")
            found_evals[entry.id] = entry
            homes[entry.id] = home
    evals = tuple(_with_prompts(search, entry) for entry in (*stated, *found_evals.values()))
    added = (entry for entry, own in zip_longest(evals, stated) if entry != own)
    globs = (glob for entry in added for glob in entry.instructions)
    instructions = tuple(dict.fromkeys((*config.instructions, *globs)))
    return dataclasses.replace(config, instructions=instructions), dataclasses.replace(manifest, evals=evals)
