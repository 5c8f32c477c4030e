"""The results that variants must return on some operands, found without the specification by the judges of oracles/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import ptxemu
from helpers import comparing, integers, mixed as mixed_groups
from helpers.groups import grid
from oracles import conversions, integers as definition, judge, mixed, narrow, rationals, relations
from ptxspec.model import Format, Spec, Variant
from ptxspec.recipes.proof import Prover
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.evaluate import run
from ptxspec.semantics.program import Const, Program, Term, Var

# Encodings of one lane's operands, and of its results.
Row = tuple[tuple[int, ...], tuple[int, ...]]
_COUNT = 240
# The functions of the manual's approximations.
_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "ex2": "exp2", "lg2": "log2", "tanh": "tanh", "rsqrt": "rSqrt", "sqrt": "squareRoot",
    "rcp": "division", "div": "division",
}  # fmt: skip


def _spread(columns: Sequence[Any], count: int = _COUNT) -> list[Any]:
    """So many rows, from everywhere among them."""
    size = len(columns[0])
    if size <= count:
        return list(columns)
    chosen = np.sort(np.random.default_rng(size).permutation(size)[:count])
    return [c[chosen] for c in columns]


def _rows(columns: Sequence[Any], results: Sequence[Any]) -> list[Row]:
    bits = [[int(x) for x in c] for c in columns]
    found = [[int(x) for x in r] for r in results]
    return list(zip(zip(*bits, strict=True), zip(*found, strict=True), strict=True))


@cache
def rows(spelling: str, operands: int) -> tuple[Row, ...]:
    """Nothing where nobody outside says every bit."""
    if mixed.judged(spelling):
        key = next((k for k, found in mixed_groups.GROUPS.items() if spelling in found), None)
        columns = _spread(mixed_groups.operands(key, 2 * _COUNT)) if key else []
        return tuple(_rows(columns, [mixed.expected(spelling, columns)])) if key else ()
    if judge.judged(spelling):
        type_ = judge.lane(judge.DEFAULTS.get(spelling, spelling).rpartition(".")[2])
        type_ = "f32" if type_ == "f32x2" else type_
        columns = _spread(grid(type_, operands))
        more = judge.random_operands(type_, operands, _COUNT)
        columns = [np.concatenate(c) for c in zip(columns, more, strict=True)]
        return tuple(_rows(columns, [judge.expected(spelling, columns)]))
    if spelling in narrow.without_negative_zeros():
        x = _spread([conversions.operands(spelling.replace(".pzo", ""), 2 * _COUNT)])[0]
        return tuple(_rows([x], [narrow.expected_without(spelling, x)]))
    if conversions.is_scalar(spelling):
        x = _spread([conversions.operands(spelling, 4 * _COUNT)], 2 * _COUNT)[0]
        return tuple(_rows([x], [conversions.expected(spelling, x)]))
    if (spelling, operands) in narrow.spellings():
        c = narrow.conversion(spelling, operands)
        x = _spread([narrow.operands(c.source, c.to, 2000)])[0]
        scale = narrow.scales(x.size)
        want = narrow.expected(spelling, x, scale)
        return tuple(_rows([x, scale] if c.scaling else [x], [want]))
    return tuple(_approximations(spelling))


def _approximations(spelling: str) -> Iterator[Row]:
    """Of finite numbers the correctly rounded result. Divisors are moderate: .approx loses other reciprocals."""
    opcode, *names = spelling.split(".")
    format_ = names[-1].removesuffix("x2")
    if opcode not in _FUNCTIONS or format_ not in ("f32", "f16", "bf16") or not {*names} & {"approx", "full", "f32"}:
        return
    ftz = "ftz" in names or (len(names) == 1 and format_ == "f32")
    e, f = judge.FIELDS[format_]
    columns = judge.random_operands(format_, 2 if opcode == "div" else 1, _COUNT)
    for operands in zip(*columns, strict=True):
        numbers = [rationals.value_of(int(x), format_) for x in operands]
        if any(x is None or not (2.0**-100 < abs(x) < 2.0**100) for x in numbers):
            continue
        if opcode in ("lg2", "rsqrt", "sqrt"):
            numbers = [abs(x) for x in numbers if x is not None]
            operands = tuple(int(x) & ((1 << (e + f)) - 1) for x in operands)
        if opcode == "rcp":
            numbers = [rationals.Fraction(1), *numbers]
        if opcode == "ex2" and abs(numbers[0] or 0) > 2 ** (e + 1):
            continue
        value = rationals.of(_FUNCTIONS[opcode], [x for x in numbers if x is not None])
        result = rationals.rounded(value, format_, "roundTiesToEven", ftz)
        if result is not None and result != 0:
            yield tuple(map(int, operands)), (_encoded(result, format_),)


def _encoded(x: Any, format_: str) -> int:
    e, f = judge.FIELDS[format_]
    from oracles.mpfr import encode

    return int(encode(np.array([float(x)]), e, f)[0])


@cache
def registers(v: str, operands: int) -> tuple[Row, ...]:
    """Of integers and comparisons: registers, and the result's."""
    found = next((w for w in integers.VARIANTS if w.spelling == v and w.operands == operands), None)
    if found is None:
        return ()
    sources = integers.registers(found)
    return tuple((r, (definition.expected(v, found.result, sources, r),)) for r in integers.rows_of(found, 60))


