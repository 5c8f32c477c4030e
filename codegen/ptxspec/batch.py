"""Evaluate one variant with the emulator on many sets of operands, each in a line of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .diagnostics import PtxspecError
from .evaluate import emulator, find_variant, parse_operand, refuse_stale
from .literals import hexadecimal
from .model import BOOL, Type
from .roots import Root

# The number of lines computed at once.
_TOGETHER = 1 << 16
# The number of texts whose bits are kept: numbers recur, random bits do not.
_REMEMBERED = 1 << 16


class Batch:
    """A variant to run on lines of operands. Raises PtxspecError for a variant that does not exist."""

    def __init__(self, root: Root, spelling: str, operands: int | None, target: str | None) -> None:
        try:
            self._kernel = emulator(root).compile(spelling, operands, target)
        except LookupError as e:
            raise PtxspecError(str(e)) from None
        spec, v = find_variant(root, self._kernel.variant.spelling, self._kernel.operands)
        refuse_stale(root, spec)
        self.variant = v
        self._sources = [s.type for s in v.sources for _ in s.places]
        self._results = [r.type for r in v.results for _ in r.places]
        self._known: list[dict[str, int]] = [{} for _ in self._sources]

    def lines(self, lines: Iterable[str], name: str) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the operands and the results of each line that is not empty, as text: all digits of their bits, or true
        and false. Raises PtxspecError with the line's number in the file `name`."""
        numbered = ((i, words) for i, line in enumerate(lines, 1) if (words := line.split()))
        while part := list(islice(numbered, _TOGETHER)):
            operands = self._read(part, name)
            found = self._kernel(*operands, results=len(self.variant.results))
            results = found if isinstance(found, tuple) else (found,)
            given = [_texts(x, t) for x, t in zip(operands, self._sources, strict=True)]
            made = [_texts(x, t) for x, t in zip(results, self._results, strict=True)]
            for a, b in zip(zip(*given, strict=True), zip(*made, strict=True), strict=True):
                yield list(a), list(b)

    def _read(self, part: list[tuple[int, list[str]]], name: str) -> list[NDArray[Any]]:
        count = len(self._sources)
        for i, words in part:
            if len(words) != count:
                raise PtxspecError(
                    f"{name}:{i}: error: {self.variant.spelling} takes {count} operands, not {len(words)}"
                )
        found = []
        texts_of = zip(*(words for _, words in part), strict=True)
        for k, (texts, t) in enumerate(zip(texts_of, self._sources, strict=True)):
            known, bits = self._known[k], []
            for (i, _), text in zip(part, texts, strict=True):
                value = known.get(text)
                if value is None:
                    try:
                        value = parse_operand(text, t)
                    except PtxspecError as e:
                        raise PtxspecError(f"{name}:{i}: error: {e}") from None
                    if len(known) < _REMEMBERED:
                        known[text] = value
                bits.append(value)
            found.append(np.array(bits, np.bool_ if t.kind == BOOL else f"u{t.width // 8}"))
        return found


def _texts(x: NDArray[Any], t: Type) -> list[str]:
    if t.kind == BOOL:
        return ["true" if value else "false" for value in x.tolist()]
    digits = len(hexadecimal(0, t.width)) - 2
    return [f"0x{value:0{digits}x}" for value in x.view(f"u{x.itemsize}").tolist()]
