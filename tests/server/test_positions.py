"""Places in a text, as editors count them in the units of an encoding."""

from __future__ import annotations

import random

import pytest
from ptxspec.server.positions import Lines, TextDocument

ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
SOME = ["a", ".", " ", "\n", "\r\n", "\r", "\u00e9", "\u20ac", "\N{GRINNING FACE}", "\f", "\u2028"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_offset_has_a_place(encoding: str) -> None:
    dice = random.Random(encoding)
    text = "".join(dice.choices(SOME, k=300))
    lines = Lines(text, encoding)
    line = begin = 0
    for offset in range(len(text)):
        if text[offset] != "\n" or offset == 0 or text[offset - 1] != "\r":
            units = len(text[begin:offset].encode(ENCODINGS[encoding])) // UNIT[encoding]
            assert lines.place(offset) == (line, units)
            assert lines.offset(line, units) == offset
        if text[offset] in "\r\n" and text[offset : offset + 2] != "\r\n":
            line, begin = line + 1, offset + 1


def test_places_that_are_none_are_the_nearest() -> None:
    lines = Lines("\N{GRINNING FACE}b\r\nc")
    assert lines.offset(0, 1) == 0 and lines.offset(0, 99) == 2
    assert lines.offset(1, 99) == lines.offset(99, 0) == len(lines.text)
    assert Lines("").offset(0, 0) == 0 and Lines("").place(0) == (0, 0)


def test_changes_are_those_of_an_editor() -> None:
    document = TextDocument("a\r\nb\N{GRINNING FACE}c\r\n").changed((1, 3), (2, 0), "\nd", 2)
    assert (document.source, document.version) == ("a\r\nb\N{GRINNING FACE}\nd", 2)
    assert document.text == "a\nb\N{GRINNING FACE}\nd"
    # Half a character, as some editors send it.
    assert TextDocument("\ud83dx").changed((0, 1), (0, 2), "y", 3).source == "\ud83dy"


def test_places_in_a_long_line_are_found() -> None:
    lines = Lines("\N{GRINNING FACE}" + "x" * 1_000_000)
    for offset in range(0, 1_000_000, 25):
        assert lines.offset(*lines.place(offset)) == offset and lines.end(offset) == 1_000_001
