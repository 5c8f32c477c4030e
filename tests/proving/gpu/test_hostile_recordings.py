"""Recordings that lie about themselves: each is refused in one line, and nothing is made of what it claims."""

from __future__ import annotations

import base64
import json
import lzma
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.bench import Bench, edited
from ptxspec.proving.gpu import blobs
from ptxspec.semantics.exact.unit import unpack

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
Line = dict[str, Any]


@pytest.fixture
def forged(recorded: Path, tmp_path: Path) -> Path:
    shutil.copytree(recorded, tmp_path / "forged")
    return tmp_path / "forged"


def forge(folder: Path, change: Callable[[Line], Line | str | None], of: str = "stream") -> None:
    """Change the first line of results that has a key, and make the digest of the file fit."""
    lines = (folder / "results.jsonl").read_bytes().splitlines(True)
    at = next(i for i, line in enumerate(lines) if of in json.loads(line))
    line = json.loads(lines[at])
    changed = change(line)
    text = changed if isinstance(changed, str) else json.dumps(line if changed is None else changed)
    lines[at] = text.encode("utf-8", "surrogatepass") + b"\n"
    whole = b"".join(lines)
    (folder / "results.jsonl").write_bytes(whole)
    edited(folder, digest=blobs.digest(whole))


# What a line says for what it said. None: the key is gone.
LIES: dict[str, Line] = {
    "more results than there are": {"kept": 1 << 19, "count": 1 << 19},
    "a size beyond memory": {"kept": 1 << 62, "count": 1 << 62},
    "a size without end": {"kept": 10**400, "count": 10**400},
    "a negative size": {"kept": -1},
    "a size that is no whole number": {"count": 1.5, "kept": 1.5},
    "a size that is text": {"count": "1"},
    "a size that is true": {"count": True, "kept": True},
    "a size that is not a number": {"count": float("nan")},
    "a start behind the end": {"start": 1 << 70},
    "another place": {"start": 1},
    "a stream that is no text": {"stream": 5},
    "an unknown stream": {"stream": "../../etc/passwd"},
    "a shift that is none": {"stream": "every<<x"},
    "another variant": {"variant": "add.f64"},
    "a variant that is none": {"variant": ["add.f32"]},
    "digests that are none": {"digests": "!"},
    "digests of another number": {"digests": "AAAA"},
    "a blob that is not there": {"blob": "0" * 16},
    "a blob that is no name": {"blob": {}},
    "what was found is a list": {"found": []},
    "a count that is text": {"found": {"count": "x"}},
    "a case that is none": {"found": {"count": 1, "case": ["0x0"]}},
    "a case of huge numbers": {"found": {"count": 1, "case": ["0x" + "f" * 10_000, "1", "z"]}},
    "a missing key": {"kept": None},
}
BLOBS: dict[str, Line] = {
    "data that is none": {"data": "AAAA"},
    "data that ends early": {"data": base64.b64encode(b"\x01\x00\x10abc").decode()},
    "words of three bytes": {"differences": 3},
    "words of no bytes": {"differences": -1},
    "words that are huge": {"differences": 1 << 60},
    "words that are text": {"differences": "four"},
    "another name": {"blob": "0" * 16},
}
TEXTS = {
    "nested without end": "[" * 100_000,
    "objects without end": '{"a":' * 100_000,
    "a number without end": '{"variant": ' + "9" * 10_000 + "}",
    "an exponent without end": '{"variant": "add.f32", "operands": 1e999999999}',
    "no text": "\udc80",
    "a list": "[]",
    "an escape sequence": json.dumps({"variant": "\033[2J\u202e", "operands": 2, "stream": "grid"}, ensure_ascii=False),
}


def refused(bench: Bench, folder: Path) -> None:
    result = bench.run("--replay", folder)
    assert result.code == 2 and result.out == "" and result.err.count("\n") == 1, result
    assert result.err.startswith(f"ptxspec: {folder}") and result.err.rstrip("\n").isprintable()


@pytest.mark.parametrize("name", LIES)
@pytest.mark.sampled(3)
def test_a_part_that_lies_is_refused(bench: Bench, forged: Path, name: str) -> None:
    def change(line: Line) -> None:
        for key, value in LIES[name].items():
            if value is None:
                del line[key]
            else:
                line[key] = value

    forge(forged, change)
    refused(bench, forged)


@pytest.mark.parametrize("name", BLOBS)
@pytest.mark.sampled(1)
def test_results_that_lie_are_refused(bench: Bench, forged: Path, name: str) -> None:
    forge(forged, lambda line: line.update(BLOBS[name]), "data")
    refused(bench, forged)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("file", ["results.jsonl", "about.json"])
@pytest.mark.sampled(2)
def test_a_text_that_is_no_recording_is_refused(bench: Bench, forged: Path, file: str, name: str) -> None:
    if file == "about.json":
        (forged / file).write_bytes(TEXTS[name].encode("utf-8", "surrogateescape"))
    else:
        forge(forged, lambda _: TEXTS[name])
    refused(bench, forged)


@pytest.mark.exhaustive
@pytest.mark.parametrize("differences", [0, 4])
def test_few_bytes_do_not_become_very_many(
    bench: Bench, forged: Path, monkeypatch: pytest.MonkeyPatch, differences: int
) -> None:
    """As many bytes are asked for as the results have that were there before."""
    bomb = lzma.compress(bytes(1 << 20), lzma.FORMAT_RAW, filters=_FILTERS)
    wanted: list[int] = []
    asked: list[int] = []
    unwatched = blobs.decompressed

    def change(line: Line) -> None:
        wanted.append(len(lzma.decompress(base64.b64decode(line["data"]), lzma.FORMAT_RAW, filters=_FILTERS)))
        line.update(data=base64.b64encode(bomb).decode(), differences=differences)

    def decompressed(data: bytes, most: int, format: int, **settings: Any) -> bytes:
        if data == bomb:
            asked.append(most)
        return unwatched(data, most, format, **settings)

    monkeypatch.setattr(blobs, "decompressed", decompressed)
    forge(forged, change, "data")
    refused(bench, forged)
    assert asked == wanted


def test_no_more_is_unpacked_than_is_wanted() -> None:
    """Of tables of differences, and of recordings."""
    bomb = base64.b85encode(zlib.compress(bytes(1 << 20), 9)).decode()
    assert len(unpack(bomb, 1000)) == 1001 and len(unpack(bomb, 1 << 20)) == 1 << 20
    with pytest.raises(ValueError, match="its end is missing"):
        unpack(base64.b85encode(zlib.compress(bytes(1 << 20), 9)[:-9]).decode(), 1 << 21)
    data = lzma.compress(bytes(1 << 20), lzma.FORMAT_RAW, filters=_FILTERS)
    whole = blobs.decompressed(data, 1 << 20, lzma.FORMAT_RAW, filters=_FILTERS)
    assert len(blobs.decompressed(data, 1000, lzma.FORMAT_RAW, filters=_FILTERS)) == 1001 and len(whole) == 1 << 20


@pytest.mark.parametrize("what", ["gpu", "driver", "compiler", "date"])
@pytest.mark.sampled(1)
def test_who_made_it_is_nothing_that_a_terminal_obeys(bench: Bench, forged: Path, what: str) -> None:
    edited(forged, **{what: "\033[2JH100\u202e\n::error::canary"})
    refused(bench, forged)
