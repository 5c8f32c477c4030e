"""A trace for people: a block for each step that has an effect, in lines that fit a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..literals import decimal, decimal_number, describe, hex_number, hexadecimal
from ..model import BOOL, FixedPoint, Format, Kind, Operand, number_in
from ..semantics.exact.accounts import Account, Class, Extreme, Lookup, Nothing, Relation, Wrapped
from ..semantics.exact.rounding import decode
from ..semantics.exact.roundings import Neighbour, Rounding
from ..semantics.program import CONDITION
from .lines import RoundingModifiers, TraceLine

# A key and its text.
Row = tuple[str, str]

_RELATIONS = {"less": "is less than", "equal": "equals", "greater": "is greater than"}
_ORDINARY = ("a normal number", "a subnormal number")


def blocks(
    trace: Sequence[TraceLine], rules: RoundingModifiers, width: int, everything: bool, lanes: Sequence[str]
) -> list[str]:
    """Return the lines of a trace, with an empty line before each step. `lanes` are headings, for packed types only."""
    found: list[str] = []
    seen = -1
    for line in trace:
        if not (everything or line.has_effect):
            continue
        if lanes and line.lane != seen:
            found += ["", *wrapped(f"lane {line.lane}:", lanes[line.lane], 0, "  ", width)]
        seen = line.lane
        found += ["", *_block(line, rules, width, everything)]
    folded = 0 if everything else sum(not line.has_effect for line in trace)
    if folded:
        found += ["", f"  {folded} more step{'s' * (folded != 1)} changed nothing: --trace=all"]
    return found


def lane_heading(sources: Sequence[Operand], lane: int, operands: Sequence[int]) -> str:
    """Return a lane's part of the operands, as text."""
    told = []
    for o, bits in zip(sources, operands, strict=True):
        places = f" bits {_ranges(o.lane_bits[lane])}" if o.lane_bits else ""
        told.append(f"{o.name}{places} = {describe(bits, o.kind)}")
    return ", ".join(told)


def _ranges(bits: Sequence[int]) -> str:
    """Return places in a register in the notation of `lane_bits`: `31..24 15..8`."""
    runs: list[list[int]] = []
    for b in bits:
        run = runs[-1] if runs else []
        if run and abs(b - run[-1]) == 1 and (len(run) == 1 or b - run[-1] == run[-1] - run[-2]):
            run.append(b)
        else:
            runs.append([b])
    return " ".join(f"{run[0]}..{run[-1]}" for run in runs)


def _block(line: TraceLine, rules: RoundingModifiers, width: int, everything: bool) -> list[str]:
    head = f"  {line.stage}  {line.path}:{line.line}"
    if len(head) + 2 + len(line.text) <= width:
        found = [f"{head}  {line.text}"]
    else:
        found = [head, *textwrap.wrap(line.text, width, initial_indent="      ", subsequent_indent="        ")]
    rows = _rows(line, rules, everything)
    column = max(len(key) for key, _ in rows)
    for key, text in rows:
        found += wrapped(key, text, column, "    ", width)
    return found


def wrapped(key: str, text: str, column: int, indent: str, width: int) -> list[str]:
    """Return the lines of a text, wrapped after its key. The key has a column of this width; 0 means no column."""
    start = f"{indent}{key:{column}}{'  ' if column else ' '}"
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False)


def _rows(line: TraceLine, rules: RoundingModifiers, everything: bool) -> list[Row]:
    changed = line.before is not None and line.before != line.after
    rows: list[Row] = []
    if changed and line.before is not None:
        rows.append(("was", describe(line.before, line.kind) + _classified(line, line.before)))
    for e in line.why:
        if everything or e == line.why[-1] or not _says_nothing(e.account):
            elsewhere = f"{e.path}:{e.line}  " if (e.path, e.line) != (line.path, line.line) else ""
            for i, (key, text) in enumerate(_account(e.account, rules, line)):
                rows.append((key, text if i else elsewhere + text))
    name = "holds" if line.name == CONDITION else line.name
    rows.append((name, describe(line.after, line.kind) + _ending(line, changed)))
    return list(dict.fromkeys(rows))


