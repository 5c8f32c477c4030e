"""spec/types.yaml -> formats, NaN rules and types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..model import BOOL, FixedPoint, Format, Kind, Languages, NanRule, Type, bits_of, number_in
from .context import Context, words
from .positioned import Document, Where

_WIDTHS = (8, 16, 32, 64)
_CONTAINERS = (4, *_WIDTHS)


def read_formats(doc: Document, context: Context) -> dict[str, Format | FixedPoint]:
    found: dict[str, Format | FixedPoint] = {}
    for name, f in doc.data["formats"].items():
        context.free(doc, ("formats", name), name)
        found[name] = _fixed(doc, context, name, f) if "integer" in f else _float(doc, context, name, f)
    return found


def _fixed(doc: Document, context: Context, name: str, f: Mapping[str, Any]) -> FixedPoint:
    made = FixedPoint(name, int(f["bits"]), f["integer"] == "signed", int(f.get("point", 0)))
    for key in {"exponent_bits", "fraction_bits", "nan", "infinity"} & f.keys():
        context.errors.append(doc.error(("formats", name, key), f"{name} is an integer, which has none", key=True))
    if made.point > made.width:
        message = f"{name} has {made.width} bits; {made.point} cannot stand behind the point"
        context.errors.append(doc.error(("formats", name, "point"), message))
    return made


def _float(doc: Document, context: Context, name: str, f: Mapping[str, Any]) -> Format:
    where: Where = ("formats", name)
    before = len(context.errors)

    def wrong(key: str, message: str, help: str = "", *entry: int) -> None:
        at: Where = (*where, key, *entry)
        context.errors.append(doc.error(at if at in doc.marks else where, message, help, key=at not in doc.marks))

    for key in ("exponent_bits", "fraction_bits"):
        if key not in f:
            wrong(key, f"missing key '{key}'", "a format has exponent_bits and fraction_bits, or integer and bits")
            return _stand_in(name)
    exponent_bits, fraction_bits = int(f["exponent_bits"]), int(f["fraction_bits"])
    signed, has_infinity, has_zero = (f.get(key) != "none" for key in ("sign", "infinity", "zero"))
    magnitudes = 1 << (exponent_bits + fraction_bits)
    width = signed + exponent_bits + fraction_bits
    nans = _nans(f.get("nan"), magnitudes, signed, has_infinity, fraction_bits, name, wrong)
    container = int(f.get("container", width))
    if container < width:
        wrong("container", f"{name} has {width} bits, which {container} cannot hold", "write as many or more")
    elif container not in _CONTAINERS:
        larger = next((c for c in _CONTAINERS if c >= width), _CONTAINERS[-1])
        wrong(
            "container", f"{name} has {width} bits, and no register", f"say in how many it stands: container: {larger}"
        )
    invalid = "canonical_nan" if nans else "invalid"
    if invalid not in f:
        what = "its canonical NaN" if nans else "what a NaN becomes, since it has none"
        wrong(invalid, f"missing key '{invalid}': the encoding of {what}")
        return _stand_in(name)
    overflow = f.get("overflow", "infinity" if has_infinity else "")
    possible = ["infinity"] * has_infinity + ["nan"] * bool(nans) + ["largest"]
    if overflow not in possible:
        said = f"'{overflow}'" if overflow else "nothing"
        message = f"{name} says {said} of what a number too large becomes"
        wrong("overflow", message, f"write overflow: {' or '.join(possible)}")
        return _stand_in(name)
    made = Format(
        name=name,
        exponent_bits=exponent_bits,
        fraction_bits=fraction_bits,
        bias=int(f.get("bias", (1 << (exponent_bits - 1)) - 1)),
        nans=nans,
        canonical_nan=int(f[invalid], 16),
        overflow=overflow,
        signed=signed,
        has_zero=has_zero,
        has_subnormals=has_zero and f.get("subnormals") != "none",
        has_infinity=has_infinity,
        container=container,
        shift=container - width if f.get("align") == "upper" else 0,
    )
    if len(context.errors) == before:
        _check_invalid(made, f[invalid], invalid, wrong)
    return made


def _stand_in(name: str) -> Format:
    """Return some format with which reading can go on, once the mistake is reported."""
    return Format(name=name, exponent_bits=5, fraction_bits=10, bias=15, nans=1023, canonical_nan=0x7FFF, container=16)


def _nans(
    said: Any, magnitudes: int, signed: bool, has_infinity: bool, fraction_bits: int, name: str, wrong: Any
) -> int:
    """Return the number of magnitudes that are NaNs. Those that are listed must be the largest ones, of either sign."""
    if said is None:
        if not has_infinity:
            wrong("nan", f"{name} has no infinity: which encodings are NaNs?", "write nan: none, or list them")
        return (1 << fraction_bits) - 1
    if said == "none":
        return 0
    listed = {int(x, 16) for x in said}
    found = len({x & (magnitudes - 1) for x in listed})
    usual = {sign | m for sign in {0, magnitudes * signed} for m in range(magnitudes - found, magnitudes)}
    for i, text in enumerate(said):
        if int(text, 16) not in usual:
            message = f"{text} is a number of {name}" if int(text, 16) < magnitudes << signed else f"{text} is too wide"
            wrong("nan", message, "the NaNs are the encodings of the largest magnitudes", i)
            return found
    for missing in sorted(usual - listed)[:1]:
        wrong("nan", f"0x{missing:02x} has a larger magnitude than a NaN of {name}, or its sign alone differs: list it")
    return found


def _check_invalid(made: Format, text: str, key: str, wrong: Any) -> None:
    """Check that the result of an invalid operation is a quiet NaN, or a number in a format without NaNs."""
    bits = made.canonical_nan
    if bits >> made.width or made.is_nan(bits) != bool(made.nans):
        wrong(key, f"{text} is not a {'quiet NaN' if made.nans else 'number'} of {made.name}")
    elif made.nans and made.is_ieee and not bits & made.quiet_bit:
        wrong(key, f"{text} is not a quiet NaN of {made.name}")


def read_nan_rules(doc: Document, context: Context) -> dict[str, NanRule]:
    return {
        name: NanRule(
            name=name,
            summary=words(r["summary"]),
            basis=context.basis(doc, ("nan_rules", name), r),
            unspecified=words(r.get("unspecified", "")),
            code=context.code(doc, ("nan_rules", name, "code"), r.get("code")),
        )
        for name, r in doc.data["nan_rules"].items()
    }


def read_types(
    doc: Document, context: Context, formats: Mapping[str, Format | FixedPoint], rules: Mapping[str, NanRule]
) -> dict[str, Type]:
    for name in (languages := doc.data.get("languages", {})):
        context.known(doc, ("languages", name), name, doc.data["types"], "type")
    return {
        name: replace(_type(doc, context, name, t, formats, rules), in_languages=Languages(**languages.get(name, {})))
        for name, t in doc.data["types"].items()
    }


def _type(
    doc: Document,
    context: Context,
    name: str,
    t: Mapping[str, Any],
    formats: Mapping[str, Format | FixedPoint],
    rules: Mapping[str, NanRule],
) -> Type:
    where: Where = ("types", name)
    before = len(context.errors)
    kind = _kind(doc, context, where, t, formats)
    format = kind.format
    rule = None
    if "nan" in t and context.known(doc, (*where, "nan"), t["nan"], rules, "NaN rule"):
        rule = rules[t["nan"]]
    if (rule is not None) != bool(format and format.nans) and len(context.errors) == before:
        message = f"no result of .{name} is a NaN" if rule else f"missing key 'nan': what a NaN of .{name} becomes"
        context.errors.append(doc.error((*where, "nan") if rule else where, message, key=True))
    made = Type(
        name=name,
        kind=kind,
        lanes=int(t.get("lanes", 1)),
        lane_width=int(t.get("lane_bits", format.container if format else kind.width)),
        nan=rule,
        constraint=t.get("constraint", ""),
        registers=words(t["registers"]),
        summary=words(t["summary"]),
        enters=words(t.get("enters", "")),
        leaves=words(t.get("leaves", "")),
    )
    if len(context.errors) == before and kind.sort != "bool":
        if made.lane_width < kind.width + made.shift:
            message = f"a lane of {name} has {made.lane_width} bits, and {kind} needs {kind.width + made.shift}"
            context.errors.append(doc.error((*where, "lane_bits"), message))
        elif made.width not in _WIDTHS:
            message = f"{made.width} bits in all; registers have 8, 16, 32 or 64"
            context.errors.append(doc.error(where, message, key=True))
    return made


def _kind(
    doc: Document, context: Context, where: Where, t: Mapping[str, Any], formats: Mapping[str, Format | FixedPoint]
) -> Kind:
    """Return the kind of a lane: a number in a format, bits or a predicate."""
    if "format" in t:
        context.known(doc, (*where, "format"), t["format"], formats, "format")
        # Reading goes on with any format: whoever names the type made no mistake.
        return number_in(formats.get(t["format"], next(iter(formats.values()))))
    return bits_of(int(t["bits"])) if "bits" in t else BOOL
