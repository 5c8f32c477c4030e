"""spec/units.yaml and the files of spec/units/ -> model: the special function unit, and what it computes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic
from ..files import why_unreadable
from ..literals import parse_number
from ..model import (
    Argument,
    Core,
    Differences,
    Fitted,
    Format,
    Interpolator,
    Own,
    Spec,
    Unit,
    UnitModel,
    Word,
)
from ..semantics.exact.unit import shifts, unpack
from .context import words
from .positioned import Document, Where

# The keys that an argument may have besides its kind and bits.
_MAY = {
    "significand": {"octaves", "odd"},
    "octaves": {"first", "last", "odd"},
    "fixed": {"negative"},
    "turns": {"odd", "phase", "mirror", "factor", "kept"},
    "pattern": set[str](),
}
# The rounding of sums unless a file says otherwise.
DOWN = "roundTowardNegative"
# Sums are computed in integers of 64 bits with a sign.
_MOST_BITS = 62
# The rounded sum is normalised in float64. A scale that is added comes on top.
_MOST_RESULT = 53
# The most differences in a table: these are both octaves of single precision.
_MOST_DIFFERENCES = 1 << 24
_MOST_HEAD = 1 << 10


def read_units(doc: Document, spec: Spec, errors: list[Diagnostic]) -> dict[str, Unit]:
    """Return the units of units.yaml, without models."""
    taken = {*spec.modifiers, *spec.groups, *spec.types, *spec.formats, *spec.targets}
    units = {}
    for name, u in doc.data["units"].items():
        where = ("units", name)
        if name in taken:
            errors.append(doc.error(where, f"'{name}' is a modifier, type or target too", key=True))
        format = _format(doc, (*where, "format"), u["format"], spec, errors)
        cores = []
        for i, c in enumerate(u.get("cores", [])):
            core = Core(c["variant"], int(c.get("first", "0"), 16), int(c["count"]), int(c.get("shift", 0)))
            if (core.first + core.count - 1) << core.shift >> format.width:
                message = f"the last of {core.count} operands is beyond the encodings of {format.name}"
                errors.append(doc.error((*where, "cores", i, "count"), message))
            cores.append(core)
        units[name] = Unit(name, words(u["summary"]), format, tuple(cores))
    return units


def read_model(
    doc: Document, within: tuple[str, str], spec: Spec, sources: dict[str, str], errors: list[Diagnostic]
) -> UnitModel | None:
    """Return the model in a file of spec/units/, whose `within` was read; None if something is wrong with it."""
    d, before = doc.data, len(errors)
    unit = spec.units.get(d["unit"])
    if unit is None:
        errors.append(doc.error(("unit",), f"unknown unit '{d['unit']}'", suggest(d["unit"], spec.units)))
        return None
    format, result = unit.format, d["result"]
    argument = _argument(doc, d["argument"], format, errors)
    special = _special(doc, ("special",), d.get("special", {}), format, errors)
    precision, point = int(result["precision"]), int(result["point"])
    if precision > format.precision:
        message = f"{unit.name} has results of {format.name}, whose precision is {format.precision}"
        errors.append(doc.error(("result", "precision"), message))
    if (argument.kind == "pattern") == ("special" in d):
        message = "special operands are patterns like all others" if "special" in d else "missing key 'special'"
        errors.append(doc.error(("special",), message))
    if ("fitted" in d) == ("reported" in d):
        errors.append(doc.error((), "a model is either 'fitted' to a recording or 'reported', as a published one is"))
    if ("interpolator" in d) == ("differences" in d):
        errors.append(doc.error((), "a unit has either an 'interpolator' or 'differences'"))
        return None
    own = _own(doc, d, argument, format, errors)
    if len(errors) > before:
        return None
    core: Interpolator | Differences | None
    if "interpolator" in d:
        core = _interpolator(doc, d["interpolator"], argument, format, point, errors)
    else:
        core = _differences(doc, d["differences"], argument, _exponent(result), sources, errors)
    if core is None:
        return None
    if "fitted" in d:
        f = d["fitted"]
        fitted = Fitted(words(f["gpu"]), words(f["driver"]), int(f["results"]))
    else:
        fitted = Fitted("", "", int(d["reported"]["results"]), d["reported"]["model"])
    return UnitModel(
        unit.name, doc.path.stem, within, format, argument, _exponent(result), point, precision, special, core, fitted,
        result.get("rounding", DOWN), own,
    )  # fmt: skip


def _format(doc: Document, where: Where, name: str, spec: Spec, errors: list[Diagnostic]) -> Format:
    formats = {n: f for n, f in spec.formats.items() if isinstance(f, Format) and f.is_ieee}
    if name not in formats:
        message = f"'{name}' is no format of IEEE 754" if name in spec.formats else f"unknown format '{name}'"
        errors.append(doc.error(where, message, suggest(name, formats)))
    # Reading goes on with any format.
    return formats.get(name, next(iter(formats.values())))


def _exponent(result: Mapping[str, Any]) -> int | None:
    return None if result["exponent"] == "sum" else int(result["exponent"])


def _argument(doc: Document, a: Mapping[str, Any], format: Format, errors: list[Diagnostic]) -> Argument:
    where, kind = ("argument",), a["kind"]
    for key in set(a) - _MAY[kind] - {"kind", "bits"}:
        errors.append(doc.error((*where, key), f"an argument of kind '{kind}' has no '{key}'", key=True))
    must = {"octaves": ["first", "last"], "turns": ["mirror"]}.get(kind, [])
    for key in ["bits", *must]:
        if key not in a:
            errors.append(doc.error(where, f"missing key '{key}' of an argument of kind '{kind}'"))
    if kind in ("significand", "octaves") and int(a.get("bits", 0)) > format.fraction_bits:
        errors.append(doc.error((*where, "bits"), f"a fraction of {format.name} has {format.fraction_bits} bits"))
    if kind == "pattern" and int(a.get("bits", format.width)) != format.width:
        errors.append(doc.error((*where, "bits"), f"an encoding of {format.name} has {format.width} bits"))
    first, last = int(a.get("first", 0)), int(a.get("last", 0))
    if first > last:
        errors.append(doc.error((*where, "first"), f"the first exponent, {first}, is above the last, {last}"))
    factor = (parse_number(a["factor"]) or (Fraction(1),))[0] if "factor" in a else Fraction(1)
    if "factor" in a and (factor <= 0 or factor.numerator.bit_length() + format.precision > _MOST_RESULT):
        message = f"a positive factor may have {_MOST_RESULT - format.precision} bits, so that products are exact"
        errors.append(doc.error((*where, "factor"), message))
    return Argument(
        kind, int(a.get("bits", 0)), int(a.get("octaves", 1)), first, last, bool(a.get("odd", False)),
        int(a.get("phase", 0)), a.get("mirror", ""), a.get("negative", "floor"), factor,
        int(a.get("kept", 0)),
    )  # fmt: skip


def _special(
    doc: Document, where: Where, special: Mapping[str, str], format: Format, errors: list[Diagnostic]
) -> dict[str, int]:
    for key, text in special.items():
        if (len(text) - 2) * 4 != format.width:
            message = f"'{text}' has {(len(text) - 2) * 4} bits, {format.name} has {format.width}"
            errors.append(doc.error((*where, key), message))
    return {key: int(text, 16) for key, text in special.items()}


def _own(
    doc: Document, d: Mapping[str, Any], argument: Argument, format: Format, errors: list[Diagnostic]
) -> tuple[Own, ...]:
    """Return results and sums to which the polynomial does not apply."""
    made: list[Own] = []
    rows = d.get("own", [])
    if rows and "interpolator" not in d:
        errors.append(doc.error(("own",), "a table of differences has every operand already", key=True))
    for i, row in enumerate(rows):
        at: Where = ("own", i)
        if set(row) == {"operand", "result"}:
            values = _special(doc, at, row, format, errors)
            size = values["operand"] & ~format.sign_bit
            if not 1 << format.fraction_bits <= size < format.infinity:
                message = "only normal numbers are reduced; 'special' has the results of the others"
                errors.append(doc.error((*at, "operand"), message))
            made.append(Own(values["operand"], 0, values["result"], Fraction(0)))
        elif set(row) == {"place", "sum"}:
            place, most = int(row["place"], 16), _octaves(argument) << argument.places
            if place >= most:
                errors.append(doc.error((*at, "place"), f"arguments are reduced to integers below {most:#x}"))
            number = parse_number(row["sum"])
            assert number is not None
            point = int(d["result"]["point"])
            if number[0].denominator > 1 << point:
                errors.append(doc.error((*at, "sum"), f"sums have {point} bits after the point"))
            made.append(Own(None, place, 0, number[0]))
        else:
            errors.append(doc.error(at, "this is neither {operand, result} nor {place, sum}"))
    return tuple(made)


def _octaves(argument: Argument) -> int:
    return argument.last - argument.first + 1 if argument.kind == "octaves" else argument.octaves


def _interpolator(
    doc: Document, d: Mapping[str, Any], argument: Argument, format: Format, point: int, errors: list[Diagnostic]
) -> Interpolator | None:
    at: Where = ("interpolator",)
    before, segments = len(errors), int(d["segments"])
    if segments >= 1 << argument.places or argument.kind == "pattern":
        errors.append(doc.error((*at, "segments"), f"the argument has too few bits for {segments} segments"))
    octaves = _octaves(argument)
    c0, c1, c2 = (Word(int(w["bits"]), int(w["point"])) for w in d["words"])
    rows = [(int(r[0]), int(r[1]), int(r[2])) for r in d["coefficients"]]
    if len(rows) != segments * octaves:
        message = f"{len(rows)} rows of coefficients; {octaves} x {segments} segments need {segments * octaves}"
        errors.append(doc.error((*at, "coefficients"), message, key=True))
    for i, row in enumerate(rows):
        for k, (value, word) in enumerate(zip(row, (c0, c1, c2), strict=True)):
            if abs(value) >> word.bits:
                message = f"C{k} = {value} does not fit into {word.bits} bits"
                errors.append(doc.error((*at, "coefficients", i, k), message))
    bias = parse_number(d["bias"])
    assert bias is not None
    drop = int(d["squarer"]["drop"])
    unseen, columns = int(d["squarer"].get("unseen", 0)), d["squarer"]["of"] == "columns"
    made = Interpolator((c0, c1, c2), drop, columns, bias[0], segments, tuple(rows), unseen)
    if len(errors) == before:
        most = format.exponent_bits if _exponent(doc.data["result"]) is None else 0
        most = 2 + max(most, *(w.bits - w.point for w in (c0, c1, c2)), int(abs(made.bias)).bit_length())
        if shifts(made, argument, point)[0] + most > _MOST_BITS:
            message = "the sum has more than 62 bits: the words, the square and the bias reach too far from the point"
            errors.append(doc.error((*at, "words"), message, key=True))
        elif point + most > _MOST_RESULT:
            message = f"a sum rounded to {point} bits after the point has more than 53 bits"
            errors.append(doc.error(("result", "point"), message))
    return made if len(errors) == before else None


def _differences(
    doc: Document,
    d: Mapping[str, Any],
    argument: Argument,
    exponent: int | None,
    sources: dict[str, str],
    errors: list[Diagnostic],
) -> Differences | None:
    at: Where = ("differences", "file")
    if argument.kind in ("octaves", "turns") or exponent is None:
        help = "differences are of numbers of one binade, for 'significand', 'fixed' or 'pattern'"
        errors.append(doc.error(("argument", "kind"), "a table of differences does not determine such a unit", help))
        return None
    path: Path = doc.path.parent / d["file"]
    width, wanted = int(d["width"]), argument.octaves << argument.bits
    if wanted > _MOST_DIFFERENCES:
        errors.append(doc.error(at, f"{wanted} differences are too many", f"a table has {_MOST_DIFFERENCES} at most"))
        return None
    if why := why_unreadable(path, path.parents[2]):
        errors.append(doc.error(at, f"{d['file']} cannot be read: {why}"))
        return None
    try:
        with path.open(encoding="ascii") as file:
            text = file.read(2 * width * wanted + _MOST_HEAD)
        data = unpack(text, width * wanted)
    except (OSError, ValueError, zlib.error) as e:
        errors.append(doc.error(at, f"{d['file']} cannot be read: {getattr(e, 'strerror', None) or e}"))
        return None
    if len(data) != width * wanted:
        held = len(data) if len(data) < width * wanted else "more"
        message = f"{d['file']} holds {held} bytes; {wanted} differences of {width} bytes are needed"
        errors.append(doc.error(at, message))
        return None
    sources[f"{doc.name.rpartition('/')[0]}/{d['file']}"] = hashlib.sha256(text.encode()).hexdigest()
    return Differences(d["function"], d["file"], width, text)
