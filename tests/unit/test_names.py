"""A name of a class means one thing in all of ``sitegen/``, so that a search for it finds one definition."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGE = Path(__file__).parents[2] / "sitegen"


def test_every_class_and_every_other_type_has_a_name_of_its_own():
    places = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for name in _types_named_by(node):
                places[name].append(file.relative_to(PACKAGE).as_posix())
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_values_with_more_than_three_fields_are_built_by_keyword():
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    values = {"NamedTuple", "Frozen", "FrozenObject"}
    while more := {node.name for node in classes if _extends(node, values)} - values:
        values |= more
    positional = [
        f"{file.relative_to(PACKAGE)}:{call.lineno} {ast.unparse(call)}"
        for file, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in values
        if len(call.args) > 3 or (len(call.args) > 1 and any(isinstance(item, ast.Starred) for item in call.args))
    ]
    assert len(values) > 500
    assert positional == []


def test_a_private_function_shares_its_name_with_one_other_module_at_most():
    modules = defaultdict(set)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
                modules[node.name].add(file.relative_to(PACKAGE).as_posix())
    assert len(modules) > 1000
    assert {name: sorted(places) for name, places in modules.items() if len(places) > 2} == {}


VAGUE = {
    *("came", "made", "said", "told", "one", "each", "some", "found", "brought", "taken", "wanted", "known", "given"),
    *("kept", "shown", "what", "things"),
}
WRITTEN_KEYS = {("scoring/results_file.py", "what"), ("scoring/documents.py", "found")}
"""Keys of files that programs read, whose names cannot change within a major version."""


def test_no_function_parameter_or_variable_has_a_name_that_says_nothing():
    names = {
        (file.relative_to(PACKAGE).as_posix(), name)
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in _named_by(node)
    }
    assert len(names) > 1000
    assert {(file, name) for file, name in names if name.strip("_") in VAGUE} == WRITTEN_KEYS


POSITIONS: Final = {
    "analysis/flips.py spans": "a run and where it ends: made for every run of every cell",
    "analysis/flips.py flips_between": "two indices of points, as pairwise gives them",
    "api/outputs.py compare": "the names of the two results, in the order of these parameters",
    "scoring/pairing.py agreeing_pairs": "a position in each of two lists, as the best pairs of a matrix are",
    "scoring/paths.py weight": "a key to sort by, which is compared as a whole",
    "text/plain.py natural_order": "a key to sort by, which is compared as a whole",
    "stats/assignment.py best_pairs": "a row and a column of a matrix",
    "stats/assignment.py preferred_pairs": "a row and a column of a matrix",
    "analysis/error_patterns.py RULES": "a mapping from names to rules, in the order in which they are tried",
    "pages/compare/judged.py judged_pairs": "two indices of points, as in flips_between",
    "analysis/change.py changes": "two indices of points, as in flips_between",
    "analysis/series.py series_of_two": "a snapshot and its result, for each of two sides",
    "comparison_files/changes.py result_change": "the names of both sides, in their order",
    "pages/compare/compare_data.py changes": "two indices of points, as in flips_between",
    "pages/compare/page.py counted": "numbers of fixed and of broken cells, as in independent_flips",
    "stages/commit_effects.py keep_effects_of_commits": "two indices of points, as in flips_between",
    "stages/commit_effects.py spans_of_commits": "two indices of points, as in flips_between",
    "stages/commit_effects.py spans_of_edits": "two indices of points, as in flips_between",
    "pages/variants/variant_charts.py spokes": "coordinates in a picture",
    "serve/server.py lookup_path": "the signature is that of the class of starlette that it extends",
}
"""Public functions and values with tuples whose parts need no names, and why."""


def test_what_crosses_packages_has_names_for_its_parts_and_is_no_bare_tuple():
    files = sorted(PACKAGE.rglob("*.py"))
    bare = {
        f"{file.relative_to(PACKAGE).as_posix()} {name}"
        for file in files
        for name, annotation in _public_annotations(ast.parse(file.read_text(encoding="utf-8")))
        if any(map(_has_fixed_length, ast.walk(annotation)))
    }
    assert len(files) > 100
    assert bare == POSITIONS.keys()


def _public_annotations(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Name and annotation of each field, parameter and result that other modules can use."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield from _public_annotations(node)
            case ast.FunctionDef(name=name) if not name.startswith("_") or name == "__init__":
                parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                for annotation in (node.returns, *(parameter.annotation for parameter in parameters)):
                    if annotation is not None:
                        yield name, annotation
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                yield name, node.annotation


def _has_fixed_length(node: ast.AST) -> bool:
    """Whether an annotation is a tuple of two or more items; one with an ellipsis has any number of the same."""
    match node:
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[_, *_, last])):
            return not (isinstance(last, ast.Constant) and last.value is Ellipsis)
        case _:
            return False


def _types_named_by(node: ast.AST) -> list[str]:
    """The class or the alias of a type that a statement defines; not a variable of a type, such as ``T``."""
    match node:
        case ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return [name] if name[:1].isupper() and not name.isupper() else []
        case _:
            return []


def _named_by(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case _:
            return []


def _extends(node: ast.ClassDef, values: set[str]) -> bool:
    """Whether a class is a value: it extends one, or is a dataclass."""
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    return bool(bases & values) or any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
