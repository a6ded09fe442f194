"""Templates of a project that never end, or that want more memory than there is, end as one error that names them."""

import gc
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
from tests.sites import run

NAME = "pages/methods.html"
MANY = "{% for a in range(99999) %}"
END = "{% endfor %}"
DOUBLED = "{% set all = namespace(it=START) %}{% for i in range(99) %}STEP{% endfor %}"


def doubled(start: str, step: str) -> str:
    return DOUBLED.replace("START", start).replace("STEP", step)


ENDLESS = {
    "nested loops": f"{MANY}{MANY}{MANY}{END}{END}{END}",
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
    "{{ m(80) }}",
    "a loop that calls itself": "{% for x in [1, 2] recursive %}{{ loop([1, 2]) if loop.depth0 < 80 }}{% endfor %}",
    "filters over filters": f"{MANY}{{% set x = range(99999) | map('string') | list | sort | unique | list %}}{END}",
    "an include that includes itself twice": "{% with n = (n | default(0)) + 1 %}{% if n < 30 %}"
    '{% include "pages/methods.html" %}{% include "pages/methods.html" %}{% endif %}{% endwith %}',
}

LARGE = {
    "a text times a number": "{{ 'a' * 10 ** 10 }}",
    "a number times a text": "{{ 10 ** 10 * 'a' }}",
    "a list times a number": "{{ ([0] * 10 ** 10) | length }}",
    "centred": "{{ 'a' | center(10 ** 10) }}",
    "centred by a method": "{{ 'a'.center(10 ** 10) }}",
    "filled": "{{ '1'.zfill(10 ** 10) }}",
    "indented": "{{ 'a\n\na' | indent(10 ** 10) }}",
    "joined": "{{ range(99999) | join('a' * 10 ** 6) }}",
    "replaced": "{{ ('a' * 10 ** 6) | replace('a', 'b' * 10 ** 6) }}",
    "formatted by %": "{{ '%10000000000d' % 1 }}",
    "formatted by a filter": "{{ '%10000000000d' | format(1) }}",
    "formatted by a method": "{{ '{:>10000000000}'.format(1) }}",
    "batched": "{{ [1] | batch(10 ** 10, 'a') | list | length }}",
    "a tower of powers": "{{ 10 ** (10 ** 10) }}",
    "a number squared": doubled("9", "{% set all.it = all.it * all.it %}"),
    "a text doubled by +": doubled("'a'", "{% set all.it = all.it + all.it %}"),
    "a text doubled by ~": doubled("'a'", "{% set all.it = all.it ~ all.it %}"),
    "a text doubled by a block": doubled("'a'", "{% set all.it %}{{ all.it }}{{ all.it }}{% endset %}"),
    "a text doubled by a filter": doubled("'a'", "{% set all.it = [all.it, all.it] | join %}"),
    "a list doubled": doubled("[0]", "{% set all.it = all.it + all.it %}"),
    "a list in lists, as text": doubled("[0]", "{% set all.it = [all.it, all.it] %}") + "{{ all.it }}",
    "a page of texts": f"{{% set text = 'a' * 10 ** 7 %}}{MANY}{{{{ text }}}}{END}",
    "an include that includes itself": '{% include "pages/methods.html" %}',
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a template that extends itself": '{% extends "pages/methods.html" %}',
}


def rendered(folder: Path, text: str) -> str:
    put(folder / NAME, text)
    page = Page("methods.html", NAME, sample.view_of(methods_page(())))
    return Renderer(sample.SITE, folder).render(page).decode()


@pytest.fixture
def shortly(monkeypatch):
    """Pages may take a second of the processor. Nothing of Hypothesis runs with the collection of garbage.

    It counts the time of collections by a function, in which an error is lost, and said to be; the next second has
    another one.
    """
    monkeypatch.setattr("sitegen.engine.own_templates.SECONDS", 1)
    callbacks = [*gc.callbacks]
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)


@pytest.mark.parametrize("case", [*ENDLESS, *LARGE])
def test_a_template_without_an_end_or_that_wants_much_memory_is_one_error_that_names_it(tmp_path, shortly, case):
    with pytest.raises(ConfigurationError) as caught:
        rendered(tmp_path, (ENDLESS | LARGE)[case])
    took_too_long = "A template of the project cannot be rendered: a page took more than 1 seconds"
    assert case in LARGE or caught.value.message == took_too_long
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
        thread.submit(rendered, tmp_path, ENDLESS["nested loops"]).result()


def test_a_process_in_the_middle_of_one_endless_operation_is_ended_and_names_the_template(tmp_path):
    nested = doubled("(0,)", "{% set all.it = (all.it, all.it) %}") + "\n{{ {all.it: 1} | length }}"
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
