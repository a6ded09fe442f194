"""What the documents say is so: their commands run, their links lead somewhere, their examples are understood."""

import os
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml

import sitegen
from sitegen.commands.check import FAILED
from sitegen.commands.demo import write_demo
from sitegen.commands.signatures import app
from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import EvalConfig, SiteConfig
from sitegen.config.site import read_rules, read_site
from sitegen.recognition.initialising import PUBLISHED
from sitegen.scoring.mapping import read_mapping
from tests.sites import ADDRESSES, content, run, text_of

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for name in subprocess.run(
        ["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    if (path := ROOT / name).is_file() and not name.startswith((".claude/", "evals/plant", "evals/delivery"))
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANUAL = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "manual").glob("*.md")}
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ELSEWHERE = ("pip", "open")
"""Commands of the README that other tests hold, or that need a desktop or the network."""


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    """The commands in the console blocks of the README and of the page on reading a report."""
    console = (*blocks(README, "console"), *blocks(MANUAL["read-a-report"], "console"))
    lines = [line for block in console for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line[2:], comments=True) for line in lines]


def test_every_command_of_the_readme_is_run_by_a_test():
    assert {command[0] for command in commands()} == {*ELSEWHERE, "sitegen"}
    assert len([command for command in commands() if command[0] == "sitegen"]) >= 5


def test_the_commands_of_the_readme_run_one_after_the_other(tmp_path: Path):
    assert "`sitegen demo /tmp/demo`" in README
    folder = tmp_path / "demo"
    done = run("demo", folder)
    assert (done.returncode, bool(done.stdout)) == (0, True)
    assert "sitegen build" in map(" ".join, commands())
    for command in commands():
        if command[0] == "sitegen":
            done = run(*command[1:], cwd=folder)
            assert (done.returncode, bool(done.stdout)) == (0, True), command
        elif command[0] == "open":
            assert (folder / command[1]).is_file()


def test_the_examples_of_the_help_run_in_the_demo(tmp_path: Path):
    folder = tmp_path / "demo"
    write_demo(folder)
    epilogs = "\n".join(str(command.epilog) for command in app.registered_commands)
    examples = re.findall(r"^ +sitegen (.+)$", epilogs, re.MULTILINE)
    assert len(examples) > 10
    for example in examples:
        words = [word.replace("/tmp/", f"{tmp_path}/new-") for word in shlex.split(example) if word != "--open"]
        if words != ["watch"]:
            done = run(*words, cwd=folder)
            assert (done.returncode in (0, FAILED), "sitegen:" in done.stderr) == (True, False), example


def test_the_first_edit_of_the_manual_prints_what_it_says(tmp_path: Path):
    page = MANUAL["first-edit"]
    person = {"NAME": "Ann", "EMAIL": "ann@example.org", "DATE": "2026-03-12T09:00:00+00:00"}
    environment = {f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    said = "".join(blocks(page, "console"))
    typed = [line for line in said.splitlines() if line.startswith("$ ")]
    script = "".join(f"cat <<'TYPED'\n{line}\nTYPED\n{line[2:]}\n" for line in typed)
    done = subprocess.run(
        ["bash", "-c", f'sitegen() {{ "{sys.executable}" -m sitegen "$@"; }}\n{script}'],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    shown_files = re.compile(r"\d+ files written(, \d+ kept)?")  # every new page is one more
    printed = done.stdout.replace(str(tmp_path), "/home/ann")
    assert shown_files.sub("", printed).splitlines() == shown_files.sub("", said).splitlines(), done.stderr
    (shown,) = blocks(page, "text")
    overview = text_of(tmp_path / "receipts" / "site" / "index.html")
    assert [line for line in shown.splitlines() if line not in overview] == []


def test_what_the_readme_installs_is_this_package():
    project = re.search(r'^name = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert project is not None
    source = project[1] if PUBLISHED else "."
    assert [command for command in commands() if command[0] == "pip"] == [["pip", "install", source]]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)", text)
    missing = [
        link
        for link in links
        if not re.match(r"[a-z]+:|#", link) and not (document.parent / link.partition("#")[0]).exists()
    ]
    assert missing == []


def test_the_python_of_the_manual_runs_and_prints_what_it_says(tmp_path: Path):
    (example,) = blocks(MANUAL["from-python"], "python")
    folder = tmp_path / "demo"
    write_demo(folder)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], cwd=folder, capture_output=True, text=True, check=False
    )
    promised = re.findall(r"^print\(.+\) +# (\S+(?: [\d.]+)?)$", example, re.MULTILINE)
    assert (done.returncode, done.stderr, promised) == (0, "", ["0.604 11", "PASS", "fail"])
    assert done.stdout.splitlines()[-4:] == [*promised, str(folder / "site" / "index.html")]


