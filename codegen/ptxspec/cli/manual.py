"""manual: the manual in a browser."""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
import webbrowser
from http import HTTPStatus
from pathlib import Path
from typing import Any

from .. import roots
from ..diagnostics import PtxspecError, unknown
from ..query.database import Database
from ..query.show import section
from ..query.verdicts import variant
from . import OK

PORT = 8000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="OPCODE|VARIANT|PAGE", help="where to open it; else at its index")
    parser.add_argument("--operands", type=int, metavar="N", help="the variant with this many source operands")
    parser.add_argument("--serve", action="store_true", help="serve it over HTTP, to this machine alone, until Ctrl-C")
    parser.add_argument("--port", type=int, metavar="N", help=f"the port to serve it on; {PORT} unless told")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = roots.find(options.root)
    folder = root.generated / "manual"
    place = _place(Database.read(root.data), folder, options.name, options.operands)
    if options.port is not None and not options.serve:
        raise PtxspecError("--port says where to serve it: add --serve")
    if options.serve:
        return _serve(folder, place, PORT if options.port is None else options.port)
    _open(folder.joinpath("index.html").as_uri().removesuffix("index.html") + place)
    return OK


def _place(db: Database, folder: Path, name: str | None, operands: int | None) -> str:
    """The page and the anchor of a name. Raises PtxspecError where there is none."""
    pages = [path.stem for path in sorted(folder.glob("*.html"))]
    if not pages:
        raise PtxspecError(f"{folder}: holds no manual; run `ptxspec generate`")
    if name is None or name in pages:
        return f"{name or 'index'}.html"
    if "." not in name:
        raise PtxspecError(unknown("page", name, pages))
    return section(variant(db, name, operands), operands)


def _open(address: str) -> None:
    print(address, flush=True)
    if not webbrowser.open(address):
        print("ptxspec: no browser is known here; the address above opens in any", file=sys.stderr)


def _serve(folder: Path, place: str, port: int) -> int:
    handler = functools.partial(_Pages, directory=str(folder))
    try:
        server = _Server(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as e:
        why = e.strerror if isinstance(e, OSError) else "a port is a number from 0 to 65535"
        raise PtxspecError(f"port {port} cannot be served: {why}; --port N names another, 0 any that is free") from None
    with server:
        _open(f"http://127.0.0.1:{server.server_port}/{place}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return OK


class _Server(http.server.ThreadingHTTPServer):
    """A server that answers so many requests at once; others wait in the queue."""

    request_queue_size = 512
    _places = threading.BoundedSemaphore(32)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._places.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Mostly a browser that left.
        print(f"{client_address[0]}: {sys.exc_info()[1]}", file=sys.stderr)


class _Pages(http.server.SimpleHTTPRequestHandler):
    """The files of the manual, as answers to requests. Only what could not be found is logged."""

    # Seconds: who sends nothing makes nobody wait.
    timeout = 10

    def send_head(self) -> Any:
        # Another site's name may lead here, so that its pages could read these.
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "This is a manual on its reader's own machine")
            return None
        try:
            return super().send_head()
        except ValueError:  # no name of a file
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        del code, size
