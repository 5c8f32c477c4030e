"""Models of the special function unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from .formats import Format


@dataclass(frozen=True)
class Core:
    """Operands of `variant` whose results determine a unit; a recording keeps all of them. They are the `count`
    encodings from `first` on, each with `shift` zero bits after it."""

    variant: str
    first: int
    count: int
    shift: int


@dataclass(frozen=True)
class Argument:
    """The reduction of a normal number to a scale k, a segment and a place in it, the integers below.

    kind "significand"  the first `bits` bits of the fraction, above them as many low bits of the exponent as tell
                        `octaves` apart; k is the rest of the exponent
         "octaves"      the same for the exponents `first` to `last` only, each with segments of its own; k is the
                        exponent. Smaller numbers are their own result, larger ones have that of an infinity.
         "fixed"        the number in fixed point with `bits` bits after the point; k is the part before the point. For
                        a number below zero, `negative` says what that is: "floor" (the number rounded down), or that of
                        the truncated magnitude: "negate" (subtracted from zero) or "complement" (the same, less one
                        unit of its last place if there is a fraction: every bit of the fraction inverted, and one less
                        before the point)
         "turns"        the magnitude, times `factor`, in fixed point, truncated, as an angle in turns, to which `phase`
                        quarters are added. The integer is what follows the two bits of the quarter; in odd quarters it
                        is mirrored: "complement" (every bit inverted) or "negate" (subtracted from a quarter). k is 0,
                        and the result is negative in the third and fourth quarter. The product is exact or, if `kept`
                        is not zero, first truncated to that many bits after the point of the number's significand
         "pattern"      the encoding as it is, special operands included

    With `odd`, the result takes the operand's sign."""

    kind: str
    bits: int
    octaves: int = 1
    first: int = 0
    last: int = 0
    odd: bool = False
    phase: int = 0
    mirror: str = ""
    negative: str = "floor"
    factor: Fraction = Fraction(1)
    kept: int = 0

    @property
    def places(self) -> int:
        """The number of bits of an argument's integer within one octave or quarter."""
        return self.bits - 2 if self.kind == "turns" else self.bits


@dataclass(frozen=True)
class Word:
    """The format of a coefficient: its length without its sign, and the weight 2**-point of its last bit."""

    bits: int
    point: int


@dataclass(frozen=True)
class Interpolator:
    """C0 + C1 x + C2 x**2 + bias, summed exactly.

    x is the place in the segment in units of 2**-bits of the argument. The squarer ignores its last `unseen` bits, and
    the square lacks what is below 2**drop of its last place: with `columns`, the partial products of those columns are
    left out (a product of two different bits occurs once, in the column above its own); otherwise the whole square is
    cut off there. `bias` is a number. `coefficients` are integers in units of the last bits of `words`, one row (C0,
    C1, C2) for each segment, octave by octave."""

    words: tuple[Word, Word, Word]
    drop: int
    columns: bool
    bias: Fraction
    segments: int
    coefficients: tuple[tuple[int, int, int], ...]
    unseen: int = 0


@dataclass(frozen=True)
class Differences:
    """A unit without a compact model: the distances of its results, in steps of their last place, from the correctly
    rounded results of `function`, for every integer that the argument's reduction gives. `text` is the content of the
    file `name`: these integers as bytes of `width`, compressed by zlib, in base85."""

    function: str
    name: str
    width: int
    text: str = field(repr=False)


@dataclass(frozen=True)
class Fitted:
    """The results that a model reproduces in full, and their number: those of a recording, from a GPU with a driver, or
    those of the published model `reported`."""

    gpu: str
    driver: str
    results: int
    reported: str = ""


@dataclass(frozen=True)
class Own:
    """A result that no polynomial gives. For one `operand`, an encoding, it is the encoding `result`; otherwise, for
    every operand that the argument's reduction brings to `place`, it is the number `sum`."""

    operand: int | None
    place: int
    result: int
    sum: Fraction


@dataclass(frozen=True, eq=False)
class UnitModel:
    """A model of what a unit computes on the targets from `within[0]` to `within[1]`, bit for bit on what was recorded.

    The sum of a number's polynomial, to which the scale is added if there is no `exponent`, is rounded to `point` bits
    after the point: `rounding` is roundTowardNegative or, in sign and magnitude, roundTowardZero. The sum, times 2 to
    the power of `exponent` times the scale, is normalised and truncated to `precision` bits; subnormal operands and
    results are zeros. `special` are the results of +zero, -zero, +infinity, -infinity, nan and, if they have none of
    their own, negative numbers; `own` are those of other operands to which the polynomial does not apply. Models are
    compared by identity."""

    unit: str
    name: str
    within: tuple[str, str]
    format: Format
    argument: Argument
    exponent: int | None
    point: int
    precision: int
    special: Mapping[str, int]
    core: Interpolator | Differences
    fitted: Fitted
    rounding: str = "roundTowardNegative"
    own: tuple[Own, ...] = ()

    @property
    def identifier(self) -> str:
        """A name for generated code."""
        return f"{self.unit}_{self.within[0]}"


@dataclass(frozen=True)
class Unit:
    """A function of the special function unit. `models` say what it computes, each on some targets."""

    name: str
    summary: str
    format: Format
    cores: tuple[Core, ...]
    models: tuple[UnitModel, ...] = ()
