"""The modules that templates use."""

from importlib import import_module

import pytest

from sitegen.render.template_names import GLOBALS, TemplateModule

MODULES = {name: module for name, module in GLOBALS.items() if isinstance(module, TemplateModule)}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_of_templates_has_its_own_name_and_the_functions_of_the_module(name: str) -> None:
    module = import_module(MODULES[name].__name__)
    assert module.__name__.rpartition(".")[2] == name
    public = [found for found in vars(module) if not found.startswith("_")]
    assert [getattr(MODULES[name], found) for found in public] == [vars(module)[found] for found in public]


def test_a_name_that_the_module_lacks_is_missing() -> None:
    assert len(MODULES) > 15
    with pytest.raises(AttributeError, match="nothing"):
        MODULES["links"].nothing  # noqa: B018
