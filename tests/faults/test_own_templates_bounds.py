"""Templates of a project that never end, or that want more memory than there is, end as one error that names them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sitegen
from sitegen.engine import own_templates
from sitegen.engine.own_templates import own_template_error
from sitegen.engine.worker_context import Renderer
from sitegen.errors import ConfigurationError
from sitegen.model.site import Page
from sitegen.pages.other_pages import methods_page
from tests import pages_sample as sample
from tests.gitrepo import put
from tests.rows import in_table
from tests.sites import run

# An error in a callback of the interpreter (of a weak reference, of the collection of garbage) is lost, and said to be:
# the next second has another one.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

NAME = "pages/methods.html"
NESTED_LOOPS = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3


def rendered(folder: Path, text: str) -> str:
    put(folder / NAME, text)
    page = Page("methods.html", NAME, sample.view_of(methods_page(())))
    return Renderer(sample.SITE, folder).render(page).decode()


@pytest.fixture
def shortly(monkeypatch):
    """Pages may take a second of the processor."""
    monkeypatch.setattr("sitegen.engine.own_templates.SECONDS", 1)


@in_table
def test_a_template_without_an_end_or_that_wants_much_memory_is_one_error_that_names_it(
    tmp_path, shortly, case, wants, template
):
    with pytest.raises(ConfigurationError) as caught:
        rendered(tmp_path, template)
    took_too_long = "A template of the project cannot be rendered: a page took more than 1 seconds"
    assert wants == "memory" or caught.value.message == took_too_long
    assert (caught.value.where or "").startswith(f"{tmp_path / NAME}:")


def test_time_that_ends_while_another_error_is_handled_is_an_error_of_the_template(tmp_path):
    failing = compile("raise MemoryError", str(tmp_path / NAME), "exec")
    try:
        try:
            exec(failing)
        except MemoryError:
            raise own_templates.TemplateBoundError("a page took more than 1 seconds") from None
    except own_templates.TemplateBoundError as error:
        failure = own_template_error(error, {NAME: tmp_path / NAME})
    assert failure
    assert failure.where == f"{tmp_path / NAME}:1"


def test_a_template_without_an_end_is_an_error_in_a_thread_too(tmp_path, shortly):
    with ThreadPoolExecutor(1) as thread, pytest.raises(ConfigurationError, match="took more than 1 seconds"):
        thread.submit(rendered, tmp_path, NESTED_LOOPS).result()


def test_a_process_in_the_middle_of_one_endless_operation_is_ended_and_names_the_template(tmp_path):
    doubled = "{% for i in range(99) %}{% set all.it = (all.it, all.it) %}{% endfor %}"
    nested = f"{{% set all = namespace(it=(0,)) %}}{doubled}\n{{{{ {{all.it: 1}} | length }}}}"
    script = (
        "from pathlib import Path; import sys; from tests.faults import test_own_templates_bounds as here;"
        "from sitegen.engine import own_templates; own_templates.SECONDS = own_templates.SECONDS_TO_REACT = 0.5;"
        "here.rendered(Path(sys.argv[1]), sys.argv[2])"
    )
    command = [sys.executable, "-c", script, str(tmp_path), nested]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode < 0
    assert f'File "{tmp_path / NAME}"' in done.stderr


def test_what_a_bound_was_set_to_before_is_set_again(tmp_path):
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)
    assert rendered(tmp_path, "{{ 'a' * 3 ~ 2 ** 10 ~ [1] * 2 }}") == "aaa1024[1, 1]"
    assert (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


@pytest.mark.parametrize("text", ["{{ lipsum() }}", "{{ [1, 2] | random }}"])
def test_nothing_that_differs_at_each_build_is_given_to_templates(tmp_path, text):
    with pytest.raises(ConfigurationError):
        rendered(tmp_path, text)


@pytest.mark.parametrize("text", ["{{ spans }}", "{{ links | string }}", "{{ charts ~ '' }}", "{{ [field] }}"])
def test_no_template_prints_where_sitegen_is_installed(tmp_path, text):
    assert str(Path(sitegen.__file__).parent) not in rendered(tmp_path, text)


def test_a_build_ends_with_one_error(repo):
    repo.check_in({"evals/a/ground_truth.json": '{"x": 1}', "evals/a/extracted.json": '{"x": 2}'})
    file = repo.path / "site_templates" / NAME
    put(file, "\n{{ 'a' | center(10 ** 10) }}")
    done = run("build", cwd=repo.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-3:] == [
        "sitegen: A template of the project cannot be rendered: a page took more than 1,000,000,000 bytes",
        f"  at: {file}:2",
        "  do: Correct it, or build with --no-templates.",
    ]
