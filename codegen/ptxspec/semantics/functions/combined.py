"""Functions that do several steps at once. Rewriting puts them into programs; a specification cannot call them."""

from __future__ import annotations

from functools import partial

from .row import COMBINED, row as any_row

row = partial(any_row, table=COMBINED)


@row("float -> float", nan="operand", clause="5.5.1", needs="IEEE")
def flushed(x):  # type: ignore[no-untyped-def]
    """x, or a zero with the sign of x if x is subnormal."""


@row("float, float, float, float -> float", nan="operand", optional=2, needs="IEEE")
def propagate(value, x, y, z):  # type: ignore[no-untyped-def]
    """value; if it and some of the others are NaNs, the first of those NaNs, made quiet. The value's array may be
    reused."""


@row("float, bool, bits -> float", nan="operand", needs="IEEE")
def replace(x, condition, pattern):  # type: ignore[no-untyped-def]
    """x, or the pattern where the condition holds. The array of x may be reused."""


@row("number, number, bits -> bool", clause="5.11")
def compare(x, y, relation):  # type: ignore[no-untyped-def]
    """x and y are in one of the relations that the bits say, from the lowest: x is less, equal, greater, or the two are
    unordered."""


@row("bool, bool, bits -> bool", clause="5.11")
def combine(p, c, operator):  # type: ignore[no-untyped-def]
    """p and c (0), p or c (1), either but not both (2)."""


@row("float, float -> float", nan="canonical", clause="9.6", needs="IEEE")
def clamped(x, most):  # type: ignore[no-untyped-def]
    """x between +0 and `most`, a positive number or the canonical NaN. A NaN becomes +0, unless `most` is that NaN.
    Meant for x whose only NaN is the canonical one, with all bits but the sign."""


@row("float -> float", nan="canonical", clause="9.6", needs="sign")
def withoutSign(x):  # type: ignore[no-untyped-def]
    """x, or +0 if x has a sign. Meant for x whose only NaN is the canonical one, without a sign."""


@row("float, float, float -> float", nan="canonical", clause="9.6", needs="IEEE")
def within(x, low, high):  # type: ignore[no-untyped-def]
    """minimum(maximum(x, low), high), where low and high are finite and not zero."""


@row("float, bits, float -> float", rounds=True, nan="canonical")
def convertBounded(x, random, most):  # type: ignore[no-untyped-def]
    """x as `convertStochastic` converts it, with magnitudes above `most` replaced by `most`. Meant for x of binary32
    and for a `most` that is at least twice the least normal number."""
