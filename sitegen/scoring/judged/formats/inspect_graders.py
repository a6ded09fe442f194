"""Determines which scorers of an Inspect log ask a model, and which model, from the scorers and roles in its header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sitegen.model.values import Value
from sitegen.scoring.judged.case import Grader, grader_name
from sitegen.scoring.judged.formats.json_values import items, members, name_of
from sitegen.text.values import as_json

_MODEL_GRADED: Final = frozenset({"model_graded_qa", "model_graded_fact"})
"""Scorers of Inspect that ask a model."""
_MECHANICAL: Final = frozenset(
    {"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern", "perplexity", "target_perplexity"}
)
"""Scorers of Inspect that ask no model."""
_MODEL: Final = ("model", "grader", "grader_model", "judge", "judge_model")
"""Options that name the model, in Inspect's scorers and by convention in others."""
_ROLE: Final = "grader"
"""The model role of Inspect's scorers, unless they state another."""


def graders_of(header: Mapping[str, Value]) -> dict[str, Grader]:
    """Return the graders by scorer, from the member ``eval`` of a log. Scorers that ask no model are left out.

    A scorer that names no model uses the model of its role. Without either, Inspect's own scorers use the evaluated
    model. A custom scorer may ask the grader of the run without stating it: this is assumed if the run has a grader and
    no scorer is certain to be a model.
    """
    roles, scorers = members(header.get("model_roles")), _scorers(header)
    graders = {
        name: _grader_of_scorer(options, roles, header)
        for name, (scorer, options) in scorers.items()
        if scorer in _MODEL_GRADED or any(options.get(key) for key in (*_MODEL, "model_role"))
    }
    if graders or _ROLE not in roles:
        return graders
    return {
        name: _grader_of_scorer(options, roles, header)
        for name, (scorer, options) in scorers.items()
        if scorer not in _MECHANICAL
    }


def _scorers(header: Mapping[str, Value]) -> dict[str, tuple[str, dict[str, Value]]]:
    """(scorer, options) by the name of its scores in samples, which is numbered if a scorer is used several times."""
    scorers: dict[str, tuple[str, dict[str, Value]]] = {}
    for stated in map(members, items(header.get("scorers"))):
        scorer = name_of(stated.get("name")).rpartition("/")[2]
        earlier = sum(name == scorer for name, _ in scorers.values())
        scorers[f"{scorer}{earlier or ''}"] = scorer, members(stated.get("options"))
    return scorers


def _grader_of_scorer(options: Mapping[str, Value], roles: Mapping[str, Value], header: Mapping[str, Value]) -> Grader:
    role = _model_names(options.get("model_role")) or _ROLE
    stated = next((options[key] for key in _MODEL if options.get(key)), None)
    model = _model_names(stated) or _model_names(roles.get(role)) or name_of(header.get("model"))
    prompt_options: dict[str, Value] = {
        key: value for key, value in sorted(options.items()) if value and key not in (*_MODEL, "model_role")
    }
    return Grader(grader_name(model, as_json(prompt_options) if prompt_options else ""))


def _model_names(value: Value) -> str:
    """The name of a model, or the names of several that vote, in any form that logs have."""
    if isinstance(value, list):
        return " and ".join(filter(None, map(_model_names, value)))
    return name_of(value) or name_of(members(value).get("model")) or name_of(members(value).get("name"))
