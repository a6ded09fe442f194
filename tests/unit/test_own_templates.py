"""A project's own templates: found before ours, from the work tree alone, in a sandbox, and told apart if they fail."""

import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from sitegen.engine.jinja_setup import GLOBALS
from sitegen.engine.template_files import KINDS, find_templates
from sitegen.engine.worker_context import Renderer
from sitegen.errors import ConfigurationError
from sitegen.model.site import Page
from sitegen.pages.other_pages import methods_page
from sitegen.recognition.initialising import copy_templates
from tests import pages_sample as sample
from tests.gitrepo import GitRepo, put
from tests.golden.repository import write
from tests.rows import in_table
from tests.sites import build_site, content, differences, run

METHODS = "site_templates/pages/methods.html"
EXTENDED = """{% extends "sitegen/pages/methods.html" %}
{% block title %}Our methods{% endblock %}
{% block main %}{{ super() }}<p>Asked twice? Ask Ann.</p>{% endblock %}
"""


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    repo.check_in(
        {
            "CLAUDE.md": "Read.\n",
            ".gitignore": ".sitegen\npublic\n",
            "evals/a/ground_truth.json": '{"x": 1}',
            "evals/a/extracted.json": '{"x": 2}',
        }
    )
    return repo


def rendered(folder: Path, text: str, name: str = "pages/methods.html") -> str:
    """The methods page by a template of one's own."""
    put(folder / name, text)
    page = Page("methods.html", "pages/methods.html", sample.view_of(methods_page(())))
    return Renderer(sample.SITE, folder).render(page).decode()


def test_pages_styles_and_pictures_of_a_project_are_part_of_the_site_and_may_build_on_ours(project, tmp_path):
    build_site(project.path, tmp_path / "plain", jobs=1)
    project.put(METHODS, EXTENDED)
    project.put("site_templates/theme.css", ":root { --accent: teal; }\n")
    project.put("site_templates/assets/logo.svg", "<svg/>")
    project.put("site_templates/assets/icon.svg", "<svg>ours</svg>")
    project.put("site_templates/assets/app.css", "lost")
    build_site(project.path, tmp_path / "own", jobs=1)
    plain, own = content(tmp_path / "plain"), content(tmp_path / "own")
    changed = ["assets/app.css", "assets/icon.svg", "assets/logo.svg", "methods.html"]
    assert differences(tmp_path / "plain", tmp_path / "own") == changed
    assert (own["assets/logo.svg"], own["assets/icon.svg"]) == (b"<svg/>", b"<svg>ours</svg>")
    assert own["assets/app.css"] == plain["assets/app.css"] + b"\n:root { --accent: teal; }\n"  # after all others
    html = own["methods.html"].decode()
    assert "<title>Our methods" in html
    assert html.index('id="rule-1"') < html.index("Asked twice?")


def test_a_sandbox_changes_no_byte_of_any_page(tmp_path):
    repo = write(tmp_path / "golden")
    build_site(repo.path, tmp_path / "plain", jobs=1)
    repo.put("site_templates/pages/unused.html", "unused")
    build_site(repo.path, tmp_path / "own", jobs=1)
    assert differences(tmp_path / "plain", tmp_path / "own") == []


def test_a_changed_template_makes_the_pages_again_and_an_unchanged_one_none(project, tmp_path):
    out = tmp_path / "site"
    project.put(METHODS, EXTENDED)
    build_site(project.path, out, jobs=1)
    assert build_site(project.path, out, jobs=1).written == 0
    project.put(METHODS, EXTENDED.replace("Ann", "Ben"))
    assert build_site(project.path, out, jobs=1).written > 0
    assert "Ask Ben." in (out / "methods.html").read_text(encoding="utf-8")
    (project.path / METHODS).unlink()
    build_site(project.path, out, jobs=1)
    build_site(project.path, tmp_path / "plain", jobs=1)
    assert differences(out, tmp_path / "plain") == []


def test_no_template_out_of_history_is_used(project, tmp_path):
    build_site(project.path, tmp_path / "before", jobs=1, rev="HEAD")
    project.commit({METHODS: EXTENDED}, message="Bring a template")
    build_site(project.path, tmp_path / "after", jobs=1)
    assert (tmp_path / "before" / "methods.html").read_bytes() == (tmp_path / "after" / "methods.html").read_bytes()
    bare = tmp_path / "bare" / "project"
    subprocess.run(["git", "clone", "-q", "--bare", str(project.path), str(bare)], check=True)
    build_site(bare, tmp_path / "of-bare", jobs=1)
    assert b"Ask Ann" not in (tmp_path / "of-bare" / "methods.html").read_bytes()


@in_table
def test_a_broken_template_ends_the_build_and_says_where(project, text, line, what):
    file = project.path / METHODS
    put(file, text)
    done = run("build", cwd=project.path)
    assert (done.returncode, done.stdout) == (2, "")
    first, at, fix = done.stderr.splitlines()[-3:]
    assert first.startswith("sitegen: A template of the project cannot be rendered: ")
    assert what in first
    assert (at, fix) == (f"  at: {file}:{line}", "  do: Correct it, or build with --no-templates.")
    assert run("build", "--no-templates", cwd=project.path).returncode == 0
    file.unlink()
    assert run("build", cwd=project.path).returncode == 0


