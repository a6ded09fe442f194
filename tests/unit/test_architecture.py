"""The code keeps to the map in ARCHITECTURE.md: imports point down, and each library has one home."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import jinja2
import pytest
from jinja2 import nodes

from sitegen.config.models import KIND_FILES
from sitegen.model.metrics import KIND_TRAITS, KindTraits, traits_of
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from tests.rows import in_table

PACKAGE = Path(__file__).parents[2] / "sitegen"

LAYERS = (
    {"__main__"},
    {"commands"},
    {"serve"},
    {"api", "extending"},
    {"update"},
    {"build", "questions"},
    {"engine"},
    {"pages"},
    {"recognition"},
    {"analysis", "project", "llm"},
    {"history"},
    {"scoring"},
    {"importers"},
    {"config"},
    {"data_files", "stats", "text", "schemas"},
    {"model"},
    {"errors", "__init__"},
)
"""From the top down; a module imports from its own layer's own package, or from a lower layer."""

HOMES = {
    "anthropic": {"llm"},
    "git": {"history"},
    "jinja2": {"engine"},
    "markupsafe": {"pages", "engine"},
    "markdown_it": {"text"},
    "numpy": {"stats", "text"},
    "rapidfuzz": {"text"},
    "sentence_transformers": {"text"},
    "torch": {"text"},
    "typer": {"commands"},
    "sqlite3": {"engine", "questions"},
    "subprocess": {"history", "commands"},
    "pydantic": {"config"},
    "distributed": {"engine"},
    "scipy": {"stats"},
    "matplotlib": {"questions"},
    "pandas": {"questions"},
    "yaml": {"data_files"},
    "zstandard": {"importers"},
    "starlette": {"serve"},
    "uvicorn": {"serve"},
    "watchfiles": {"serve"},
}

AROUND_JINJA = {"engine/jinja_classes", "engine/jinja_setup", "engine/own_templates"}
"""Modules that are nothing without Jinja, and are imported where it is used."""

HEAVY = {
    *("anthropic", "git", "jinja2", "markdown_it", "numpy", "rapidfuzz", "pydantic", "yaml", "distributed"),
    *("pandas", "sentence_transformers", "torch", "scipy", "matplotlib", "watchfiles"),
}


class Import(NamedTuple):
    module: str
    imported: str
    at_start: bool
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.imported}"


