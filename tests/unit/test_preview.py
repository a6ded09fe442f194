"""The report that ``verify-one --open`` shows: the project's own look, and nothing that leads nowhere."""

import posixpath
import re
from pathlib import Path
from urllib.parse import urldefrag

import pytest

from sitegen.errors import ConfigurationError
from sitegen.questions.preview import report_file, without_links, write_preview
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.results_file import Metadata
from tests.receipts import write_receipts

HREF = re.compile(r"""<(?:a|link)\b[^>]*\shref=["']?([^"'\s>]+)""")


def preview(root: Path, eval_id: str = "receipts") -> Path:
    bench = WorktreeProject.open(root)
    return write_preview(verify(bench, eval_id))


def dead_links(page: Path) -> list[str]:
    """The addresses on a page that lead to no file."""
    found = (urldefrag(address)[0] for address in HREF.findall(page.read_text(encoding="utf-8")))
    return [address for address in found if address and not (page.parent / address).is_file()]


def test_every_link_of_a_preview_leads_to_a_file(demo):
    bench = WorktreeProject.open(demo)
    pages = [write_preview(verify(bench, eval_id)) for eval_id in bench.eval_ids]
    methods = demo / ".sitegen/preview/methods.html"
    assert len(pages) == 10
    assert [(page.parent.name, dead_links(page)) for page in (*pages, methods) if dead_links(page)] == []
    assert all(posixpath.relpath(methods, page.parent) in page.read_text(encoding="utf-8") for page in pages)


def test_a_preview_leaves_nothing_that_git_sees(tmp_path):
    repo = write_receipts(tmp_path / "project")
    preview(repo.path)
    assert repo.git("status", "--porcelain") == ""


def test_a_field_without_a_page_is_named_all_the_same(tmp_path):
    repo = write_receipts(tmp_path / "project")
    page = preview(repo.path).read_text(encoding="utf-8")
    assert "<tr><td class=label><span>shop</span><td>1.000" in page
    assert "data-search" not in page


def test_the_templates_and_the_title_of_the_project_make_the_preview(tmp_path):
    repo = write_receipts(tmp_path / "project")
    own = repo.path / "site_templates/frame"
    own.mkdir(parents=True)
    (own / "footer.html").write_text('<footer>Ours. <a href="{{ root }}index.html">Home</a></footer>', encoding="utf-8")
    (repo.path / "site_templates/theme.css").write_text(":root { --own: 1 }", encoding="utf-8")
    (repo.path / "sitegen.toml").write_text('title = "Till"\n', encoding="utf-8")
    page = preview(repo.path)
    text = page.read_text(encoding="utf-8")
    assert "<footer>Ours. </footer>" in text
    assert "· Till</title>" in text
    assert "--own: 1" in (page.parents[2] / "assets/app.css").read_text(encoding="utf-8")


def test_a_wrong_template_of_the_project_is_named(tmp_path):
    repo = write_receipts(tmp_path / "project")
    own = repo.path / "site_templates/frame"
    own.mkdir(parents=True)
    (own / "footer.html").write_text("{{ nothing.", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="footer"):
        preview(repo.path)


def test_only_links_to_files_that_are_missing_are_taken_out():
    page = (
        b'<a href="../gone.html">Nav</a><main><a class="btn" href="gone.html">Go</a>'
        b'<a class="mono" href="fields/x.html">x &gt; y</a><a href=there%20too.html#d1>2</a>'
        b'<a href="#d1">3</a> <a href="https://example.org/gone.html">4</a></main><a href="there too.html">5</a>'
    )
    left = without_links(page, "evals/a/report.html", {"evals/a/there too.html"})
    assert left == (
        b'<main><span class="mono">x &gt; y</span><a href=there%20too.html#d1>2</a>'
        b'<a href="#d1">3</a> <a href="https://example.org/gone.html">4</a></main><a href="there too.html">5</a>'
    )


def test_a_report_of_its_own_has_our_policy_before_all_else_whatever_the_head_of_the_project_holds(tmp_path):
    repo = write_receipts(tmp_path / "project")
    own = repo.path / "site_templates/frame"
    own.mkdir(parents=True)
    head = '<meta charset="utf-8"><link rel="stylesheet" href="own.css"><script src="own.js"></script><base href="x/">'
    (own / "head.html").write_text(head, encoding="utf-8")
    (repo.path / "site_templates/theme.css").write_text("b::after { content: '</style><script>' }", encoding="utf-8")
    bench = WorktreeProject.open(repo.path)
    page = report_file(verify(bench, "receipts"), Metadata(), "eval-results.json").decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    assert page.split("<head>\n", 1)[1].startswith(f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n')
    assert ("own.css" in page, "own.js" in page, page.count("</style>")) == (False, False, 1)
    assert "content: '<\\/style>" in page
