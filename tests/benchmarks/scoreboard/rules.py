"""Differences between a peer's results and PTX's: which kind each is, and whether it is a policy or wrong.

The kinds are decided by these rules alone, the first that applies. A policy is a choice that IEEE 754 leaves open, or
that PTX makes by its spelling. Everything else is wrong: IEEE 754 fixes the result, and no peer's documentation says
that it departs from it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxspec.model import Format
from scoreboard.values import is_nan, is_negative, magnitude, numbers

Bits = NDArray[Any]
Mask = NDArray[np.bool_]

TWICE = "double rounding"
NAN_BITS = "NaN bits"
POLICIES = {
    NAN_BITS: "Both results are NaNs, and their bits differ. IEEE 754 leaves the payload and the sign of a NaN "
    "open, and only recommends the bit that marks a quiet NaN.",
    "NaN operand": "The operand is a NaN, and the result's format has none. PTX returns the largest number; the "
    "package returns another one or raises an error.",
    "signalling NaN": "An operand of a minimum or maximum is a signalling NaN, and one of the results is a NaN. IEEE "
    "754-2008 requires a NaN there, and IEEE 754-2019 the other operand.",
    "saturation": "The operand is too large for the result's format. PTX's instruction returns the largest number, "
    "because its spelling says .satfinite; the package returns an infinity or a NaN, or raises an error.",
    "no such number": "The operand is negative and the result's format has no sign, or the operand is nearer to zero "
    "than any number of a format without zero. PTX converts the magnitude of the former, and returns the smallest "
    "number for the latter.",
    "signed zero": "Both results are zeros, one of them is negative, and the operation is a minimum or a maximum. IEEE "
    "754-2008 leaves the sign open. PTX orders -0 below +0, as IEEE 754-2019 does.",
}
WRONGS = {
    "sign of zero": "Both results are zeros, and IEEE 754 requires the other sign.",
    "no result": "The package raises an error where there is a result.",
    "NaN": "One of the results is a NaN, and IEEE 754 requires PTX's.",
    TWICE: "The package's result is what PTX returns when the operand is first converted to a format between the "
    "two, and then to the result's format.",
    "flushed subnormal": "The package returns a zero where the result is a subnormal number.",
    "overflow": "One of the results is an infinity, and IEEE 754 requires PTX's.",
    "other rounding": "The package returns a neighbour of the correctly rounded result.",
    "other number": "The package returns a number that is not next to the correctly rounded result.",
}


@dataclass(frozen=True)
class Asked:
    """An operation as the rules see it: formats, the rounding, whether it is a minimum or maximum, and whether it
    saturates."""

    sources: Sequence[Format]
    to: Format
    rounding: str = ""
    selects: bool = False
    saturates: bool = False


def verdict(kind: str) -> str:
    """Return "NaN bits" where the results are the same but for the bits of NaNs, "policy" or "wrong"."""
    if kind == NAN_BITS:
        return NAN_BITS
    return "policy" if kind in POLICIES else "wrong"


def classify(
    asked: Asked, operands: Sequence[Bits], ptx: Bits, peer: Bits, refused: Mask, twice: Mapping[str, Bits]
) -> dict[str, Mask]:
    """Return where each kind of difference is. `refused` tells where the peer had no result; `twice` has, by the format
    between, the results of rounding twice."""
    to = asked.to
    left = (ptx != peer) | refused
    given = list(zip(operands, asked.sources, strict=True))
    nan_operand = np.logical_or.reduce([is_nan(x, f) for x, f in given])
    signalling = np.logical_or.reduce([_is_signalling(x, f) for x, f in given])
    nans = is_nan(ptx, to).astype(int) + is_nan(peer, to)
    size, other = magnitude(ptx, to), magnitude(peer, to)
    zeros = (numbers(ptx, to) == 0) & (numbers(peer, to) == 0) & ~refused
    infinite = np.isinf(numbers(ptx, to)) != np.isinf(numbers(peer, to))
    same_sign = is_negative(ptx, to) == is_negative(peer, to)
    special = refused | is_nan(peer, to) | np.isinf(numbers(peer, to))
    apart = np.maximum(size, other) - np.minimum(size, other)
    tests = [
        (NAN_BITS, (nans == 2) & ~refused),
        ("NaN operand", nan_operand & (not to.nans)),
        ("signalling NaN", signalling & asked.selects & (nans == 1)),
        ("saturation", _too_large(asked, operands) & special),
        ("no such number", _missing(asked, operands)),
        ("signed zero" if asked.selects else "sign of zero", zeros),
        ("no result", refused),
        ("NaN", nans == 1),
        *((f"{TWICE} through {via}", peer == found) for via, found in twice.items()),
        ("flushed subnormal", (numbers(peer, to) == 0) & (size < np.uint64(to.least_normal))),
        ("overflow", infinite),
        ("other rounding", same_sign & (apart == 1)),
        ("other number", np.ones(ptx.shape, np.bool_)),
    ]
    found = {}
    for kind, holds in tests:
        if (here := left & holds).any():
            found[kind] = here
        left &= ~holds
    return found


def _is_signalling(bits: Bits, f: Format) -> Mask:
    """Return where an encoding is a NaN whose quiet bit, the first of the fraction, is clear."""
    quiet = np.uint64(1 << f.fraction_bits >> 1)
    return is_nan(bits, f) & ((magnitude(bits, f) & quiet) == 0)


def _too_large(asked: Asked, operands: Sequence[Bits]) -> Mask:
    """Return where an instruction that saturates is given a number that rounds to one beyond the largest. That is, of
    a nearest rounding, one at least halfway to where the next number would be."""
    if not asked.saturates:
        return np.zeros(operands[0].shape, np.bool_)
    last, before = numbers(np.uint64([asked.to.largest, asked.to.largest - 1]), asked.to)
    least = last + (last - before) / 2 if asked.rounding in ("rn", "rna") else np.nextafter(last, np.inf)
    return np.abs(numbers(operands[0], asked.sources[0])) >= least


def _missing(asked: Asked, operands: Sequence[Bits]) -> Mask:
    """Return where a format without sign or zero is given a negative number, or one nearer to zero than its least."""
    values = numbers(operands[0], asked.sources[0])
    negative = is_negative(operands[0], asked.sources[0]) if not asked.to.signed else np.zeros(values.shape, np.bool_)
    if not asked.to.has_zero:
        negative |= np.abs(values) < numbers(np.uint64([0]), asked.to)[0]
    return negative & ~np.isnan(values)


def explained(kinds: Iterable[str]) -> dict[str, str]:
    """Return the rules of kinds, each once, in the order in which they are tried."""
    rules = {**POLICIES, **WRONGS}
    order = list(rules)
    found = sorted(dict.fromkeys(kinds), key=lambda kind: order.index(_base(kind)))
    return {kind: rules[_base(kind)] for kind in found}


def _base(kind: str) -> str:
    return kind.partition(" through ")[0]
