"""manual: it opens the page of what is named, and serves the folder."""

from __future__ import annotations

import contextlib
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
        (["fna"], "unknown page 'fna'; did you mean 'fma'?"),
        (["max.NaN.f64"], "max.f64 has no .NaN; it has no modifiers"),
        (["--port", "8000"], "--port says where to serve it: add --serve"),
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
    assert out == f"{FOLDER}/index.html\n" and "no browser is known here" in err


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


@contextlib.contextmanager
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str], opened: list[str]) -> None:
    with taken() as port:
        assert main(["manual", "--serve", "--port", str(port), "--root", str(ROOT)]) == 2
    err = capsys.readouterr().err
    assert f"port {port} cannot be served" in err and "--port N names another" in err and not opened