def test_a_template_that_fails_in_another_process_says_where_as_well(tmp_path):
    repo = write(tmp_path / "golden")
    repo.put("site_templates/pages/report.html", "{{ path }}\n{{ nothing }}")
    done = run("build", repo.path, "--jobs", "2", "-o", tmp_path / "out", "--cache", tmp_path / "memo")
    assert done.returncode == 2
    assert f"  at: {repo.path}/site_templates/pages/report.html:2\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failure_of_ours_is_not_called_one_of_the_project(tmp_path):
    with pytest.raises(TypeError):
        Renderer(sample.SITE, tmp_path).render(Page("x.html", "pages/methods.html", object()))


@in_table
def test_a_template_reaches_nothing_but_what_it_is_given(tmp_path, expression):
    with pytest.raises(ConfigurationError):
        rendered(tmp_path, f"[{{{{ {expression} }}}}]")


def test_no_module_that_templates_are_given_leads_to_another_one(tmp_path):
    modules = ", ".join(name for name, value in GLOBALS.items() if isinstance(value, ModuleType))
    found = rendered(
        tmp_path,
        f"{{% for module in [{modules}] %}}"
        "{% for name in ['os', 'sys', 're', 'json', 'io', 'Path', 'formats', 'escape', 'lru_cache', 'Any', 'csv'] %}"
        "{% if module[name] is defined %}{{ name }} {% endif %}{% endfor %}{% endfor %}",
    )
    assert found.strip() == ""


def test_no_file_outside_the_folder_is_read(project, tmp_path):
    secret = tmp_path / "secret.html"
    secret.write_text("the secret", encoding="utf-8")
    project.put(METHODS, '{% include ["../secret.html", "pages/link.html", "' + str(secret) + '"] ignore missing %}-')
    (project.path / "site_templates" / "pages" / "link.html").symlink_to(secret)
    (project.path / "site_templates" / "assets").mkdir()
    (project.path / "site_templates" / "assets" / "link.svg").symlink_to(secret)
    (project.path / "site_templates" / "theme.css").symlink_to(secret)
    (project.path / "site_templates" / "frame").symlink_to(tmp_path)
    build_site(project.path, tmp_path / "own", jobs=1)
    files = content(tmp_path / "own")
    assert files["methods.html"] == b"-"
    assert [path for path, body in files.items() if b"the secret" in body] == []
    assert "assets/link.svg" not in files


def test_text_is_escaped_in_templates_of_a_project(tmp_path):
    assert rendered(tmp_path, "{{ '<b>' }}") == "&lt;b&gt;"


def test_init_copies_what_is_to_be_changed_and_says_what_comes_next(project):
    done = run("init", "--templates", "frame/footer.html", "--templates", "theme.css", cwd=project.path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "wrote  site_templates/frame/footer.html\nwrote  site_templates/theme.css\n"
        "next: change them, then run sitegen build\n"
    )
    copied = project.path / "site_templates" / "frame" / "footer.html"
    assert copied.read_bytes() == (find_templates() / "frame" / "footer.html").read_bytes()
    copied.write_text("mine", encoding="utf-8")
    again = run("init", "--templates", "frame", cwd=project.path)
    assert "kept   site_templates/frame/footer.html" in again.stdout.splitlines()
    assert copied.read_text(encoding="utf-8") == "mine"
    assert not (project.path / "evals" / "manifest.yaml").exists()


def test_copies_of_all_templates_make_the_same_site(project, tmp_path):
    build_site(project.path, tmp_path / "plain", jobs=1)
    written = copy_templates(project.path, find_templates(), ["all"])
    assert {path.suffix for path in written} <= KINDS
    assert len(written) > 60
    build_site(project.path, tmp_path / "own", jobs=1)
    assert differences(tmp_path / "plain", tmp_path / "own") == []


def test_a_theme_as_it_is_copied_changes_nothing_that_is_seen(project):
    (one,) = copy_templates(project.path, find_templates(), ["theme.css"])
    css = re.sub(r"/\*.*?\*/", "", one.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "".join(css.split()) == ":root{}"
    tokens = (find_templates() / "assets" / "css" / "tokens.css").read_text(encoding="utf-8")
    named = re.findall(r"(--[\w-]+):", one.read_text(encoding="utf-8"))
    assert named != []
    assert [name for name in named if f"{name}:" not in tokens] == []


def test_a_template_that_there_is_not_is_an_error_that_names_a_near_one(project):
    done = run("init", "--templates", "pages/method.html", cwd=project.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sitegen: There is no template 'pages/method.html'.\n  do: Did you mean 'pages/methods.html'?\n"
    )
    assert not (project.path / "site_templates").exists()


def test_the_blocks_that_the_readme_lists_are_those_that_there_are():
    readme = (find_templates() / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (?:every page|most pages)", readme, re.MULTILINE)
    base = (find_templates() / "base.html").read_text(encoding="utf-8")
    assert listed == ["title", "description", "main"]
    assert sorted(re.findall(r"{% block (\w+)", base)) == sorted(listed)
    for page in find_templates().glob("pages/*.html"):
        assert set(re.findall(r"{% block (\w+)", page.read_text(encoding="utf-8"))) <= set(listed), page