@cache
def imports() -> list[Import]:
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        module = file.relative_to(PACKAGE).with_suffix("").as_posix()
        for node, at_start in _import_nodes(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                assert not node.level, f"{module}: imports are absolute"
                names = [node.module or ""]
                if node.module == "sitegen":
                    names = [f"sitegen.{alias.name}" for alias in node.names]
            found += [Import(module=module, imported=name, at_start=at_start, line=node.lineno) for name in names]
    return found


def _import_nodes(node: ast.AST, at_start: bool = True) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import below a node, and whether it is done when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_start
        elif isinstance(child, ast.stmt | ast.excepthandler):
            yield from _import_nodes(child, at_start and not _is_lazy(child))


def _is_lazy(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return True
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def test_every_module_has_a_layer():
    assert {entry.module.partition("/")[0] for entry in imports()} - set().union(*LAYERS) == set()


def test_imports_point_down():
    layer = {name: index for index, members in enumerate(LAYERS) for name in members}
    wrong = []
    for entry in imports():
        root, _, rest = entry.imported.partition(".")
        if root != "sitegen" or not rest:
            continue
        here, there = entry.module.partition("/")[0], rest.partition(".")[0]
        if there not in ("__version__", here) and layer[here] >= layer[there]:
            wrong.append(str(entry))
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle():
    """Inside a package too, and whether they import at the start or in a function."""
    modules = {entry.module.removesuffix("/__init__").replace("/", "."): entry.module for entry in imports()}
    needed: dict[str, set[str]] = {name: set() for name in modules}
    for entry in imports():
        name = entry.module.removesuffix("/__init__").replace("/", ".")
        imported = entry.imported.removeprefix("sitegen.")
        if imported in modules and imported != name:  # a package may import its own modules
            needed[name].add(imported)
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        pytest.fail(f"imported in a circle: {' <- '.join(error.args[1])}")


def test_the_two_walks_name_files_and_values_that_exist_and_get_no_longer():
    text = (
        (PACKAGE.parent / "ARCHITECTURE.md")
        .read_text(encoding="utf-8")
        .partition("## Two walks")[2]
        .partition("## ")[0]
    )
    walks = [re.findall(r"`([\w/]+\.(?:py|html)|[A-Z]\w+)`", walk) for walk in text.split("**")[2::2]]
    values = [[name for name in walk if "." not in name] for walk in walks]
    files = [[name for name in walk if "." in name] for walk in walks]
    assert all(len(each) <= most for each, most in zip((*files, *values), (16, 11, 12, 7), strict=True))
    places = [PACKAGE, PACKAGE.parent]
    missing = [name for walk in files for name in walk if not any((place / name).is_file() for place in places)]
    package = "".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    assert missing + [name for walk in values for name in walk if f"class {name}(" not in package] == []


def test_no_macro_of_a_page_has_a_variable_of_its_own_name():
    """Such a macro refers to itself, so that a page and all that it shows would stay in memory."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    pages = (PACKAGE.parent / "site_templates" / "pages").rglob("*.html")
    macros = [(page.name, of) for page in pages for of in environment.parse(page.read_text()).find_all(nodes.Macro)]
    assert len(macros) > 50
    variables = (
        (page, of.name, {name.name for name in of.find_all(nodes.Name) if name.ctx != "load"}) for page, of in macros
    )
    assert [(page, macro) for page, macro, names in variables if macro in names] == []


def test_a_library_has_one_home():
    everywhere = {"sitegen", "msgspec", *sys.stdlib_module_names} - HOMES.keys()
    found = {(entry.imported.partition(".")[0], entry.module.partition("/")[0]) for entry in imports()}
    homes = {(library, home) for library, rooms in HOMES.items() for home in rooms}
    assert {each for each in found if each[0] not in everywhere} == homes


def test_heavy_libraries_are_imported_where_they_are_used():
    at_start = [entry for entry in imports() if entry.at_start and entry.module not in AROUND_JINJA]
    around_jinja = {f"sitegen.{module.replace('/', '.')}" for module in AROUND_JINJA}
    heavy = [str(entry) for entry in at_start if entry.imported.partition(".")[0] in HEAVY]
    assert heavy + [str(entry) for entry in at_start if entry.imported in around_jinja] == []


DECODED = {"config/models", "scoring/mapping", "engine/cached_kinds"}
"""Modules with many of the values that a build reads from its memo, besides the model."""

BASES = {"model/frozen"}
"""The bases of all values, which are built with msgspec."""


def test_annotations_of_values_in_the_memo_are_evaluated_when_they_are_defined():
    """A decoder evaluates annotations of every class that it reads. Texts would be compiled one by one."""
    decoded = {entry.module for entry in imports() if entry.module.startswith("model/")} - BASES | DECODED
    assert {entry.module for entry in imports() if entry.imported == "__future__"}.isdisjoint(decoded)
    assert all((PACKAGE / f"{module}.py").is_file() for module in DECODED)


def test_the_model_needs_nothing_but_the_standard_library_and_the_bases_of_values():
    outside = {
        entry.imported
        for entry in imports()
        if entry.module.startswith("model/") and entry.module not in BASES
        if not entry.imported.startswith("sitegen.model")
    }
    allowed = "bisect collections.abc dataclasses decimal enum functools json math re typing"
    assert outside <= set(allowed.split())


def test_each_kind_says_what_it_is_like():
    kinds = [scorer(kind).kind for kind in BUILTIN_KINDS]
    assert list(KIND_TRAITS) == kinds == [files.kind for files in KIND_FILES]
    assert traits_of(None) == KindTraits()


def kinds_asked_for(code: str) -> list[str]:
    """The comparisons of a kind with the name of one, as text or as a constant."""
    compared = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Compare)]
    found = []
    for node in compared:
        sides = (node.left, *node.comparators)
        options = [each for side in sides for each in (side.elts if isinstance(side, ast.Tuple | ast.Set) else [side])]
        if any(re.search(r"\bkind\b", ast.unparse(side)) for side in sides) and any(map(_names_a_kind, options)):
            found.append(ast.unparse(node))
    return found


def _names_a_kind(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in KIND_TRAITS
    return ast.unparse(node) in ("RECORDED", "RESPONSES", "FIELDS") or bool(
        re.fullmatch(r"\w+(_KIND|Scorer\.kind)", ast.unparse(node))
    )


@in_table
def test_a_comparison_with_a_kind_is_found(code):
    assert kinds_asked_for(code) == [code.replace('"', "'")]


def test_nothing_but_scoring_asks_which_kind_an_eval_is_of():
    files = (file for file in sorted(PACKAGE.rglob("*.py")) if "scoring" not in file.parts)
    asked = {str(file.relative_to(PACKAGE)): kinds_asked_for(file.read_text(encoding="utf-8")) for file in files}
    assert {name: found for name, found in asked.items() if found} == {}


def test_no_template_asks_which_kind_an_eval_is_of():
    kinds = "|".join(KIND_TRAITS)
    asks = re.compile(rf"""nouns\.attribute\s*[!=]=|\bkind\b[^{{}}]*["'](?:{kinds})["']""")
    files = sorted((PACKAGE.parent / "site_templates").rglob("*.html"))
    assert len(files) > 20
    assert [file.name for file in files if asks.search(file.read_text(encoding="utf-8"))] == []
