"""What is published: whole, typed, declared, and as good as the checkout."""

import ast
import io
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from sitegen.recognition.initialising import PUBLISHED, wheel
from sitegen.text.embedding import WEIGHTS
from tests.golden.repository import write
from tests.sites import build_site, differences

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


class Built:
    """A source distribution, and the wheel that was made from it."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.sdist = next(folder.glob("*.tar.gz"))
        self.wheel = next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("dist"))


def tracked(folder: str) -> set[str]:
    """The files of a folder that git knows."""
    listing = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listing.stdout.split("\0") if name}


def test_the_wheel_holds_the_package_its_templates_and_nothing_else(built):
    names = {name for name in zipfile.ZipFile(built.wheel).namelist() if ".dist-info/" not in name}
    wanted = tracked("sitegen") | {f"sitegen/{name}" for name in tracked("site_templates")}
    assert names == wanted
    assert {"sitegen/py.typed", "sitegen/site_templates/base.html"} <= names


def test_the_wheel_that_init_writes_is_made_of_the_files_of_the_one_that_is_built(built):
    name, content = wheel()
    assert (name, content) == (built.wheel.name, wheel()[1])
    ours, theirs = zipfile.ZipFile(io.BytesIO(content)), zipfile.ZipFile(built.wheel)
    assert sorted(ours.namelist()) == sorted(theirs.namelist())
    changes = [path for path in theirs.namelist() if ours.read(path) != theirs.read(path)]
    assert [path for path in changes if ".dist-info/" not in path] == []


def test_the_source_distribution_holds_what_the_wheel_is_made_of_and_no_tests(built):
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked("sitegen") | tracked("site_templates") <= names
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names
    assert [name for name in names if name.startswith(("tests", "evals", "public"))] == []


def readme_block(word: str) -> list[str]:
    """The commands of the first console block of the README that says a word."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    block = next(block for block in blocks if word in block)
    return [line.removeprefix("$ ") for line in block.splitlines()]


def test_what_the_readme_says_first_installs_sitegen_from_a_clone_and_builds_a_site(tmp_path):
    clone, home = tmp_path / "clone", tmp_path / "fresh"
    for name in tracked("."):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    version_ = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # What sitegen needs is found where it is: this is no test of a package index.
    (home / "lib" / version_ / "site-packages" / "others.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    (home / "bin" / "pip").write_text(f'#!/bin/sh\nexec {home}/bin/python -m pip "$@"\n')
    (home / "bin" / "pip").chmod(0o755)
    environment = {
        "PATH": f"{home}/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        **dict.fromkeys(("PIP_NO_BUILD_ISOLATION", "PIP_NO_COMPILE"), "0"),  # pip takes this to say that there is none
    }

    def run_(command: str, folder: Path) -> None:
        words = ["sh", "-c", command]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    for command in readme_block("pip install"):
        run_(command, clone)
    where = [str(home / "bin" / "python"), "-c", "import sitegen; print(sitegen.__file__)"]
    shown = subprocess.run(where, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert Path(shown.stdout.strip()).is_relative_to(home)
    run_("sitegen demo project", tmp_path)
    run_(readme_block("sitegen build")[0], tmp_path / "project")
    assert (tmp_path / "project" / "site" / "index.html").is_file()
    golden = write(tmp_path / "golden").path
    run_("sitegen build golden -o installed", tmp_path)
    build_site(golden, tmp_path / "expected", jobs=1)
    assert differences(tmp_path / "installed", tmp_path / "expected") == []


def test_the_readme_installs_from_an_index_only_what_is_on_one():
    wanted = "pip install sitegen-evals" if PUBLISHED else "pip install ."
    assert readme_block("pip install") == [wanted]
    from_an_index = re.compile(r"pip install (?:--quiet )?\"?sitegen(?:-evals)?(?:\[\w+\])?(?:==.*)?\"?$", re.MULTILINE)
    files = ("README.md", "action.yml", ".github/CONTRIBUTING.md", "Makefile", "evals/README.md")
    found = [name for name in files if from_an_index.search((ROOT / name).read_text(encoding="utf-8"))]
    assert found == (["README.md"] if PUBLISHED else [])


def imported() -> set[str]:
    """The packages beyond the standard library that the code imports."""
    names = set()
    for file in (ROOT / "sitegen").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"sitegen"}


def declared(requirements: list[str]) -> set[str]:
    """Names of requirements, normalised; each must have a lower bound."""
    found = set()
    for requirement in requirements:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)>=[0-9.]+", requirement)
        assert match, f"{requirement} has no lower bound"
        found.add(_normal(match[1]))
    return found


def test_every_import_is_declared_and_every_declaration_is_imported():
    not_installed = ("sentence_transformers", "torch")
    homes = {**packages_distributions(), **{name: [name] for name in not_installed}}
    needed = {_normal(homes[name][0]) for name in imported()} | {_normal(WEIGHTS)}  # weights are found by name
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    assert needed == declared(PYPROJECT["project"]["dependencies"]).union(*map(declared, extras))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
