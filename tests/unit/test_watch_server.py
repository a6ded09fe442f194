"""The local server: this machine alone, the site's folders alone, reading alone."""

import asyncio
import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sitegen.serve.server import HEADERS, Server, listen
from sitegen.serve.watch import Board, Layers
from tests.rows import in_table

POLICY = "default-src 'none'; connect-src 'self'; script-src 'self'"
PAGE = (
    f'<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="{POLICY}"></head><body>%s</body>'
)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Running(NamedTuple):
    """A server with its board, in a thread of its own."""

    board: Board
    folder: Path
    """Holds ``upper`` and ``lower``."""
    port: int
    loop: asyncio.AbstractEventLoop

    def ask(self, path: str, method: str = "GET", host: str | None = "localhost", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {**({"Host": host} if host is not None else {}), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def do(self, change: object, *arguments: object) -> None:
        self.loop.call_soon_threadsafe(change, *arguments)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for all tests that only ask."""
    with serving(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Running]:
    """For a test that changes what is served."""
    with serving(tmp_path) as found:
        yield found


@contextmanager
def serving(tmp_path: Path) -> Iterator[Running]:
    upper, lower = tmp_path / "upper", tmp_path / "lower"
    for folder, name in ((upper, "upper"), (lower, "lower")):
        (folder / "evals").mkdir(parents=True)
        (folder / "index.html").write_text(PAGE % name)
        (folder / ".sitegen.json").write_text("{}")
    (lower / "only.html").write_text(PAGE % "only below")
    (lower / "gone.html").write_text(PAGE % "gone")
    (lower / "404.html").write_text(PAGE % "not found")
    (lower / "evals" / "index.html").write_text(PAGE % "evals")
    (lower / "data.json").write_text("{}")
    (lower / "empty").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (lower / "link.txt").symlink_to(tmp_path / "secret.txt")
    (lower / "out").symlink_to(tmp_path)
    board = Board(Layers((upper, lower), frozenset({"gone.html"})))
    server = Server(board)
    with listen(0) as listening:
        loops: list[asyncio.AbstractEventLoop] = []

        async def serve() -> None:
            loops.append(asyncio.get_running_loop())
            await server.serve([listening])

        thread = threading.Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        listening_at = listening.getsockname()[1]
        while not server.started:
            thread.join(0.01)
        try:
            yield Running(board=board, folder=tmp_path, port=listening_at, loop=loops[0])
        finally:
            server.should_exit = True
            thread.join()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", b"upper"),
        ("/index.html", b"upper"),
        ("/only.html", b"only below"),
        ("/evals/", b"evals"),
        ("/index.html?a=1", b"upper"),
    ],
)
def test_a_page_is_of_the_first_layer_that_has_it(running, path, words):
    answer = running.ask(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"<body>%s</body>" % words in answer.body


def test_a_page_is_served_with_what_it_needs_to_follow_the_site_and_its_file_stays(running):
    tag = running.ask("/").headers["etag"].strip('"')
    wanted = (PAGE % "upper").replace(
        "</head>",
        '<link rel="stylesheet" href="/.sitegen/watch.css">'
        f'<script src="/.sitegen/watch.js" data-tag="{tag}" defer></script></head>',
    )
    assert running.ask("/").body.decode() == wanted
    assert (running.folder / "upper" / "index.html").read_text() == PAGE % "upper"


def test_what_is_no_page_is_served_as_it_is(running):
    assert running.ask("/data.json").body == b"{}"


@in_table
def test_nothing_but_the_files_of_the_site_is_there(running, path):
    answer = running.ask(path.replace("LONG", "x" * 5000))
    assert answer.status == 404
    assert b"secret" not in answer.body
    assert b"<body>gone" not in answer.body


def test_a_folder_is_not_listed(own):
    (own.folder / "lower" / "empty" / "file.txt").write_text("there")
    assert b"file.txt" not in own.ask("/empty/").body


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "127.0.0.1", "LOCALHOST:80", "[::1]:8000"])
def test_the_names_of_this_machine_are_answered(running, host):
    assert running.ask("/", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "www.localhost", ""],
)
@pytest.mark.parametrize("path", ["/", "/.sitegen/watch.js", "/.sitegen/events", "/nothing"])
def test_other_names_are_refused_wherever_they_point(running, host, path):
    answer = running.ask(path, host=host)
    assert (answer.status, answer.body) == (400, b"Invalid host header")


def test_a_request_without_a_name_is_refused(running):
    assert running.ask("/", host=None).status == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/data.json", "/.sitegen/events", "/.sitegen/watch.js"])
def test_nothing_can_be_sent(running, method, path):
    assert running.ask(path, method).status == 405


@pytest.mark.parametrize("path", ["/", "/data.json", "/nothing", "/.sitegen/watch.js"])
def test_head_is_get_without_the_body(running, path):
    whole, head = running.ask(path), running.ask(path, "HEAD")
    without_date = [{k: v for k, v in one.headers.items() if k != "date"} for one in (whole, head)]
    assert (head.status, head.body, without_date[1]) == (whole.status, b"", without_date[0])


@pytest.mark.parametrize("path", ["/", "/data.json", "/nothing", "/.sitegen/watch.js", "/.sitegen/watch.css"])
def test_every_answer_says_how_it_may_be_used(running, path):
    answer = running.ask(path)
    assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
    assert running.ask(path, host="evil.example").headers["cross-origin-resource-policy"] == "same-origin"


def test_a_page_has_another_tag_when_it_or_the_style_of_all_pages_changed(own):
    def tags() -> list[str]:
        return [own.ask(path, "HEAD").headers["etag"] for path in ("/", "/only.html", "/nothing")]

    first = tags()
    assert len(set(first)) == 3
    assert tags() == first
    (own.folder / "upper" / "index.html").write_text(PAGE % "other")
    second = tags()
    assert [one == other for one, other in zip(first, second, strict=True)] == [False, True, True]
    (own.folder / "upper" / "assets").mkdir()
    (own.folder / "upper" / "assets" / "app.css").write_text("body {}")
    assert [one == other for one, other in zip(second, tags(), strict=True)] == [False, False, False]


def test_a_page_hears_of_every_build_until_the_end(own):
    connection = http.client.HTTPConnection("127.0.0.1", own.port, timeout=120)
    connection.request("GET", "/.sitegen/events")
    with closing(connection), connection.getresponse() as answer:
        _hears(own, answer)


def _hears(running: Running, answer: http.client.HTTPResponse) -> None:
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"

    def heard() -> bytes:
        return answer.readline() + answer.readline()

    assert heard() == b'data: ""\n\n'
    running.do(running.board.show, None, "Wrong.\n  at: <b>\n")
    assert heard() == b'data: "Wrong.\\n  at: <b>\\n"\n\n'
    running.do(running.board.show, Layers((running.folder / "lower",)))
    assert heard() == b'data: ""\n\n'
    assert b"lower" in running.ask("/").body
    running.do(running.board.close)
    assert answer.read() == b""


def test_before_the_first_good_build_every_address_waits_for_it(own):
    own.do(own.board.show, Layers())
    for path in ("/", "/evals/x/index.html"):
        answer = own.ask(path)
        assert answer.status == 503
        assert b"Not built yet" in answer.body
        assert b"/.sitegen/watch.js" in answer.body


def test_who_asks_while_the_first_site_is_built_waits_for_it(tmp_path):
    with listen(0) as listening, socket.create_connection(listening.getsockname()) as asking:
        asking.sendall(b"GET /")
        asking.setblocking(False)
        with pytest.raises(BlockingIOError):
            asking.recv(1)


def test_a_port_that_is_taken_is_left_for_a_free_one():
    with listen(0) as one:
        port = one.getsockname()[1]
        with listen(port) as other:
            assert other.getsockname()[0] == "127.0.0.1"
            assert other.getsockname()[1] not in (0, port)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            wanted = free.getsockname()[1]
        with listen(wanted) as found:
            assert found.getsockname() == ("127.0.0.1", wanted)
