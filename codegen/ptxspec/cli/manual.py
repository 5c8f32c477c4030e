"""manual: open the manual in a browser, serve it, or print it."""

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
    parser.add_argument("name", nargs="?", metavar="OPCODE|VARIANT|PAGE", help="the page to open; the index by default")
    parser.add_argument("--operands", type=int, metavar="N", help="open the variant with this many source operands")
    parser.add_argument("--serve", action="store_true", help="serve it over HTTP, to this machine only, until Ctrl-C")
    parser.add_argument("--port", type=int, metavar="N", help=f"the port to serve it on; {PORT} by default")
    parser.add_argument("--text", action="store_true", help="print all pages as Markdown, for language models")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = roots.find(options.root)
    folder = root.generated / "manual"
    place = _place(Database.read(root.data), folder, options.name, options.operands)
    if options.port is not None and not options.serve:
        raise PtxspecError("--port requires --serve")
    if options.text:
        if options.name or options.serve or options.operands is not None:
            raise PtxspecError("--text prints all pages; use `ptxspec show` for an opcode or a variant")
        return _print(folder)
    if options.serve:
        return _serve(folder, place, PORT if options.port is None else options.port)
    _open(folder.joinpath("index.html").as_uri().removesuffix("index.html") + place)
    return OK


def _place(db: Database, folder: Path, name: str | None, operands: int | None) -> str:
    """Return the page and the anchor of a name. Raises PtxspecError if there is none."""
    pages = [path.stem for path in sorted(folder.glob("*.html"))]
    if not pages:
        raise PtxspecError(f"{folder} contains no manual; run `ptxspec generate`")
    if name is None or name in pages:
        return f"{name or 'index'}.html"
    if "." not in name:
        raise PtxspecError(unknown("page", name, pages))
    return section(variant(db, name, operands), operands)


def _print(folder: Path) -> int:
    """Print the pages as Markdown, each after a comment with its file name, by which links refer to it."""
    for path in sorted(folder.glob("*.md"), key=lambda p: (p.stem != "index", p.name)):
        print(f"<!-- {path.name} -->\n\n{path.read_text('utf-8')}")
    return OK


def _open(address: str) -> None:
    print(address, flush=True)
    if not webbrowser.open(address):
        print("ptxspec: no browser was found; open the address above in one", file=sys.stderr)


def _serve(folder: Path, place: str, port: int) -> int:
    handler = functools.partial(_Pages, directory=str(folder))
    try:
        server = _Server(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as e:
        why = e.strerror if isinstance(e, OSError) else "a port is a number from 0 to 65535"
        raise PtxspecError(
            f"cannot serve on port {port}: {why}; choose another with --port N, or any free one with --port 0"
        ) from None
    with server:
        _open(f"http://127.0.0.1:{server.server_port}/{place}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return OK


class _Server(http.server.ThreadingHTTPServer):
    """A server that answers a limited number of requests at once; others wait in the queue."""

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
        # Usually a browser that closed the connection.
        print(f"{client_address[0]}: {sys.exc_info()[1]}", file=sys.stderr)


class _Pages(http.server.SimpleHTTPRequestHandler):
    """A request handler that serves the files of the manual. Only errors are logged."""

    # Seconds after which an idle connection is closed.
    timeout = 10

    def send_head(self) -> Any:
        # Another site's name may resolve to this machine, and its pages could then read these.
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "This manual is served to its own machine only")
            return None
        try:
            return super().send_head()
        except ValueError:  # not a file name
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        del code, size
