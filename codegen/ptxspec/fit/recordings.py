"""Recordings of a GPU: which operands they are about, and what it made of them.

A recording is a folder. about.json names the GPU and lists the variants. cores-*.npz hold, by a core's name, the
differences between the results and the correctly rounded ones, in steps between neighbouring encodings, and under
NAME-rounded a digest of the latter; for upper words the results themselves. grid.npz holds results by the variant's
index: of special operands, and under INDEX-all those of all encodings of 16 bits. random.npz holds the first results of
a stream of random operands, under INDEX-uniform. digests.npz holds digests of results: under core-NAME those of a core,
under INDEX-all those of all encodings, one for each 2**20.
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..diagnostics import PtxspecError
from ..model import Core, Format
from .arrays import Array

_U64 = np.uint64
_BLOCK_BITS = 20


@dataclass(frozen=True)
class Recording:
    """A folder with a recording."""

    folder: Path

    @cached_property
    def about(self) -> dict[str, Any]:
        path = self.folder / "about.json"
        try:
            found = json.loads(path.read_text("utf-8"))
            variants = [(str(v["spelling"]), int(v["operands"])) for v in found["variants"]]
            return {**{key: str(found[key]) for key in ("gpu", "driver", "sm")}, "variants": variants}
        except OSError as e:
            raise PtxspecError(f"{path}: cannot be read: {e.strerror or e}; name the folder of a recording") from None
        except KeyError as e:
            what = f"{path}: has no {e}: not a recording of the unit's own results (cores-*.npz)"
            raise PtxspecError(f"{what}; conformance --record does not keep these") from None
        except (ValueError, TypeError) as e:
            raise PtxspecError(f"{path}: is not the description of a recording: {e}") from None

    def array(self, files: str, key: str) -> Array | None:
        """An array of the files of a pattern; None where none of them has it."""
        for path in sorted(self.folder.glob(files)):
            try:
                with np.load(path) as stored:
                    if key in stored:
                        found = np.asarray(stored[key])
                    else:
                        continue
            except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error) as e:
                raise PtxspecError(f"{path}: cannot be read: {e}") from None
            if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
                raise PtxspecError(f"{path}: '{key}' is not a row of integers")
            return found
        return None

    def index(self, variant: str) -> int | None:
        variants = self.about["variants"]
        return variants.index((variant, 1)) if (variant, 1) in variants else None

    def has(self, core: Core) -> bool:
        if core.name:
            return self.array("cores-*.npz", core.name) is not None
        index = self.index(core.variant)
        return index is not None and self.array("grid.npz", f"{index}-all") is not None

    def results(self, core: Core, format: Format, rounded: Array) -> Array:
        """The results on a core's operands, whose correctly rounded results are given. Raises PtxspecError where they
        are not those that the differences were taken from."""
        if not core.name:
            found = self.array("grid.npz", f"{self.index(core.variant)}-all")
        else:
            found = self.array("cores-*.npz", core.name)
        assert found is not None
        if found.shape != (core.count,):
            what = core.name or core.variant
            raise PtxspecError(f"{self.folder}: '{what}' has {found.size} results, not {core.count}")
        if not core.name:
            return found
        if core.high_words:
            return np.left_shift(found.astype(rounded.dtype), rounded.dtype.type(format.width // 2))
        kept = self.array("cores-*.npz", f"{core.name}-rounded")
        if kept is not None:
            rounded = _as_recorded(rounded, int(kept[0]), f"{self.folder}: '{core.name}'")
        results = from_steps(to_steps(rounded, format) + found, format)
        kept = self.array("digests.npz", f"core-{core.name}")
        if kept is not None and int(kept[0]) != digest(results):
            raise PtxspecError(f"{self.folder}: '{core.name}' is damaged: its digest is another one")
        return results

    def samples(self, variant: str, format: Format) -> tuple[Array, Array]:
        """Special and random operands of a variant, and its results; none where none were recorded."""
        index, found = self.index(variant), []
        for files, key, operands in (
            ("grid.npz", f"{index}", special_values(format)),
            ("random.npz", f"{index}-uniform", uniform_operands(format, 1 << 11)),
        ):
            results = self.array(files, key)
            if results is not None:
                found.append((operands[: len(results)], results[: len(operands)]))
        unsigned = np.dtype(f"u{format.width // 8}")
        operands = np.concatenate([np.zeros(0, unsigned), *(o.astype(unsigned) for o, _ in found)])
        return operands, np.concatenate([np.zeros(0, unsigned), *(r for _, r in found)])

    def all_digests(self, variant: str, format: Format) -> Array | None:
        """The digests of a variant's results on all encodings in their order, block by block."""
        found = self.array("digests.npz", f"{self.index(variant)}-all")
        complete = found is not None and len(found) == 1 << max(0, format.width - _BLOCK_BITS)
        return found if complete else None