def _classified(line: TraceLine, bits: int) -> str:
    """Return the class of the value that the code asked about, after a comma; empty if no class was asked or it is
    neither normal nor subnormal."""
    found = [
        e.account.found for e in line.why
        if isinstance(e.account, Class) and (e.account.bits, e.account.kind) == (bits, line.kind)
    ]  # fmt: skip
    return f", {found[0]}" if found and found[0] in _ORDINARY else ""


def _ending(line: TraceLine, changed: bool) -> str:
    last = line.why[-1].account if line.why else None
    if isinstance(last, Rounding) and last.choice == "exact" and last.exact.value is not None:
        return ", exactly" if last.result == line.after and last.value else ""
    return "" if changed or line.before is None else ", as before"


def _says_nothing(a: Account) -> bool:
    """Return whether this is an intermediate step that leaves a value unchanged."""
    if isinstance(a, Rounding):
        return a.choice == "exact" and not a.exact.note
    return isinstance(a, Extreme) and a.result in a.values[:1]


def _account(a: Account, rules: RoundingModifiers, line: TraceLine) -> Iterator[Row]:
    if isinstance(a, Rounding):
        yield from _rounding(a, rules)
    elif isinstance(a, Nothing):
        yield "NaN", f"{a.reason}" + (": 0" if a.kind.fixed else "")
    elif isinstance(a, Relation):
        yield "compared", _relation(a)
    elif isinstance(a, Class):
        if a.bits != line.before:
            yield a.name or "asked", describe(a.bits, a.kind) + (f", {a.found}" if a.found in _ORDINARY else "")
    elif isinstance(a, Extreme):
        x, y = (short(v, a.kind) for v in a.values)
        result = f"{short(a.result, a.kind)} {hexadecimal(a.result, a.kind.width)}"
        yield a.function, f"of {x}, {y}: {a.nans or result}"
    elif isinstance(a, Wrapped):
        yield (
            "exact",
            f"{a.exact}, which is no {a.kind}: modulo 2^{a.kind.width}",
        )
    else:
        yield from _lookup(a)


def _relation(a: Relation) -> str:
    x, y = (f"{name} {short(v, a.kind)}".strip() for name, v in zip(a.names, a.values, strict=True))
    return f"{x} {_RELATIONS[a.holds]} {y}" if a.holds in _RELATIONS else f"{x} and {y} are unordered"


def _lookup(a: Lookup) -> Iterator[Row]:
    first, last = a.model.within
    where = first if first == last else f"{first} to {last}"
    if a.reading is None:
        yield a.model.unit, f"of {where}: {short(a.operand, a.kind)} has a result of its own in its table"
        return
    r = a.reading
    value = Fraction(r.polynomial, 1 << a.model.point)
    yield a.model.unit, f"of {where}: segment {r.segment}, place {r.place} in it, scale 2^{r.scale}"
    yield "table", "C0, C1, C2 = " + ", ".join(map(str, r.coefficients))
    yield "sum", f"{hex_number(value)}, scaled and cut off to {a.model.precision} bits"


def _rounding(a: Rounding, rules: RoundingModifiers) -> Iterator[Row]:
    value = a.value
    if value is None:
        if a.exact.note:
            yield "exact", f"{'-' if a.exact.negative else '+'}inf: {a.exact.note}"
        elif a.choice == "end":
            yield "exact", f"{'-' if a.exact.negative else '+'}inf, {_range(a.to)}"
        return
    if a.choice == "exact":
        if a.exact.note:
            name, place = rules.modes.get(a.mode, ("", ""))
            negative = a.exact.negative
            yield "exact", a.exact.note
            rule = f"{a.mode}: such a zero is {'-0.0' if negative else '+0.0'}"
            yield (name, f"{place}  {rule}") if place else ("rounding", rule)
        return
    yield "exact", _exact(a, value)
    if a.choice == "flushed":
        name, place = rules.flush or ("flush", "")
        yield name, f"{place}  a subnormal result becomes a zero of its sign".strip()
        return
    if a.choice == "end":
        yield "range", _range(a.to)
        return
    for key, n in (("below", a.below), ("above", a.above)):
        if n is not None:
            yield key, _neighbour(n, a.to)
    if a.exact.random is not None:
        if a.place is not None:
            yield "random", _random(a, a.place, a.exact.random)
    else:
        name, place = rules.modes.get(a.mode, ("", ""))
        yield (name, f"{place}  {_rule(a)}") if place else ("rounding", _rule(a))
    if a.choice == "overflow":
        yield "overflow", f"too large for {a.to.name}: {short(a.result, number_in(a.to))}"
    if a.ftz and a.is_tiny and rules.flush:
        yield rules.flush[0], f"{rules.flush[1]}  no flush: rounded with any exponent it is a normal number"


