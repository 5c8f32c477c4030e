"""The traces of PTX in a program. A program without any is not parsed, so that checking a tree of sources costs as
little as searching it for a word."""

from __future__ import annotations

import re

# Inline assembly is named so; a string that is PTX by itself names a version, or has a type behind an opcode.
_WORD = "asm"
# The types that a spelling may end in.
TYPE = r"(?:[bsuf]\d++|bf16|tf32|u?e\dm\d(?:p\d)?|s\df\d|pred)(?:x\d++)?"
_NAME = re.compile(rf"\.(?:{TYPE}(?!\w)|version\b)")


def has(text: str) -> bool:
    return _WORD in text or _NAME.search(text) is not None


def offsets(text: str) -> list[int]:
    """Return the offsets of the traces in a text, in their order."""
    found = [m.start() for m in _NAME.finditer(text)]
    at = text.find(_WORD)
    if at < 0:
        return found
    while at >= 0:
        found.append(at)
        at = text.find(_WORD, at + 1)
    return sorted(found)
