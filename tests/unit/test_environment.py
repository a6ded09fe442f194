"""Templates, assets, and what a page depends on."""

import gc
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from jinja2.runtime import Context
from msgspec.structs import replace

from sitegen.engine.template_files import template_digest
from sitegen.engine.worker_context import Renderer
from sitegen.errors import ConfigurationError
from sitegen.model.site import Page
from sitegen.pages.other_pages import methods_page, not_found_page
from tests import pages_sample as sample
from tests.browser import sample_site
from tests.garbage import new_objects_alone
from tests.gitrepo import put
from tests.sites import build_site, renderer_of


@pytest.fixture
def renderer():
    return Renderer(sample.SITE)


def test_a_page_that_a_site_has_more_than_once_is_no_garbage(repo, tmp_path):
    """Such pages are many or large, so no garbage collection is needed to free what they show (``COLLECTION``)."""
    repo.commit(
        {
            "evals/a/ground_truth.json": '{"lines": [{"name": "tea", "sum": 1}]}',
            "sitegen.toml": "[limits]\nreports_kept = 2\n",
            "evals/manifest.yaml": 'version: "2.0"\nevals: {b: {kind: judged, outputs: results.csv}}\n',
        }
    )
    for number in range(4):
        repo.commit(
            {
                "CLAUDE.md": f"# Rules\n{number}\n",
                "evals/a/extracted.json": f'{{"lines": [{{"name": "tea", "sum": {number}}}]}}',
                "evals/b/results.csv": f"id,model,score\nx,one,0.{number}\nx,two,0.5\ny,one,0.7\ny,two,0.9\n",
            }
        )
    repo.checkout()
    with new_objects_alone():
        build_site(repo.path, tmp_path / "out", jobs=1)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        garbage = {found.name for found in gc.garbage if isinstance(found, Context)}
        held = Counter(found.name for found in gc.get_objects() if isinstance(found, Context))
    names = ("report", "tree", "field", "edit", "commit", "short", "trend", "compare", "instruction")
    assert {name for name in garbage if name and re.split("[/.]", name)[1] in names} == set()
    assert {name for name, number in held.items() if number > 1} == set(), "templates that pages include, too"


def test_compiled_templates_are_read_and_incomplete_ones_are_compiled_again(renderer, tmp_path, monkeypatch):
    page = not_found_page(None)
    folder = tmp_path / "sitegen" / "templates"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def compiled() -> dict[str, tuple[bytes, int]]:
        """The files of compiled templates after the page was rendered, with the times at which they were written."""
        assert Renderer(sample.SITE).render(page) == renderer.render(page)
        return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}

    first = compiled()
    assert compiled() == first
    for added, end in ((b"", -20), (b"of another version", None)):
        for file in folder.iterdir():
            file.write_bytes(added + file.read_bytes()[:end])
        again = compiled()
        assert {name: body for name, (body, _) in again.items()} == {name: body for name, (body, _) in first.items()}
        assert compiled() == again


def test_an_own_folder_overrides_file_by_file(renderer, tmp_path):
    own = tmp_path / "pages" / "methods.html"
    put(own, '{% extends "base.html" %}{% block title %}Ours{% endblock %}')
    ours = Renderer(sample.SITE, tmp_path)
    assert b"<title>Ours \xc2\xb7 Freight desk</title>" in ours.render(methods_page(()))
    assert ours.render(not_found_page(None)) == renderer.render(not_found_page(None))


def test_the_digest_of_templates_changes_with_every_name_and_every_content(tmp_path):
    def digest(contents: dict[str, str]) -> str:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        for name, content in contents.items():
            put(folder / name, content)
        return template_digest(folder)

    base = {"a.html": "x", "css/b.css": "y"}
    assert digest({**base, "README.md": "no template"}) == digest(base)
    others = [{"a.html": "xy", "css/b.css": ""}, {"a.html": "x", "css/c.css": "y"}, {"a.html": "x", "b.css": "y"}]
    assert len(set(map(digest, [base, {"a.html": "x"}, *others]))) == 5


def test_a_name_that_a_template_does_not_know_is_an_error(tmp_path):
    (tmp_path / "x.html").write_text("{{ path }}{{ nothing }}", encoding="utf-8")
    renderer = Renderer(sample.SITE, tmp_path)
    with pytest.raises(ConfigurationError, match="'nothing' is undefined"):
        renderer.render(Page("x.html", "x.html", sample.view_of(methods_page(()))))


def test_a_missing_page_finds_its_styles_from_any_depth_if_the_address_of_the_site_is_known(renderer):
    assert b'href="/desk/assets/app.css"' in renderer.render(not_found_page("https://example.org/desk"))
    assert b'href="assets/app.css"' in renderer.render(not_found_page(None))


def test_a_site_that_is_not_to_be_found_says_so_on_every_page(renderer):
    hidden = Renderer(replace(sample.SITE, noindex=True))
    robots = b'<meta name="robots" content="noindex, nofollow">'
    assert [robots in each.render(not_found_page(None)) for each in (hidden, renderer)] == [True, False]


def test_a_shallow_history_is_said_on_every_page():
    renderer, pages = renderer_of(replace(sample.SITE, shallow=True)), sample_site.pages()
    one_of_each = {page.template: page for page in pages}.values()
    assert all(b"The history is cut off." in renderer.render(page) for page in one_of_each)


def test_every_rule_stands_on_the_methods_page_with_an_example(renderer):
    html = renderer.render(methods_page((("fields", sample.SPECS),))).decode()
    for number in (*range(1, 26), 35, 36):
        part = html.partition(f'id="rule-{number}"')[2].partition("</section>")[0]
        assert '<p class="ex">' in part, number