def _exact(a: Rounding, value: Fraction) -> str:
    """Return the exact value as text, and its position."""
    to = a.to
    precision = to.precision if isinstance(to, Format) else to.width
    lead = {"equal": "", "about": "", "above": "beyond ", "below": "nearer to 0 than "}[a.exact.nearness]
    digits, hex_digits = max(12, precision * 3 // 5 + 1), max(12, (precision + 1) // 2)
    text = f"{lead}{decimal_number(value, digits)} {hex_number(value, hex_digits)}"
    if a.exact.nearness == "about" and "..." not in text:
        text += "..."
    if a.exact.nearness in ("above", "below") or a.choice == "end":
        return text
    if a.place is not None:
        text += f", {_part(a.place)} of the way up"
    elif isinstance(to, Format) and abs(value) > decode(to.largest, to):
        text += f", beyond the largest number, {decimal(to.largest, to)}"
    if a.choice == "flushed" and isinstance(to, Format):
        least = hex_number(decode(to.least_normal, to))
        size = " in size" if a.exact.negative else ""
        text = text.partition(", ")[0] + f", below the least normal {least}{size}"
    return text


def _neighbour(n: Neighbour, to: Format | FixedPoint) -> str:
    if n.bits is not None:
        return describe(n.bits, number_in(to))
    value = decimal_number(n.value, 12) if isinstance(to, Format) else str(n.value)
    return f"{value}, which {to.name} does not have"


def _part(place: Fraction) -> str:
    """Return a fraction of the gap as text that shows whether it is a tie."""
    for base in (Fraction(0), Fraction(1, 2), Fraction(1)):
        off = place - base
        if 0 < abs(off) < Fraction(1, 1000):
            near = f"{float(abs(off)):.2g}"
            return f"{_plain(base)} {'+' if off > 0 else '-'} {near}" if base else near
    return _plain(place)


def _plain(place: Fraction) -> str:
    if place == Fraction(1, 2):
        return "1/2"
    return f"{float(place):.4g}"


def _rule(a: Rounding) -> str:
    """Return the reason why the result is this neighbour."""
    side = "above" if a.choice == "overflow" and not a.exact.negative else a.choice
    if side == "overflow":
        side = "below"
    if isinstance(a.to, Format) and not a.to.has_zero and a.below is not None and a.below.bits is None:
        return f"{a.to.name} has no zero: its smallest number"
    if a.mode == "roundTowardZero":
        return f"{a.mode}: the nearer to zero, {side}"
    if a.mode not in ("roundTiesToEven", "roundTiesToAway"):
        return f"{a.mode}: the one {side}"
    if not a.is_tie:
        return f"{a.mode}: the nearer one, {side}"
    winner = "the even one" if a.mode == "roundTiesToEven" else "away from zero"
    return f"a tie, {a.mode}: {winner}, {side}"


def _random(a: Rounding, place: Fraction, random: Fraction) -> str:
    """Return how the random bits decided the rounding."""
    part = 1 - place if a.exact.negative else place
    went = "1 or more, away from zero" if part + random >= 1 else "less than 1, toward zero"
    return f"{_part(part)} to be cut off + {float(random):.6g} from the random bits: {went}"


def _range(to: Format | FixedPoint) -> str:
    assert isinstance(to, FixedPoint)
    low, high = (Fraction(end, 1 << to.point) for end in (to.least, to.largest))
    return f"{to.name} ends at {low} and {high}"


def short(bits: int, kind: Kind) -> str:
    """Return a value as text for a sentence."""
    if kind == BOOL:
        return "true" if bits else "false"
    if kind.fixed is not None:
        return str(Fraction(kind.fixed.value(bits), 1 << kind.fixed.point))
    f = kind.format
    if f is None:
        return hexadecimal(bits, kind.width)
    if f.is_nan(bits):
        return "NaN"
    return f"{'+' if f.is_infinite(bits) and not bits & f.sign_bit else ''}{decimal(bits, f)}"