def disagreeing(
    computed: Callable[[Array], Array], kept: Array, format: Format, progress: Callable[[int, int], None] | None = None
) -> list[int]:
    """The blocks of encodings for which what is computed has other digests than those kept."""
    wrong = []
    for i, wanted in enumerate(kept):
        if progress:
            progress(i, len(kept))
        start = i << _BLOCK_BITS
        x = np.arange(start, start + (1 << _BLOCK_BITS), dtype=f"u{format.width // 8}")
        if digest(computed(x), start) != int(wanted):
            wrong.append(i)
    return wrong


def core_operands(core: Core, format: Format) -> Array:
    """The encodings of a core's operands, in the recording's order."""
    unsigned = np.dtype(f"u{format.width // 8}")
    if core.multiple is not None:
        native = {32: np.float32, 64: np.float64}[format.width]
        return (np.arange(core.count).astype(native) * native(float(core.multiple))).view(unsigned)
    operands = (np.arange(core.count, dtype=np.uint64) * _U64(core.step) + _U64(core.first)).astype(unsigned)
    return np.left_shift(operands, unsigned.type(format.width // 2)) if core.high_words else operands


def to_steps(bits: Array, format: Format) -> Array:
    """Encodings as integers in the order of their numbers, one step between neighbours across zero too: int64."""
    signed = bits.astype(np.int64)
    return np.where(signed < format.sign_bit, signed, format.sign_bit - 1 - signed)


def from_steps(steps: Array, format: Format) -> Array:
    unsigned = np.dtype(f"u{format.width // 8}")
    return np.where(steps >= 0, steps, format.sign_bit - 1 - steps).astype(unsigned)


def mixed(x: Array) -> Array:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U64(27))) * _U64(0x94D049BB133111EB)
    return np.bitwise_xor(x, x >> _U64(31))


def _weights(start: int, count: int) -> Array:
    return mixed(np.arange(start, start + count, dtype=np.uint64) + _U64(0x9E3779B97F4A7C15)) | _U64(1)


def digest(values: Array, start: int = 0) -> int:
    """The sum of (value + 1) * weight over all places, which count from `start`, modulo 2**64."""
    return int(((values.astype(np.uint64) + _U64(1)) * _weights(start, len(values))).sum(dtype=np.uint64))


def _as_recorded(rounded: Array, kept: int, what: str) -> Array:
    """Correctly rounded results as the recorder had them. It rounded float64 results of some library, which in some 16
    million is about as likely as not to miss one tie or another by a step: one such miss is found by the digest."""
    missing = (kept - digest(rounded)) % (1 << 64)
    if missing == 0:
        return rounded
    weights = _weights(0, len(rounded))
    for step, wanted in ((1, missing), (-1, (1 << 64) - missing)):
        places = np.flatnonzero(weights == _U64(wanted))
        if len(places) == 1:
            mended = rounded.copy()
            mended[places] += np.array(step).astype(rounded.dtype)
            return mended
    raise PtxspecError(f"{what} differs from other correctly rounded results than the emulator's; record it again")


def uniform_operands(format: Format, count: int) -> Array:
    """The first operands of the random stream."""
    i = np.arange(1, count + 1, dtype=np.uint64)
    return mixed(i * _U64(0x9E3779B97F4A7C15) + _U64(0x632BE59BD9B4E019)) >> _U64(64 - format.width)


def special_values(format: Format) -> Array:
    """The special operands, in the recording's order: positive ones, then the same with the sign bit."""
    f, bias = format.fraction_bits, format.bias
    one, top, quiet, last = bias << f, format.infinity, format.quiet_bit, (1 << f) - 1
    half_pi, third = 0x921FB54442D18 >> (52 - f), 0x5555555555555 >> (52 - f)
    ends = [0, 1, last, 1 << f, (1 << f) + last, one, one + 1, one - 1, top - 1, top, top | quiet, top | 1]
    small = [2, 3, quiet, quiet + 1, quiet - 1, (1 << f) + 1, 2 << f]
    near_one = [one + quiet, one + quiet + 1, (bias + 1) << f, (bias - 1) << f]
    far = [(bias + f) << f, ((bias + f + 1) << f) + 1, (bias - f) << f, ((bias - f - 1) << f) + 1]
    others = [(bias + 1) << f | half_pi, (bias - 2) << f | third, (bias // 2) << f, ((bias + bias // 2) << f) | 5]
    large = [top - (1 << f), top - 2]
    payloads = (0x2468ACE13579B >> (52 - f)) & (quiet - 1), (0x13579BDF02468 >> (52 - f)) & (quiet - 1)
    nans = [top | quiet | payloads[0], top | payloads[1] | 1, top | last]
    positive = list(dict.fromkeys([*ends, *small, *near_one, *far, *others, *large, *nans]))
    return np.array([s | x for s in (0, format.sign_bit) for x in positive], np.uint64)
