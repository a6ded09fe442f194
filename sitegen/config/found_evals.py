"""Finds evals that no manifest names: results of other tools in their usual places, and folders of test cases.

These evals become entries of the manifest and instruction globs of the site, as if a user had written them. All of
history is therefore read with these entries, and no later stage depends on how an eval was found.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from posixpath import join
from typing import Final

from msgspec.structs import replace

from sitegen.config.findings import folder_path, home_of
from sitegen.config.found_cases import (
    case_file_evals,
    judged_by_responses,
    judged_response_evals,
    kind_of_newest,
    test_case_evals,
)
from sitegen.config.found_results import (
    agentv_evals,
    inspect_evals,
    judged_evals,
    prompt_evaluations,
    promptfoo_evals,
    recorded_evals,
)
from sitegen.config.manifest import project_evaluation, stated_llm
from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.config.searched_files import OTHER_KINDS, Search

_FINDERS: Final[tuple[Callable[[Search], Iterator[EvalConfig]], ...]] = (
    promptfoo_evals,
    inspect_evals,
    agentv_evals,
    case_file_evals,
    judged_evals,
    judged_response_evals,
    test_case_evals,
    recorded_evals,
    prompt_evaluations,
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
    # Most finders ask for the same folders.
    search = replace(search, names=cache(search.names), evals_dir=evals_dir)
    evaluation = project_evaluation(search).value
    if evaluation is not None:
        config = dataclasses.replace(config, llm=stated_llm(config.llm, evaluation))
    stated = tuple(judged_by_responses(search, kind_of_newest(search, entry)) for entry in manifest.evals)
    manifest = dataclasses.replace(manifest, evals=stated)
    search = replace(search, stated=stated, evaluation=evaluation)
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
                and not OTHER_KINDS.isdisjoint(search.names(by_convention))
            ):
                homes[entry.id] = by_convention
            if entry.id in ids_before and homes[entry.id] == home:
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
    if not found_evals:
        return config, manifest
    globs = (glob for entry in found_evals.values() for glob in entry.instructions)
    instructions = tuple(dict.fromkeys((*config.instructions, *globs)))
    return (
        dataclasses.replace(config, instructions=instructions),
        dataclasses.replace(manifest, evals=(*stated, *found_evals.values())),
    )