def test_the_manifest_of_the_manual_is_understood():
    example = next(block for block in blocks(MANUAL["adopt"], "yaml") if block.startswith("evals:"))
    assert manifest_in_force(example.encode(), "evals/manifest.yaml", "evals").value.evals == (
        EvalConfig(
            id="utility-bills",
            name="Utility bills",
            ground_truth="ground_truth.csv",
            mapping="schemas/field_mapping.yaml",
            thresholds={"f1": 0.9},
        ),
        EvalConfig(id="invoices", dir="extraction/invoices", ground_truth="gold.json", outputs="runs/*/answer.json"),
    )


def test_the_workflow_of_the_manual_fetches_the_whole_history():
    steps = yaml.safe_load(next(block for block in blocks(MANUAL["publish"], "yaml") if "actions/checkout" in block))
    assert steps[0]["with"] == {"fetch-depth": 0}
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert steps[1]["with"].keys() <= action["inputs"].keys()
    assert steps[2]["with"]["path"] == action["inputs"]["out"]["default"]


def test_make_help_lists_what_the_documents_name():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  make (\w+)", shown, re.MULTILINE))
    named = set()
    for name in ("README.md", ".github/CONTRIBUTING.md", "ARCHITECTURE.md", "tests/bench/README.md"):
        named |= set(re.findall(r"(?:`|^)make (\w+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
    assert {"site", "test", "bench", "golden"} <= named
    assert named - listed == set()


def test_the_changelog_has_a_place_for_this_version():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    first = headings[0]
    assert first == "Unreleased" or first.split()[0].strip("[]") == sitegen.__version__


def test_no_file_has_marks_of_a_merge():
    marks = ["git", "grep", "-lE", "^(<{7}|>{7}) "]
    assert subprocess.run(marks, cwd=ROOT, capture_output=True, text=True, check=False).stdout == ""


def test_every_decision_record_is_listed_with_its_title():
    folder = ROOT / ".github" / "decisions"
    titles = [path.read_text().partition("\n")[0] for path in sorted(folder.glob("0*.md"))]
    listed = re.findall(r"^- \[(\d{4})\]\(\1-[^)]+\.md\): (.+)$", (folder / "README.md").read_text(), re.MULTILINE)
    assert [f"# {number}: {title}" for number, title in listed] == titles


def test_every_place_on_the_code_map_exists():
    rows = re.findall(r"^\| (`[^|]+) \|", ARCHITECTURE, re.MULTILINE)
    places = [place for row in rows for place in re.findall(r"`([^`]+)`", row)]
    assert len(places) >= 15
    assert [place for place in places if not ((ROOT / place).exists() or (ROOT / "sitegen" / place).exists())] == []


def test_every_word_of_the_glossary_is_used_and_stands_there_once():
    table = ARCHITECTURE.partition("## Glossary")[2]
    rows = [row for row in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE) if row not in ("word", "---")]
    words = [word.strip() for row in rows for word in row.split(",")]
    assert len(words) == len(set(words)) >= 25
    files = [*(ROOT / "sitegen").rglob("*.py"), *(ROOT / "site_templates").rglob("*.html")]
    used = " ".join(path.read_text(encoding="utf-8") for path in files).lower()
    assert [word for word in words if word not in used] == []


def test_the_site_has_every_kind_of_page_and_no_other(demo_site):
    paths = sorted(content(demo_site))
    patterns = {name: re.compile(pattern) for name, pattern in ADDRESSES.items()}
    assert [name for name, each in patterns.items() if not any(map(each.fullmatch, paths))] == []
    assert [path for path in paths if not any(each.fullmatch(path) for each in patterns.values())] == []


def test_the_readme_is_two_screens_and_leads_to_every_page_of_the_manual():
    assert len(README) < 4_600
    assert {name for name in MANUAL if f".github/manual/{name}.md" in README} == MANUAL.keys() != set()


def test_the_field_mapping_of_the_manual_is_understood():
    (example,) = (block for block in blocks(MANUAL["adopt"], "yaml") if block.startswith("csv_to_json:"))
    mapping, findings = read_mapping(example.encode(), "{}")
    assert [findings, mapping.fields["total"].percent, mapping.extra_fields] == [(), 2, "ignore"]


def test_every_configuration_of_the_manual_is_understood(tmp_path: Path):
    examples = [block for text in MANUAL.values() for block in blocks(text, "toml")]
    assert len(examples) >= 5
    for example in examples:
        (tmp_path / "sitegen.toml").write_text(example, encoding="utf-8")
        assert read_site(partial(read_rules, tmp_path)).value != SiteConfig(), example
