"""A small server that speaks the Messages API, for tests of what calls a model."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

KEY = "sk-ant-of-no-account"


class Reply(NamedTuple):
    """What the server answers."""

    status: int = 200
    text: str = ""
    stop_reason: str = "end_turn"
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None
    """Instead of a message."""


Script = Callable[[str, int], Reply]
"""(message, how often it was asked before) -> answer. Each request calls it in a thread of its own, and waits."""


class Api:
    """The server, and what it was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.most_at_once = 0
        self._now = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def messages(self) -> list[str]:
        """The message of each request, as they came."""
        return [request["messages"][0]["content"] for request in self.requests]

    def answer(self, request: dict[str, Any], key: str) -> Reply:
        message = request["messages"][0]["content"]
        with self._lock:
            self.requests.append(request)
            self.keys.add(key)
            before = self._seen[message]
            self._seen[message] += 1
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            return self.script(message, before)
        finally:
            with self._lock:
                self._now -= 1


@contextmanager
def serving(script: Script) -> Iterator[Api]:
    """The server, running."""
    api = Api(script)
    thread = threading.Thread(target=api.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        api.server.shutdown()
        thread.join()
        api.server.server_close()


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            key = self.headers["x-api-key"] or self.headers["authorization"]
            reply = api.answer(request, key.removeprefix("Bearer "))
            body = reply.raw if reply.raw is not None else _body(reply, request["model"])
            try:
                self.send_response(reply.status)
                for name, value in (("content-type", "application/json"), *reply.headers):
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client waited long enough

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _body(reply: Reply, model: str) -> bytes:
    if reply.status >= 400:
        return json.dumps({"type": "error", "error": {"type": "some_error", "message": reply.text}}).encode()
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{model}-20260101",
        "content": [{"type": "thinking", "thinking": "...", "signature": ""}, {"type": "text", "text": reply.text}],
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return json.dumps(message).encode()
