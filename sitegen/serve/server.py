"""The local server of the watched site, for browsers on this machine alone.

Starlette finds the files and stays inside their folders, and uvicorn speaks HTTP. This module adds the two layers of
folders, the headers, and the script with which a page follows the site, which is never written to disk.
"""

import hashlib
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sitegen.engine.template_files import find_templates
from sitegen.serve.watch import Board

ADDRESS: Final = "127.0.0.1"
_PORT: Final = 8000  # or any free one if it is taken
_HOSTS: Final = (ADDRESS, "localhost", "[::1]")
"""Host names that a browser may use. Any other name that resolves to this machine is refused."""

HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",  # keeps other sites from embedding a file, for example as a script
}
"""Headers of every response."""

_OWN: Final = (
    b'<link rel="stylesheet" href="/.sitegen/watch.css">'
    b'<script src="/.sitegen/watch.js" data-tag="%s" defer></script></head>'
)
_NOT_YET: Final = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'">
<title>Not built yet</title></head><body><main><h1>Not built yet</h1></main></body></html>
"""


def application(board: Board) -> Starlette:
    """Return the ASGI application that serves the site on the board."""
    sources = find_templates() / "serve"

    async def own(request: Request) -> Response:
        return FileResponse(sources / request.url.path.rpartition("/")[2])

    async def messages() -> AsyncIterator[str]:
        """Yield the error as a JSON string, one at once and one after each build."""
        async for error in board.errors():
            yield f"data: {json.dumps(error)}\n\n"

    async def events(request: Request) -> Response:
        return StreamingResponse(messages(), media_type="text/event-stream")

    return Starlette(
        routes=[
            Route("/.sitegen/watch.js", own),
            Route("/.sitegen/watch.css", own),
            Route("/.sitegen/events", events),
            Mount("/", LayeredFiles(board)),
        ],
        middleware=[
            Middleware(_with_headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False),
        ],
    )


class Server(uvicorn.Server):
    """uvicorn, stopping on Ctrl-C without waiting for clients that wait for the next build."""

    def __init__(self, board: Board) -> None:
        self._board = board
        config = uvicorn.Config(
            application(board),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the event streams, then the server."""
        self._board.close()
        await super().shutdown(sockets)


def listen(port: int | None) -> socket.socket:
    """Return a socket on the loopback address at this port, or at a free port if it is taken."""
    for number in (_PORT if port is None else port, 0):
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((ADDRESS, number))
            bound.listen()  # requests before the server has started will wait
        except OSError as error:
            bound.close()
            failure = error
        else:
            return bound
    raise failure


class LayeredFiles(StaticFiles):
    """The files of the site, looked up in one layer after the other."""

    def __init__(self, board: Board) -> None:
        super().__init__(html=True)
        self._board = board

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file, with the following script added if it is a page."""
        self.all_directories = [*self._board.layers.folders]
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or self.all_directories:
                raise
            return _page_response(_NOT_YET, 503, b"")
        if isinstance(response, FileResponse) and str(response.path).endswith(".html"):
            # The style sheet and the scripts decide how every page looks.
            statuses = (self.lookup_path(f"assets/{name}")[1] for name in ("app.css", "app.js", "theme.js"))
            looks = b"".join(b"%d " % (status.st_mtime_ns if status else 0) for status in statuses)
            return _page_response(Path(response.path).read_bytes(), response.status_code, looks)
        return response

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the place of a file; nowhere for files that the site no longer has, and for hidden files."""
        if path in self._board.layers.gone or any(name.startswith(".") for name in Path(path).parts):
            return "", None
        return super().lookup_path(path)


def _page_response(content: bytes, status: int, looks: bytes) -> Response:
    """Return a page with the script that follows the site. Its ETag changes only if the page looks different."""
    tag = hashlib.sha256(looks + content).hexdigest()[:16]
    html = content.replace(b"</head>", _OWN % tag.encode(), 1)
    return HTMLResponse(html, status, {"ETag": f'"{tag}"'})


def _with_headers(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await app(scope, receive, send_with)

    return answer
