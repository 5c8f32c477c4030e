"""manual: it opens the page of what is named, and serves the folder."""

from __future__ import annotations

import concurrent.futures
import contextlib
import http.client
import queue
import socket
import threading
import urllib.request
import webbrowser
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest
from helpers import ROOT
from ptxspec.__main__ import main

FOLDER = (ROOT / "generated/manual").as_uri()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was told to open."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not found.append(address))
    return found


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ([], "index.html"),
        (["fma"], "fma.html"),
        (["availability"], "availability.html"),
        (["fma.ftz.rn.f32"], "fma.html#fma.rn.ftz.f32"),
        (["max.f32", "--operands", "3"], "max.html#max.f32-3"),
        (["cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32"], "cvt.html#cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32"),
    ],
)
def test_it_opens_where_the_name_stands(
    capsys: pytest.CaptureFixture[str], opened: list[str], given: list[str], place: str
) -> None:
    assert main(["manual", *given, "--root", str(ROOT)]) == 0
    assert opened == [f"{FOLDER}/{place}"]
    assert capsys.readouterr() == (f"{FOLDER}/{place}\n", "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["fmma"], "unknown page 'fmma'; did you mean 'fma'?"),
        (["max.NaN.f64"], "max.f64 has no .NaN; it has no modifiers"),
        (["--port", "8000"], "--port requires --serve"),
        (["fma", "--text"], "--text prints all pages; use `ptxspec show` for an opcode or a variant"),
        (["--serve", "--port", "70000"], "a port is a number from 0 to 65535"),
    ],
)
def test_what_is_not_there_is_said(
    capsys: pytest.CaptureFixture[str], opened: list[str], given: list[str], message: str
) -> None:
    assert main(["manual", *given, "--root", str(ROOT)]) == 2
    assert message in capsys.readouterr().err and not opened


def test_without_a_browser_the_address_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert main(["manual", "--root", str(ROOT)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{FOLDER}/index.html\n" and "no browser was found" in err


def test_the_text_of_all_pages_begins_with_the_index_and_names_each(
    capsys: pytest.CaptureFixture[str], opened: list[str]
) -> None:
    assert main(["manual", "--text", "--root", str(ROOT)]) == 0
    text = capsys.readouterr().out
    pages = {p.name: p.read_text("utf-8") for p in (ROOT / "generated/manual").glob("*.md")}
    assert text.startswith("<!-- index.md -->\n") and not opened
    assert all(f"<!-- {name} -->\n\n{page}\n" in text for name, page in pages.items())


def test_it_is_served_to_this_machine_until_somebody_interrupts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[bytes] = []

    def browse(address: str) -> bool:
        def fetch() -> None:
            with urllib.request.urlopen(address, timeout=30) as answer:
                fetched.append(answer.read())
            running.shutdown()

        threading.Thread(target=fetch).start()
        assert address.startswith("http://127.0.0.1:")
        return True

    serve = ThreadingHTTPServer.serve_forever

    def serve_forever(server: ThreadingHTTPServer) -> None:
        nonlocal running
        running = server
        serve(server)
        raise KeyboardInterrupt

    running: ThreadingHTTPServer
    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", serve_forever)
    assert main(["manual", "fma", "--serve", "--port", "0", "--root", str(ROOT)]) == 0
    assert fetched == [(ROOT / "generated/manual/fma.html").read_bytes()]
    assert "fma.html" in capsys.readouterr().out


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a manual that is served meanwhile."""
    ports: queue.Queue[int] = queue.Queue()
    servers: list[ThreadingHTTPServer] = []
    serve = ThreadingHTTPServer.serve_forever

    def serve_forever(server: ThreadingHTTPServer) -> None:
        servers.append(server)
        serve(server)

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", serve_forever)
    monkeypatch.setattr(webbrowser, "open", lambda address: not ports.put(int(address.split(":")[2].split("/")[0])))
    thread = threading.Thread(target=main, args=(["manual", "--serve", "--port", "0", "--root", str(ROOT)],))
    thread.start()
    yield ports.get(timeout=30)
    servers[0].shutdown()
    thread.join()


def asked(port: int, path: str, host: str | None = None) -> int:
    """The status of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/%00", 404), ("/a%00b.html", 404), ("/%ed%a0%80", 404), ("/nothing", 404), ("/../../README.md", 404),
        (f"/{'a' * 5000}", 404), ("/fma.html?%00", 200),
    ],
)  # fmt: skip
def test_a_strange_path_is_no_page(served: int, path: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert asked(served, path) == status
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:{port}", 200), ("127.0.0.1", 200), ("localhost", 200), ("evil.example", 421),
        ("evil.example:{port}", 421), ("127.0.0.1.evil.example", 421), (" ", 421),
    ],
)  # fmt: skip
def test_another_sites_name_gets_nothing(served: int, host: str, status: int) -> None:
    assert asked(served, "/fma.html", host.format(port=served)) == status


@pytest.mark.exhaustive
def test_many_ask_at_once_and_slow_ones_hold_up_nobody(served: int, capfd: pytest.CaptureFixture[str]) -> None:
    # They say nothing, and some of them leave.
    idle = [socket.create_connection(("127.0.0.1", served)) for _ in range(20)]
    for connection in idle[::2]:
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert set(pool.map(lambda _: asked(served, "/index.html"), range(400))) == {200}
    for connection in idle[1::2]:
        connection.close()
    assert "Traceback" not in capfd.readouterr().err


@contextlib.contextmanager
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str], opened: list[str]) -> None:
    with taken() as port:
        assert main(["manual", "--serve", "--port", str(port), "--root", str(ROOT)]) == 2
    err = capsys.readouterr().err
    assert f"cannot serve on port {port}" in err and "choose another with --port N" in err and not opened
