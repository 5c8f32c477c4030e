"""Edits that spoil valid input in a few places, for an engine that does not see which code is reached."""

from __future__ import annotations

from collections.abc import Sequence

# What is done, at which part of the length in 1/1000, with how many bytes or which word.
Edit = tuple[int, int, int]
KINDS = 7


def spoilt(seed: bytes, edits: Sequence[Edit], words: Sequence[bytes], other: bytes) -> bytes:
    """The seed with all edits made, one after the other. Of `other` parts are taken."""
    data = seed
    for kind, place, number in edits:
        at = len(data) * place // 1000
        before, behind, word = data[:at], data[at:], words[number % len(words)]
        part = other[number % max(1, len(other)) :][: 1 + number % 40]
        match kind % KINDS:
            case 0:
                data = before + behind[1 + number % 8 :]
            case 1:
                data = before + word + behind
            case 2:
                data = before + word + behind[len(word) :]
            case 3:
                data = before + bytes([number % 256]) + behind[1:]
            case 4:
                data = before + behind[: 1 + number % 40] + behind
            case 5:
                data = before + part + behind
            case _:
                data = before + behind[number % 400 :]
    return data
