"""Results as recordings store them: compressed, with their digest as name."""

from __future__ import annotations

import hashlib
import lzma
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from .vectors import StreamPart

Array = NDArray[Any]

# The raw format without a header: thousands of small arrays do not each need a checksum.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
_LEAST = 1 << 12


@dataclass(frozen=True)
class Blob:
    """Compressed results. `differences` is the size of the words if differences are stored, else 0. `line` is the file
    and the number of the line for errors."""

    key: str
    data: bytes
    differences: int
    line: str

    def results(self, type_: np.dtype[Any], count: int) -> Array:
        """Return all `count` words in order."""
        try:
            raw = decompressed(self.data, count * type_.itemsize, lzma.FORMAT_RAW, filters=_FILTERS)
            if self.differences:
                planes = np.frombuffer(raw, np.uint8).reshape(self.differences, -1)
                words = np.ascontiguousarray(planes.T).view(f"<u{self.differences}")
                raw = np.cumsum(words, dtype=words.dtype).tobytes()
            if digest(raw) != self.key:
                raise ValueError("the results have another digest")
            if len(raw) != count * type_.itemsize:
                raise ValueError("the numbers of results and digests do not fit")
            return np.frombuffer(raw, type_.newbyteorder("<"))
        except (ValueError, TypeError, lzma.LZMAError) as e:
            raise PtxspecError(f"{self.line}: {e}") from None


def coded(results: Array, part: StreamPart, line: str) -> Blob:
    """Return the results of a part as they are stored."""
    raw, width = little(results), 0
    key = digest(raw)
    if part.stream.startswith("every"):
        # Neighbouring operands have similar results.
        words, width = np.frombuffer(raw, results.dtype.newbyteorder("<")), results.dtype.itemsize
        steps = np.diff(words, prepend=words.dtype.type(0)).astype(words.dtype)
        raw = steps.view(np.uint8).reshape(-1, width).T.tobytes()
    # Allocating a dictionary larger than the array would take longer than compressing the array.
    filters = [{**f, "dict_size": max(len(raw), _LEAST)} for f in _FILTERS] if len(raw) < 1 << 23 else _FILTERS
    return Blob(key, lzma.compress(raw, lzma.FORMAT_RAW, filters=filters), width, line)


def decompressed(data: bytes, most: int, format: int, **settings: Any) -> bytes:
    """Return data decompressed by lzma, up to one byte more than `most`: few bytes may expand to very many. Raises
    lzma.LZMAError."""
    stream = lzma.LZMADecompressor(format, **settings)
    raw = stream.decompress(data, most + 1)
    if len(raw) <= most and not stream.eof:
        raise lzma.LZMAError("the end is missing")
    return raw


def little(values: Array) -> bytes:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()


def digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=8).hexdigest()
