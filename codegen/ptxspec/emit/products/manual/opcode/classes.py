"""The result of each class of operands, computed from the semantics: for one variant, and where others differ.

Each modifier and each type is represented by the variant that has it and the fewest other names. Results of several
modifiers together are not listed; modifiers act in the order that the semantics shows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .....literals import ABOUT, decimal
from .....model import Format, Kind, Variant
from .....semantics.exact.evaluate import run
from .....semantics.program import Program
from .about import About

# The operands of a row, by their number. S means both ends of the subnormal numbers, M the largest number.
_ROWS: Mapping[int, Mapping[str, Sequence[str]]] = {
    1: {
        "NaN": ["NaN"],
        "Infinity": ["+inf", "-inf"],
        "Zero": ["+0", "-0"],
        "Subnormal numbers": ["+S", "-S"],
        "Other numbers": ["-1", "+M"],
    },
    2: {
        "NaN": ["NaN +1", "+1 NaN", "NaN NaN"],
        "Infinity": ["+inf +1", "+1 +inf", "+inf +inf", "+inf -inf", "+inf +0"],
        "Zero": ["+0 +0", "+0 -0", "-0 +0", "-0 -0", "+1 +0", "+0 +1", "+1 -1"],
        "Subnormal numbers": ["+S +0", "-S +0", "-S +1"],
        "Other numbers": ["+M +M"],
    },
    3: {
        "NaN": ["NaN +1 +1", "+1 NaN +1", "+1 +1 NaN", "NaN +1 NaN"],
        "Infinity": ["+inf +1 +1", "+inf +0 +1", "+inf +1 -inf"],
        "Zero": ["+0 +1 +0", "+0 +1 -0", "-0 +1 -0", "+1 +1 -1"],
        "Subnormal numbers": ["+S +1 -0", "-S +1 -0"],
        "Other numbers": ["+M +M +1"],
    },
}


@dataclass(frozen=True)
class Class:
    """Sets of operands with the same result. `differs` has other results, each with the names that a variant has in
    addition to those of the first variant."""

    operands: Sequence[str]
    result: str
    differs: Sequence[tuple[str, Sequence[str]]]

    @property
    def many(self) -> bool:
        """Return whether the operands need more than a line or two."""
        return sum(len(names) for _, names in self.differs) > 12


@dataclass(frozen=True)
class Classes:
    """The classes of an instruction. `first` is the variant that gives the results, and `others` are compared with it;
    rows are in chapters."""

    first: Variant
    names: Sequence[str]
    others: Sequence[str]
    chapters: Sequence[tuple[str, Sequence[Class]]]


@dataclass(frozen=True)
class _Standing:
    """A variant that represents a name. `more` are its names that the first variant lacks."""

    variant: Variant
    program: Program
    more: tuple[str, ...]


def classes(about: About) -> Classes | None:
    """Return the classes of an instruction's operands; None if no variant computes only with numbers."""
    numeric = [v for v in about.instruction.variants if _is_numeric(v)]
    if not numeric:
        return None
    arity = min(len(v.sources) for v in numeric)
    numeric = [v for v in numeric if len(v.sources) == arity]
    first, *others = _standing(about, numeric)
    chapters = [
        (title, found)
        for title, texts in _ROWS[arity].items()
        if (found := _merged(row for text in texts for row in _row(text.split(), first, others)))
    ]
    names = [s.name for s in first.variant.sources]
    return Classes(first.variant, names, [o.variant.spelling for o in others], chapters)


def _is_numeric(v: Variant) -> bool:
    """Return whether a variant computes only with floats, one register each."""
    plain = all(s.kind.format and not s.registers for s in v.sources)
    return plain and len(v.sources) in _ROWS and v.computes and not v.crash and not v.means


def _merged(rows: Iterable[Class]) -> list[Class]:
    found: dict[str, Class] = {}
    for row in rows:
        key = f"{row.result}: {row.differs}"
        before = found[key].operands if key in found else ()
        found[key] = Class([*before, *row.operands], row.result, row.differs)
    return list(found.values())


def _standing(about: About, variants: Sequence[Variant]) -> list[_Standing]:
    mixed = all(len(v.types) > 1 for v in variants)
    base = min(
        variants,
        key=lambda v: (not v.listed, v.lanes > 1, mixed and v.result.type is v.sources[0].type, len(v.modifiers)),
    )
    own = set(base.names)
    found = {id(about.programs[base][None]): _Standing(base, about.programs[base][None], ())}
    for name in dict.fromkeys(n for v in variants for n in (*v.modifiers, *v.type_names)):
        if name in own:
            continue
        v = min((v for v in variants if name in v.names), key=lambda v: len(v.names - own))
        program = about.programs[v][None]
        more = tuple(n for n in v.modifiers if n not in own) + (v.type_names if v.types != base.types else ())
        found.setdefault(id(program), _Standing(v, program, more))
    return list(found.values())