@cache
def compared(v: str, operands: int, judged: str) -> tuple[Row, ...]:
    """Lanes of comparisons and selections, with the q of p|q; `judged` is the spelling with what a target implies."""
    found = next((w for g in comparing.GROUPS.values() for w in g if (w.spelling, w.operands) == (v, operands)), None)
    if found is None:
        return ()
    columns = _spread(comparing.operands(found))
    return tuple(_rows(columns, relations.expected(judged, columns)))


def of(v: Variant, target: str | None, spec: Spec) -> tuple[Row, ...]:
    """Rows for a program of a variant; a few are of targets, which flush or fuse."""
    spelling = v.spelling
    if target is not None:
        order = spec.targets[target].order
        if order <= spec.targets["sm_13"].order:
            if (
                not v.names & {"f32", "f32x2"}
                or "ftz" in v.modifiers
                or v.opcode in ("copysign", "testp", "selp", "mov")
            ):
                return ()
            if v.opcode == "cvt":
                # What becomes of a NaN there is nobody's promise.
                return ()
            names = spelling.split(".")
            spelling = ".".join([*names[: -len(v.types)], "ftz", *names[-len(v.types) :]])
        elif v.opcode == "mad":
            spelling = spelling.replace("mad.", "mad.rn.")
        else:
            return ()
    return rows(spelling, v.operands) or compared(v.spelling, v.operands, spelling)


@cache
def published(spelling: str, target: str) -> tuple[Row, ...]:
    """Return the emulator's results where it has all those of a published model: gpu/test_published.py holds it against
    the digests of that model."""
    kernel = ptxemu.compile(spelling, target=target)
    rng = np.random.default_rng(9)
    # Angles, subnormal numbers, and what a scale moves over the ends.
    near = rng.integers(0x3A000000, 0x43000000, 3 * _COUNT, dtype=np.uint32)
    ends = np.concatenate([rng.integers(0, 0x01000000, _COUNT), rng.integers(0x7D000000, 0x7F800000, _COUNT)])
    x = np.concatenate([near, near | np.uint32(1 << 31), ends.astype(np.uint32)])
    columns = [x, rng.permutation(near.repeat(3))[: x.size]] if kernel.operands == 2 else [x]
    return tuple(_rows(columns, [kernel(*columns)]))


def differing(spec: Spec, found: Mapping[Variant, Mapping[str | None, Program]], known: Mapping[Any, Any]) -> str:
    """The first wrong result of programs that are not those known. `known` are the programs of each form."""
    seen: set[object] = set()
    compiler = Compiler(spec)
    prover = Prover(spec, compiler)
    for v, programs in found.items():
        before = known.get(v.form, {})
        for target in {**before, **programs}:
            program = programs.get(target, programs[None])
            if _shape(program) == _shape(before.get(target, before.get(None))):
                continue
            approximate = target is not None and ptxemu_follows(v.spelling, target)
            given = published(v.spelling, target) if approximate and target else of(v, target, spec)
            key = id(program), id(given)
            if key in seen:
                continue
            seen.add(key)
            for operands, wanted in given if len(program.inputs) == len(given[0][0] if given else ()) else ():
                shift = v.result.type.shift
                got = tuple(x << shift for x in run(program, operands)[: len(wanted)])
                if got != wanted:
                    return _told(v, target, operands, got, wanted)
        if _shape(programs[None]) != _shape(before.get(None)):
            for operands, wanted in registers(v.spelling, v.operands):
                (got,) = prover.run_variant(v, [operands])
                if got != wanted:
                    return _told(v, None, operands, got, wanted)
    return ""


_SHAPES: dict[int, tuple[Program, object]] = {}


def _shape(program: Program | None) -> object:
    """Return a key that tells what a program does, whichever reading of the specification it is of."""
    if program is None:
        return None
    if id(program) not in _SHAPES:
        lets = tuple((let.name, _term(let.value)) for let in program.lets)
        _SHAPES[id(program)] = program, (lets, tuple(map(_term, program.results)), tuple(map(_term, program.inputs)))
    return _SHAPES[id(program)][1]


def _term(t: Term) -> object:
    about = t.kind.sort, t.kind.width, t.kind.fixed, _format(t.kind.format)
    if isinstance(t, Const):
        return about, t.value
    if isinstance(t, Var):
        return about, t.name
    model = t.model and (t.model.unit, t.model.within)
    return about, t.function, t.mode, t.ftz, t.count, _format(t.format), model, tuple(map(_term, t.arguments))


@cache
def _format(f: Format | None) -> object:
    return f and tuple(sorted((n, str(x)) for n, x in vars(f).items() if not n.startswith("_")))


@cache
def ptxemu_follows(spelling: str, target: str) -> bool:
    """Return whether a published model says what the variant returns on a target."""
    try:
        return ptxemu.compile(spelling, target=target).claim == "reported"
    except (LookupError, ValueError):
        # A mutant may have spellings that there are not, or on other targets.
        return False


def _told(v: Variant, target: str | None, operands: Sequence[int], got: Sequence[int], wanted: Sequence[int]) -> str:
    on = f" on {target}" if target else ""
    return f"{v}{on} of {[*map(hex, operands)]} is {[*map(hex, got)]}, not {[*map(hex, wanted)]}"
