"""Which scorers of an Inspect log are models, and which models: from what the header states of scorers and roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sitegen.model.values import Value
from sitegen.scoring.judged.case import Grader, grader_name
from sitegen.scoring.judged.formats.json_values import items, members, name_of
from sitegen.text.values import as_json

_MODEL_GRADED: Final = frozenset({"model_graded_qa", "model_graded_fact"})
"""Inspect's own scorers that ask a model."""
_MECHANICAL: Final = frozenset(
    {"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern", "perplexity", "target_perplexity"}
)
"""Its own that ask none."""
_MODEL: Final = ("model", "grader", "grader_model", "judge", "judge_model")
"""Options that name the model, in Inspect's scorers and, by custom, in others."""
_ROLE: Final = "grader"
"""The role that Inspect's scorers take, unless they state another."""


def graders_of(header: Mapping[str, Value]) -> dict[str, Grader]:
    """The graders by scorer, from the member ``eval`` of a log; scorers that ask no model are not among them.

    A scorer that names no model takes that of its role, and Inspect's own without either the model that is evaluated.
    A scorer that Inspect does not know may ask the grader of the run without saying so: it is taken to do so, if there
    is one and no scorer is known to.
    """
    roles, scorers = members(header.get("model_roles")), _scorers(header)
    found = {
        name: _grader(options, roles, header)
        for name, (scorer, options) in scorers.items()
        if scorer in _MODEL_GRADED or any(options.get(key) for key in (*_MODEL, "model_role"))
    }
    if not found and _ROLE in roles:
        found = {
            name: _grader(options, roles, header)
            for name, (scorer, options) in scorers.items()
            if scorer not in _MECHANICAL
        }
    return found


def _scorers(header: Mapping[str, Value]) -> dict[str, tuple[str, dict[str, Value]]]:
    """(scorer, its options) by the name under which samples hold its scores: of several alike, with a number."""
    found: dict[str, tuple[str, dict[str, Value]]] = {}
    for each in map(members, items(header.get("scorers"))):
        scorer = name_of(each.get("name")).rpartition("/")[2]
        alike = sum(name == scorer for name, _ in found.values())
        found[f"{scorer}{alike or ''}"] = scorer, members(each.get("options"))
    return found


def _grader(options: Mapping[str, Value], roles: Mapping[str, Value], header: Mapping[str, Value]) -> Grader:
    role = _names(options.get("model_role")) or _ROLE
    stated = next((options[key] for key in _MODEL if options.get(key)), None)
    model = _names(stated) or _names(roles.get(role)) or name_of(header.get("model"))
    asked: dict[str, Value] = {
        key: value for key, value in sorted(options.items()) if value and key not in (*_MODEL, "model_role")
    }
    return Grader(grader_name(model, as_json(asked) if asked else ""))


def _names(value: Value) -> str:
    """The name of a model, or of several that vote, whichever way a log writes them."""
    if isinstance(value, list):
        return " and ".join(filter(None, map(_names, value)))
    return name_of(value) or name_of(members(value).get("model")) or name_of(members(value).get("name"))