def _row(operands: Sequence[str], first: _Standing, others: Iterable[_Standing]) -> list[Class]:
    """Return the row as a list, which is empty if the first variant has no such operands."""
    result = _result(operands, first)
    if result is None:
        return []
    differs: dict[str, list[tuple[str, ...]]] = {}
    for other in others:
        found = _result(operands, other)
        if found is not None and found != result:
            # A result that fewer names already give is not listed again.
            known = differs.setdefault(found, [])
            if not any(set(names) <= set(other.more) for names in known):
                known.append(other.more)
    shown = [(text, ["." + ".".join(names) for names in every]) for text, every in differs.items()]
    return [Class([", ".join(map(_shown, operands))], result, shown)]


def _shown(operand: str) -> str:
    sign = operand[0]
    return {"S": f"{sign}subnormal", "M": f"{sign}largest", "1": f"{sign}1.0", "0": f"{sign}0.0"}.get(
        operand[1:], operand
    )


def _result(operands: Sequence[str], standing: _Standing) -> str | None:
    """Return the results of a variant for classes of operands, several if members differ; None if a class has no
    member."""
    kinds = [i.kind for i in standing.program.inputs]
    columns = [_members(o, i, k.format) for i, (o, k) in enumerate(zip(operands, kinds, strict=True)) if k.format]
    if not all(columns):
        return None
    named = [
        _Named(i, s.name, o == "NaN")
        for i, (s, k, o) in enumerate(zip(standing.variant.sources, kinds, operands, strict=True))
        if o[1:] in ("S", "aN") and k == standing.program.results[0].kind
    ]
    found = [(given, run(standing.program, given)[0]) for given in itertools.product(*columns)]
    kind = standing.program.results[0].kind
    texts = dict.fromkeys(_plain(result, kind) for _, result in found)
    return (kind.format and _of_operands(found, kind.format, named)) or " or ".join(texts)


@dataclass(frozen=True)
class _Named:
    """An operand that may also be the result: its place, its name, and whether it is a NaN of either sign."""

    place: int
    name: str
    is_nan: bool


def _members(operand: str, place: int, f: Format) -> list[int]:
    """Return the members of a class of operands; empty if the format has no such number. The NaNs differ from those of
    all other places."""
    if operand == "NaN":
        return _nans(place, f)
    sign = f.sign_bit if operand[0] == "-" else 0
    if operand[0] == "-" and not f.signed:
        return []
    members: Mapping[str, Callable[[], list[int]]] = {
        "inf": lambda: [f.infinity] if f.has_infinity else [],
        "0": lambda: [0] if f.has_zero else [],
        "S": lambda: [1, f.least_normal - 1] if f.has_subnormals else [],
        "M": lambda: [f.largest],
        "1": lambda: [f.bias << f.fraction_bits],
    }
    return [sign | m for m in dict.fromkeys(members[operand[1:]]())]


def _nans(place: int, f: Format) -> list[int]:
    """Return a quiet NaN of each sign, whose payload differs from the canonical one and those of other places."""
    if f.is_ieee:
        payload = (place + 1) % f.quiet_bit or 1
        nan = f.infinity | f.quiet_bit | payload
    elif f.nans:
        nan = f.first_nan
    else:
        return []
    return [nan, nan | f.sign_bit] if f.signed else [nan]


def _of_operands(found: Sequence[tuple[Sequence[int], int]], f: Format, named: Sequence[_Named]) -> str:
    """Return what all results have in common with the named operands; empty if nothing."""
    if all(r == f.canonical_nan for _, r in found):
        return ""
    for n in named:
        if all(r == given[n.place] for given, r in found):
            return n.name
    nans = [n for n in named if n.is_nan]
    signs = {r & f.sign_bit for _, r in found}
    sign = next((n for n in nans if all(not (r ^ given[n.place]) & f.sign_bit for given, r in found)), None)
    for n in nans:
        if all(f.magnitude(r) == f.magnitude(given[n.place]) for given, r in found):
            if signs == {0}:
                return f"{n.name} without its sign"
            if all((r ^ given[n.place]) & f.sign_bit for given, r in found):
                return f"-{n.name}"
            if sign:
                return f"sign of {sign.name}, payload of {n.name}"
    magnitudes = {f.magnitude(r) for _, r in found}
    return f"{_number(magnitudes.pop(), f)} with the sign of {sign.name}" if sign and len(magnitudes) == 1 else ""


def _plain(result: int, kind: Kind) -> str:
    f = kind.format
    if kind.sort == "bool":
        return "true" if result else "false"
    if f is None:
        return str(Fraction(kind.fixed.value(result), 1 << kind.fixed.point)) if kind.fixed else f"0x{result:x}"
    if f.is_nan(result):
        return "NaN"
    sign = "-" if result & f.sign_bit else "+"
    if f.is_infinite(result):
        return sign + "inf"
    if f.is_zero(result):
        return sign + "0.0"
    if f.magnitude(result) == f.largest:
        return sign + "largest"
    if f.is_subnormal(result):
        return sign + "subnormal"
    return _number(result, f)


def _number(bits: int, f: Format) -> str:
    text = decimal(bits, f)
    return text if len(text) < 12 else f"about {float(text.lstrip(ABOUT)):.3g}"
