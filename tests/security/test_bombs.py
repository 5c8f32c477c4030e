"""Small files that stand for very much: numbers without end in every field, and schemas that lead on and on."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Callable

import pytest
from helpers.hostile import Stranger
from helpers.network import AskedError
from helpers.project import Project

NUMBERS = [
    "9" * 4_000,
    "1e999999999",
    "-1e-999999999",
    "0x1p999999999",
    "0x" + "f" * 5_000,
    "2^999999999",
    "9999999999",
    "2^-99999999999999999999",
    "[-2^999999999, 2^999999999]",
    "2^-999999999 <= |a| <= 2^999999999",
    "63..0 63..0",
]
SCHEMAS = {
    "that is no JSON": "{",
    "of no kind": "{}",
    "that is nested without end": '{"a":' * 50_000,
    "that refers to itself": '{DRAFT, "$ref": "instruction.schema.json"}',
    "of another place": '{DRAFT, "$ref": "http://example.invalid/canary.json"}',
    "of another file": '{DRAFT, "$ref": "file:///etc/passwd"}',
    "that is no schema": '{DRAFT, "type": 5, "pattern": 7, "properties": []}',
    "with a pattern that is none": '{DRAFT, "properties": {"opcode": {"pattern": "("}}}',
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("shift", [0, 4, 8])
def test_a_number_without_end_is_told_or_taken_as_text(strange: Callable[..., Project], shift: int) -> None:
    stranger = Stranger(strange("neg", "ex2").root)
    stranger.keep(1)
    numbers = {field: NUMBERS[(i + shift) % len(NUMBERS)] for i, field in enumerate(stranger.fields)}
    _, said = stranger.put(lambda field: numbers[field])
    assert said and all(d.path.startswith("spec/") and len(str(d)) < 3_000 for d in said)


def test_a_test_that_asks_a_network_fails(network: list[str]) -> None:
    for ask in (
        lambda: urllib.request.urlopen("http://example.invalid/canary.json"),
        lambda: socket.create_connection(("example.invalid", 80)),
        lambda: socket.socket().connect(("127.0.0.1", 9)),
    ):
        with pytest.raises(AskedError):
            ask()
    assert len(network) == 3
    network.clear()


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.sampled(3)
def test_a_schema_of_a_stranger_is_used_or_refused(strange: Callable[..., Project], name: str) -> None:
    project = strange()
    schemas = project.root / "spec/schema"
    files = {p.name: p.read_bytes() for p in schemas.iterdir()}
    schemas.unlink()
    schemas.mkdir()
    for file, data in files.items():
        (schemas / file).write_bytes(data)
    (schemas / "instruction.schema.json").write_text(
        SCHEMAS[name].replace("DRAFT", '"$schema": "https://json-schema.org/draft/2020-12/schema"')
    )
    result = project.run("validate")
    assert result.code == 2 and "instruction.schema.json: not a" in result.err and result.err.count("\n") == 1
