"""``sitegen respond`` and ``judge`` against a server that speaks the Messages API."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sitegen.commands.signatures import app
from sitegen.errors import SitegenError
from sitegen.llm.client import KEY as KEY_NAME
from sitegen.llm.files import JUDGE, parse_template, partial_of
from tests.gitrepo import GitRepo, put
from tests.loops import run_loop
from tests.messages_api import KEY, Api, Reply, Script, serving
from tests.rows import in_table
from tests.sites import content, on_a_terminal

PROMPT = "Add up.\n<!-- user -->\n{input}\n"
DIGEST = parse_template(PROMPT).digest
MODEL = "some-model"
JUDGE_MODEL = "some-judge"
TOOK = {"tokens_in": 1, "tokens_out": 1}
JUDGED: dict[str, Any] = {
    "judge": f"{JUDGE_MODEL}-20260101",
    "judge_prompt": parse_template(JUDGE).digest,
    "judge_usage": TOOK,
}


class Done(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_NAME, KEY)


@pytest.fixture
def project(repo: GitRepo) -> Path:
    cases = [{"id": f"c{number}", "input": f"{number}+{number}", "expected": str(2 * number)} for number in range(1, 5)]
    repo.check_in({"evals/sums/test_cases.json": json.dumps(cases), "prompts/sums.md": PROMPT})
    return repo.path


class Commands:
    """The command line on one project and one API."""

    def __init__(self, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.project = project
        self._address: tuple[str, ...] = ()
        self._capsys = capsys

    @contextmanager
    def serving(self, script: Script | None = None, **settings: object) -> Iterator[Api]:
        """An API that adds up, or follows a script, and a configuration that names its model."""
        lines = {"model": MODEL, "judge_model": JUDGE_MODEL, "max_retries": 2, **settings}
        text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())
        self.put("sitegen.toml", f"[llm]\n{text}")
        with serving(script or add) as api:
            self._address = ("--base-url", api.url)
            yield api

    def run(self, *arguments: str) -> Done:
        """Run the command line in this process. The key of the API is in nothing that it says or writes."""
        try:
            address = self._address if arguments[0] in ("respond", "judge") else ()
            code = app([*arguments, *address, "--repo", str(self.project)], standalone_mode=False) or 0
        except SitegenError as error:
            print(error, file=sys.stderr)
            code = error.exit_code
        said = self._capsys.readouterr()
        assert KEY not in said.out + said.err
        assert all(KEY.encode() not in each for each in content(self.project).values())
        return Done(code, said.out, said.err)

    def words(self, *arguments: str) -> list[str]:
        """What is typed to run the command line in a process of its own."""
        return [sys.executable, "-m", "sitegen", *arguments, *self._address, "--repo", str(self.project)]

    def put(self, path: str, text: str) -> None:
        """Write a file of the project."""
        put(self.project / path, text)

    def rows(self, name: str = "responses.json") -> list[dict[str, Any]]:
        """The responses in a file, without the seconds that their calls took."""
        text = (self.project / "evals" / "sums" / name).read_text()
        rows = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
        return [without_times(each) for each in rows]

    def write(self, rows: list[dict[str, Any]], name: str = "responses.json") -> None:
        """Write responses into a file."""
        self.put(f"evals/sums/{name}", json.dumps(rows))


@pytest.fixture
def commands(project: Path, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(project, capsys)


def add(message: str, before: int) -> Reply:
    """Answer a case rightly."""
    left, right = message.split("+")
    return Reply(text=str(int(left) + int(right)))


def row(number: int, **more: object) -> dict[str, Any]:
    """The right response to a case, as it is recorded."""
    said = {"case_id": f"c{number}", "prompt": DIGEST, "output": str(2 * number), "model": f"{MODEL}-20260101"}
    return {**said, "parameters": {"max_tokens": 4096}, **TOOK, **more}


def without_times(written: dict[str, Any]) -> dict[str, Any]:
    """A row without the seconds that its calls took, which are others each time."""
    if "judge_usage" in written:
        written["judge_usage"] = without_times(written["judge_usage"])
    return {name: value for name, value in written.items() if name != "latency"}


def failed(number: int, why: str) -> dict[str, Any]:
    """A case whose call failed, as it is recorded."""
    return {"case_id": f"c{number}", "prompt": DIGEST, "error": why}


def only_first(reply: Reply) -> Script:
    """Answer the second case with *reply* when it is first asked."""
    return lambda message, before: reply if message == "2+2" and not before else add(message, before)


def always(reply: Reply) -> Script:
    """Answer the second case with *reply* whenever it is asked."""
    return lambda message, before: reply if message == "2+2" else add(message, before)


def test_a_prompt_is_run_over_every_case_and_the_responses_are_a_file_of_the_project(commands):
    with commands.serving() as api:
        done = commands.run("respond", "sums")
    assert done == Done(0, "evals/sums/responses.json: 4 responses\n", "Asking some-model (4) ...\n")
    assert commands.rows() == [row(1), row(2), row(3), row(4)]
    assert (api.keys, sorted(api.messages)) == ({KEY}, ["1+1", "2+2", "3+3", "4+4"])


def test_a_request_says_what_the_configuration_says(commands):
    commands.put("prompts/sums.md", "Be exact.\n<!-- user -->\n{input}")
    with commands.serving(add, max_tokens=77, temperature=0.5) as api:
        commands.run("respond", "sums", "--limit", "1", "--model", "other-model")
    asked = {key: api.requests[0].get(key) for key in ("model", "max_tokens", "temperature", "system", "messages")}
    assert asked == {
        "model": "other-model",
        "max_tokens": 77,
        "temperature": 0.5,
        "system": "Be exact.",
        "messages": [{"role": "user", "content": "1+1"}],
    }


def test_a_loop_that_runs_already_as_in_a_notebook_does_not_matter(commands):
    async def cell() -> Any:
        return commands.run("respond", "sums")

    with commands.serving():
        done = run_loop(cell())
    assert done == Done(0, "evals/sums/responses.json: 4 responses\n", "Asking some-model (4) ...\n")
    assert commands.rows() == [row(1), row(2), row(3), row(4)]


def test_nothing_is_sent_that_was_not_configured(commands):
    commands.put("prompts/sums.md", "{input}")
    with commands.serving() as api:
        commands.run("respond", "sums", "--limit", "1")
    assert sorted(api.requests[0]) == ["max_tokens", "messages", "model"]


def test_a_second_run_asks_for_what_is_missing_and_again_for_everything(commands):
    with commands.serving() as api:
        assert commands.run("respond", "sums", "--limit", "3").code == 0
        assert commands.rows() == [row(1), row(2), row(3)]
        commands.run("respond", "sums")
        assert sorted(api.messages) == ["1+1", "2+2", "3+3", "4+4"]
        nothing = commands.run("respond", "sums")
        commands.run("respond", "sums", "--again")
    assert nothing == Done(0, "evals/sums/responses.json: nothing to do; --again repeats all responses\n", "")
    assert len(api.messages) == 8


def test_responses_to_another_prompt_are_kept_and_said(commands):
    with commands.serving():
        commands.run("respond", "sums", "--limit", "2")
        commands.put("prompts/sums.md", "Be careful.\n<!-- user -->\n{input}\n")
        done = commands.run("respond", "sums")
    assert done.err.startswith("sitegen: 2 of the responses in responses.json were made with another prompt; --again ")


def test_a_variant_has_a_prompt_and_a_file_of_its_own(commands, tmp_path):
    (tmp_path / "terse.md").write_text(PROMPT)
    with commands.serving():
        done = commands.run("respond", "sums", "--variant", "terse", "--prompt", str(tmp_path / "terse.md"))
    assert done.out == "evals/sums/responses-terse.jsonl: 4 responses\n"
    assert commands.rows("responses-terse.jsonl") == [row(1), row(2), row(3), row(4)]


def test_another_file_may_hold_the_configuration(commands, tmp_path):
    with commands.serving():
        (commands.project / "sitegen.toml").rename(tmp_path / "other.toml")
        done = commands.run("respond", "sums", "--config", str(tmp_path / "other.toml"))
    assert done.code == 0


@pytest.mark.parametrize("reply", [Reply(429, "slow down", headers=(("retry-after-ms", "20"),)), Reply(500, "oh")])
def test_what_may_pass_is_tried_again(commands, reply):
    with commands.serving(only_first(reply)) as api:
        assert commands.run("respond", "sums").code == 0
    assert commands.rows() == [row(1), row(2), row(3), row(4)]
    assert sorted(api.messages) == ["1+1", "2+2", "2+2", "3+3", "4+4"]


def test_the_server_says_how_long_to_wait(commands):
    asked: list[float] = []

    def script(message: str, before: int) -> Reply:
        asked.append(time.monotonic())
        return Reply(429, headers=(("retry-after", "1"),)) if not before else Reply(text="2")

    with commands.serving(script):
        commands.run("respond", "sums", "--limit", "1")
    assert asked[1] - asked[0] >= 1.0


@pytest.mark.parametrize(
    ("reply", "settings", "why"),
    [
        (Reply(500, "oh"), {"max_retries": 1}, "500 some_error: oh"),
        (Reply(400, "too long"), {}, "400 some_error: too long"),
        (Reply(400, f"bad {KEY}\nkey"), {}, "400 some_error: bad ... key"),
        (Reply(400, "x" * 400), {}, "400 some_error: " + "x" * 284 + " … (116 more characters)"),
        (Reply(500, raw=b"<html>"), {"max_retries": 0}, "500 <html>"),
        (Reply(text="4", stop_reason="max_tokens"), {"max_tokens": 9}, "the answer was cut off after max_tokens = 9"),
        (Reply(raw=b'{"content": "4"}'), {}, "the answer of the API is not a message"),
        (Reply(raw=b"[]"), {}, "the answer of the API is not a message"),
        (Reply(raw=b"null"), {}, "the answer of the API is not a message"),
        (
            Reply(raw=b'{"content": ['),
            {},
            "the answer of the API is no JSON: Expecting value: line 1 column 14 (char 13)",
        ),
    ],
)
def test_a_call_that_fails_is_recorded_and_the_others_go_on(commands, reply, settings, why):
    said = partial(row, parameters={"max_tokens": settings.get("max_tokens", 4096)})
    with commands.serving(always(reply), **settings) as api:
        done = commands.run("respond", "sums")
        assert commands.rows() == [said(1), failed(2, why), said(3), said(4)]
        assert done == Done(
            1,
            "evals/sums/responses.json: 3 responses, 1 failed: the same command asks for them again\n",
            f"Asking some-model (4) ...\nsitegen: case c2: {why}\n",
        )
        api.script = add
        assert commands.run("respond", "sums").code == 0
    assert commands.rows() == [said(1), said(2), said(3), said(4)]
    assert api.messages[-1] == "2+2"


def test_a_call_without_an_answer_in_time_is_recorded_and_the_others_go_on(commands, monkeypatch):
    """The client raises its error at once, so that the test depends on no clock."""
    import anthropic

    post = anthropic.AsyncAnthropic.post

    async def post_or_time_out(client: anthropic.AsyncAnthropic, path: str, **call: Any) -> Any:
        if client.timeout == 90 and call["body"]["messages"][0]["content"] == "2+2":
            raise anthropic.APITimeoutError(request=None)  # type: ignore[arg-type]
        return await post(client, path, **call)

    monkeypatch.setattr(anthropic.AsyncAnthropic, "post", post_or_time_out)
    with commands.serving(add, max_retries=0, timeout=90):
        assert commands.run("respond", "sums").code == 1
    assert commands.rows() == [row(1), failed(2, "no answer within 90 s"), row(3), row(4)]


def test_an_empty_answer_is_an_answer(commands):
    with commands.serving(always(Reply(text=""))):
        assert commands.run("respond", "sums").code == 0
        assert commands.run("respond", "sums").out.endswith("nothing to do; --again repeats all responses\n")
    assert commands.rows()[1] == row(2, output="")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_where_no_call_can_succeed_the_first_one_ends_the_run(commands, status):
    with commands.serving(lambda message, before: Reply(status, f"no {KEY}"), concurrency=1) as api:
        done = commands.run("respond", "sums")
    assert (done.code, len(api.messages)) == (2, 1)
    assert f"The API refuses every call: {status} some_error: no ....\n  at: {api.url}\n" in done.err
    assert not (commands.project / "evals" / "sums" / "responses.json").exists()


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_are_under_way_at_once_than_configured(commands, concurrency):
    together = threading.Barrier(concurrency)

    def script(message: str, before: int) -> Reply:
        if len(api.requests) <= concurrency:
            together.wait(120)
            time.sleep(0.1)  # a call too many would come now; none that is allowed is waited for
        return add(message, before)

    with commands.serving(script, concurrency=concurrency) as api:
        commands.run("respond", "sums")
    assert api.most_at_once == concurrency


def test_debug_tells_of_each_call(commands):
    with commands.serving(only_first(Reply(500, "oh")), concurrency=1):
        lines = commands.run("respond", "sums", "--debug").err.splitlines()
    found = [line.rpartition(",")[0] for line in lines[1:]]
    assert found == ["c1: 200, retries 0", "c2: 200, retries 1", "c3: 200, retries 0", "c4: 200, retries 0"]


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_loses_nothing_and_the_next_goes_on_from_there(commands, blow):
    ended = threading.Event()

    def script(message: str, before: int) -> Reply:
        if message not in ("1+1", "3+3"):
            ended.wait(120)
        return add(message, before)

    folder = commands.project / "evals" / "sums"
    with commands.serving(script) as api:
        command = commands.words("respond", "sums")
        # Who runs tests in the background of a shell ignores SIGINT, and so would every process below.
        heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=heeds)
        begun = partial_of(folder / "responses.json")
        deadline = time.monotonic() + 120
        while not begun.exists() or begun.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(blow)
        process.wait()
        ended.set()
        assert not (folder / "responses.json").exists()
        api.script = add
        done = commands.run("respond", "sums")
    assert done == Done(0, "evals/sums/responses.json: 2 responses\n", "Asking some-model (2) ...\n")
    assert commands.rows() == [row(1), row(2), row(3), row(4)]
    assert sorted(path.name for path in folder.iterdir()) == ["responses.json", "test_cases.json"]


def test_grades_are_recorded_and_what_is_no_grade_is_counted(commands):
    said = {"c1": "4", "c2": " 5\n", "c3": "4/5", "c4": "six"}
    commands.write([row(number, embedding=[0.1]) for number in range(1, 5)])

    def script(message: str, before: int) -> Reply:
        return Reply(text=next(said[f"c{number}"] for number in range(1, 5) if f"{number}+{number}" in message))

    with commands.serving(script):
        done = commands.run("judge", "sums")
    assert done == Done(
        0, "evals/sums/responses.json: 2 grades, 2 malformed\n", "Grading responses.json by some-judge (4) ...\n"
    )
    by = {"embedding": [0.1], **JUDGED}
    assert commands.rows() == [
        row(1, **by, quality=4),
        row(2, **by, quality=5),
        row(3, **by, judge_answer="4/5"),
        row(4, **by, judge_answer="six"),
    ]


def test_a_judge_is_asked_again_for_what_has_no_grade_and_never_for_failed_calls(commands):
    commands.write(
        [row(1, quality=3), row(2, quality="3"), row(3, judge_error="oh", judge_answer=""), failed(4, "500")]
    )
    with commands.serving(lambda message, before: Reply(text="1")) as api:
        commands.run("judge", "sums")
        judged = {**JUDGED, "quality": 1}
        assert commands.rows() == [row(1, quality=3), row(2, **judged), row(3, **judged), failed(4, "500")]
        assert len(api.messages) == 2
        commands.run("judge", "sums", "--again")
    assert commands.rows() == [row(1, **judged), row(2, **judged), row(3, **judged), failed(4, "500")]


def test_several_responses_to_a_case_are_graded_each(commands):
    commands.write([row(1, output="2"), row(1, output="two", quality=3), row(1, output="3")])
    grades = {"2": "5", "3": "1"}
    with commands.serving(lambda message, before: Reply(text=grades[message.split("<answer>")[1].split()[0]])) as api:
        commands.run("judge", "sums")
        judge = JUDGED
        graded = [row(1, quality=5, **judge), row(1, output="two", quality=3), row(1, output="3", quality=1, **judge)]
        assert commands.rows() == graded
        api.script = add
        assert commands.run("respond", "sums").out == "evals/sums/responses.json: 3 responses\n"
    assert commands.rows() == [*graded, row(2), row(3), row(4)]


def test_what_a_call_took_is_recorded_and_its_cost_where_prices_are_stated(commands):
    with commands.serving() as api:
        commands.run("respond", "sums", "--limit", "1")
        with (commands.project / "sitegen.toml").open("a") as file:
            for model in (MODEL, JUDGE_MODEL):
                file.write(f"[llm.prices.{model}]\ninput = 3.0\noutput = 15\n")
        commands.run("respond", "sums")
        api.script = lambda message, before: Reply(text="4")
        commands.run("judge", "sums")
    rows = json.loads((commands.project / "evals" / "sums" / "responses.json").read_text())
    assert [each.get("cost") for each in rows] == [None, 0.000018, 0.000018, 0.000018]
    assert [each["judge_usage"]["cost"] for each in rows] == [0.000018] * 4
    times = [part["latency"] for each in rows for part in (each, each["judge_usage"])]
    assert all(0 <= seconds < 60 for seconds in times)


def test_grades_that_are_none_are_counted_by_the_scorer(commands):
    commands.write([row(1), row(2)])
    with commands.serving(lambda message, before: Reply(text="4" if "1+1" in message else "")):
        commands.run("judge", "sums")
    done = commands.run("verify-one", "sums", "--json")
    quality = json.loads(done.out)["results"]["quality"]
    assert (quality["average_quality"], quality["graded"], quality["dropped"]) == (4.0, 1, 1)


def test_a_call_of_the_judge_that_fails_leaves_the_response(commands):
    commands.write([row(1), row(2)])
    with commands.serving(lambda message, before: Reply(400, "no") if "1+1" in message else Reply(text="")):
        done = commands.run("judge", "sums")
    assert done.code == 1
    assert commands.rows() == [row(1, judge_error="400 some_error: no"), row(2, **JUDGED, judge_answer="")]


def test_every_variant_is_graded_or_the_one_that_is_named(commands):
    commands.write([row(1)])
    commands.write([row(1)], "responses-terse.json")
    with commands.serving(lambda message, before: Reply(text="2")):
        assert commands.run("judge", "sums", "--variant", "terse").out == "evals/sums/responses-terse.json: 1 grades\n"
        assert commands.run("judge", "sums").out == (
            "evals/sums/responses.json: 1 grades\n"
            "evals/sums/responses-terse.json: nothing to do; --again repeats all grades\n"
        )


def test_without_responses_in_the_folder_those_of_the_newest_iteration_are_graded(commands):
    assert commands.run("judge", "sums").err.startswith("The eval 'sums' has no responses to grade.")
    for name in ("iteration-001/responses-kind", "iteration-002/responses-kind", "iteration-002/responses-terse"):
        commands.write([row(1)], f"results/{name}.json")
    newest = "evals/sums/results/iteration-002"
    with commands.serving(lambda message, before: Reply(text="2")):
        assert commands.run("judge", "sums", "--variant", "terse").out == f"{newest}/responses-terse.json: 1 grades\n"
        assert commands.run("judge", "sums").out == (
            f"{newest}/responses-kind.json: 1 grades\n"
            f"{newest}/responses-terse.json: nothing to do; --again repeats all grades\n"
        )
        commands.write([row(1)])
        assert commands.run("judge", "sums").out == "evals/sums/responses.json: 1 grades\n"


def test_a_project_may_have_prompts_of_its_own(commands):
    settings = "{prompt: ask/me.md, judge_prompt: ask/judge.md}"
    commands.put("evals/manifest.yaml", f"evals: {{sums: {{settings: {settings}}}}}\n")
    commands.put("ask/me.md", "{input}")
    commands.put("ask/judge.md", "{input}={output}, {expected}?")
    with commands.serving(lambda message, before: Reply(text="2" if "=" not in message else "5")) as api:
        commands.run("respond", "sums", "--limit", "1")
        commands.run("judge", "sums")
    assert api.messages == ["1+1", "1+1=2, 2?"]
    assert commands.rows()[0]["quality"] == 5


@in_table
def test_a_project_cannot_name_files_outside_of_it(commands, tmp_path, entry, why):
    (tmp_path / "secret.md").write_text("{input}")
    commands.put("evals/manifest.yaml", f"evals: {{sums: {{{entry}}}}}\n")
    done = commands.run("respond", "sums")
    assert (done.code, done.err.splitlines()[0]) == (2, why)


@pytest.mark.parametrize("link", ["prompts/sums.md", "evals/sums/test_cases.json"])
def test_a_link_of_the_project_to_a_file_outside_is_not_sent(commands, tmp_path, link):
    (tmp_path / "secret").write_text('[{"id": "a", "input": "{input}"}]')
    (commands.project / link).unlink()
    (commands.project / link).symlink_to(tmp_path / "secret")
    with commands.serving() as api:
        done = commands.run("respond", "sums")
    assert (done.code, done.err.splitlines()[0]) == (2, "The project names a file outside itself.")
    assert api.requests == []


@pytest.mark.parametrize("arguments", [(), ("--config", "own.toml")])
@pytest.mark.parametrize("command", ["respond", "judge"])
def test_no_file_chooses_the_api_that_gets_the_key(commands, monkeypatch, command, arguments):
    monkeypatch.chdir(commands.project)
    with serving(add) as api:
        for name in ("sitegen.toml", "own.toml"):
            commands.put(name, f'[llm]\nmodel = "m"\nbase_url = "{api.url}"\n')
        done = commands.run(command, "sums", *arguments)
    assert (done.code, api.requests) == (2, [])
    assert done.err.startswith("A file cannot set llm.base_url: your API key is sent there.\n  at: ")
    assert "--base-url or the environment variable ANTHROPIC_BASE_URL" in done.err


def test_the_environment_of_the_client_chooses_the_api(commands, monkeypatch):
    with serving(add) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        assert commands.run("respond", "sums").code == 0
    assert len(api.requests) == 4


def test_without_a_key_nothing_is_asked(commands, monkeypatch):
    monkeypatch.setenv(KEY_NAME, " ")
    done = commands.run("respond", "sums")
    assert (done.code, done.err) == (
        2,
        "Asking claude-sonnet-5-5 (4) ...\nThe environment variable ANTHROPIC_API_KEY is not set.\n"
        "  do: Set it to your API key.\n",
    )


def test_without_the_package_the_extra_is_named(commands, monkeypatch):
    monkeypatch.setitem(sys.modules, "anthropic", None)
    assert commands.run("respond", "sums").err.endswith("  do: In a clone of sitegen: pip install '.[llm]'\n")


def test_an_api_that_is_not_there_fails_each_call(commands):
    with commands.serving(max_retries=0):
        pass
    done = commands.run("respond", "sums")
    assert done.code == 1
    assert [each["error"] for each in commands.rows()] == ["Connection error. All connection attempts failed"] * 4


def test_on_a_terminal_a_bar_is_drawn(commands):
    with commands.serving():
        printed, drawn = on_a_terminal(commands.words("respond", "sums"))
    assert printed == "evals/sums/responses.json: 4 responses\n"
    assert "Asking some-model  [####################################]  100%" in drawn
