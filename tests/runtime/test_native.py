"""Kernels in C give the same bits as NumPy's and as MPFR's."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import ptxemu
import pytest
from helpers import groups, mixed, repository
from helpers.accelerating import OPCODES, WITH_C, Function, add, built, functions, skip_without_a_compiler
from helpers.grids import moderate, pairs, small, special, triples
from helpers.project import copied
from helpers.sizes import each_size, spread
from oracles import judge
from ptxemu import accelerator, arithmetic, comparison, compiling, encoding
from ptxemu.binary import DIRECTIONS, Array, Format
from ptxemu.signature import Signature
from ptxspec.emit import native
from ptxspec.emit.generate import generate
from ptxspec.emit.lowering import shared

pytestmark = pytest.mark.inputs("emulator")

skip_without_a_compiler()

Compiled = Callable[[str], dict[str, accelerator.Native]]


def grid(f: Format, operands: int) -> list[Array]:
    fields = f.exponent_bits, f.fraction_bits
    if operands == 1:
        return [special(*fields)]
    return pairs(special(*fields)) if operands == 2 else triples(small(*fields))


def operands(s: Signature, random: int) -> list[Array]:
    """Of floats of one format special values in all combinations and any; of other operands what a kernel is tried on,
    over and over."""
    formats = {o.type.number for o in s.sources}
    if s.flat and len(formats) == 1 and isinstance(f := formats.pop(), Format) and f.name in judge.FIELDS:
        some = judge.random_operands(f.name, len(s.sources), random)
        columns = zip(grid(f, len(s.sources)), some, strict=True)
        lanes = [np.concatenate(c) for c in columns]
        return [x[: x.size // s.lanes * s.lanes].view(t.bits) for x, (_, t) in zip(lanes, s.registers, strict=True)]
    return accelerator.trial([t for _, t in s.registers], random)


def assert_same(name: str, function: Function, kernel: accelerator.Native, random: int) -> None:
    s = function.signature
    columns = operands(s, random)
    with np.errstate(all="ignore"):
        want = s.apply(function.apply, *columns)
    got = [np.empty_like(w) for w in want]
    kernel([*columns, *got], s.lanes if s.flat else 1, len(s.results))
    for g, w in zip(got, want, strict=True):
        wrong = np.flatnonzero(g != w)
        shown = [tuple(hex(int(x[i])) for x in (*columns, g, w)) for i in wrong[:3]]
        assert not wrong.size, f"{name}: {wrong.size} of {g.size} differ from NumPy's: {shown}"


@pytest.mark.usefixtures("fresh")
def test_pieces_of_ordinary_operands_and_of_others_are_filled_wherever_they_begin_and_end() -> None:
    kernel, rng = ptxemu.compile("div.rz.f32"), np.random.default_rng(3)
    a, b = (moderate(rng, 6000, 8, 23) for _ in range(2))
    assert kernel.is_in_c
    for odd in (None, 0x00000001, 0x7F7FFFFF, 0x7FC00001):
        for size in (1, 31, 33, 255, 256, 257, 4095, 4096, 4097, 5000):
            for first in (0, 1, 15):
                x, y = a[first : first + size].copy(), b[first : first + size]
                x[rng.integers(size)] = x[0] if odd is None else odd
                place = np.zeros(size + 40, np.uint32)
                filled = place[first : first + size]
                kernel(x, y, out=filled, threads=1)
                with np.errstate(all="ignore"):
                    assert (filled == kernel._function(x, y)).all()
                assert not place[:first].any() and not place[first + size :].any()


# So many functions are compiled where not all are.
SOME = 12


@pytest.mark.usefixtures("fresh")
def test_some_kernels_give_numpys_bits() -> None:
    has = accelerator.exported("cvt")
    some = dict(spread([(name, f) for name, f in functions("cvt").items() if name in has], SOME))
    kernels = accelerator.load("cvt", {name: tuple(f) for name, f in some.items()}, "some of cvt")
    for name, function in some.items():
        assert_same(name, function, kernels[name], 1 << 12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", WITH_C)
def test_every_kernel_gives_numpys_bits_for_many_operands(opcode: str, compiled: Compiled) -> None:
    kernels = compiled(opcode)
    for name, function in functions(opcode).items():
        if name in kernels:
            assert_same(name, function, kernels[name], 1 << 18)


def check_against_mpfr(group: tuple[str, frozenset[str], str, int], size: int) -> None:
    for spelling in groups.GROUPS[group]:
        assert ptxemu.compile(spelling, group[3])._native is not None, spelling
    groups.check(group, list(judge.random_operands(group[2], group[3], size)))


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("group", sorted(groups.IN_ORDER[::9], key=lambda g: -g[3]), ids=groups.ids)
def test_kernels_give_mpfrs_bits(group: tuple[str, frozenset[str], str, int]) -> None:
    check_against_mpfr(group, 1 << 12)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("group", groups.IN_ORDER, ids=groups.ids)
def test_every_kernel_gives_mpfrs_bits(group: tuple[str, frozenset[str], str, int]) -> None:
    check_against_mpfr(group, 1 << 18)


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("group", list(mixed.GROUPS)[::8], ids=mixed.ids)
def test_kernels_of_several_types_give_mpfrs_bits(group: mixed.Group) -> None:
    operands = mixed.operands(group, 1 << 12)
    # A function is compiled here for the types of the first variant that it computes: padded numbers share another's.
    for spelling in (s for s in mixed.GROUPS[group] if "e2m1p4x4" not in s):
        assert ptxemu.compile(spelling, len(operands))._native is not None, spelling
    mixed.check(group, operands)


# Formats that PTX does not have, which a specification may add: each takes another way through the C.
OTHERS = [Format("e3m4", 3, 4, 0x7F), Format("e4m11", 4, 11, 0x7FFF), Format("e7m8", 7, 8, 0x7FFF)]
ROUNDED = {
    "addition": 2, "subtraction": 2, "multiplication": 2, "division": 2, "squareRoot": 1, "fusedMultiplyAdd": 3,
}  # fmt: skip
OPERATIONS = {**vars(arithmetic), **vars(comparison), **vars(encoding)}
OF_BITS = {"maximum": 2, "minimumNumber": 2, "compareLess": 2, "compareNotEqual": 2, "isSubnormal": 1, "isSignaling": 1}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("f", [*OTHERS, Format("e10m21", 10, 21, 0x7FFFFFFF)], ids=lambda f: f.name)
def test_formats_that_ptx_does_not_have(f: Format, tmp_path: Path) -> None:
    text = '#include "formats.h"\n#include "kernel.h"\n'
    text += f"#define FORMAT {f.name}\n#define EXPONENT_BITS {f.exponent_bits}\n"
    text += f"#define FRACTION_BITS {f.fraction_bits}\n#define CANONICAL_NAN {f.canonical_nan}\n"
    text += '#include "operations.h"\n'
    cases: list[tuple[str, str, int, tuple[Any, ...]]] = [(name, name, n, (f,)) for name, n in OF_BITS.items()]
    if f.carrier is not None:
        for name, n in ROUNDED.items():
            for mode in DIRECTIONS:
                cases += [(f"{name}_{mode}_{int(ftz)}", name, n, (f, mode, ftz)) for ftz in (False, True)]
    for case, name, n, (_, *how) in cases:
        unsigned = f"uint{f.width}_t"
        arguments = ", ".join(["a", "b", "c"][:n] + [str(int(h)) if isinstance(h, bool) else h for h in how])
        operands = ", ".join(f"{unsigned} {x}" for x in "abc"[:n])
        result = "uint8_t" if name.startswith(("is", "compare")) else unsigned
        text += f"LANE({case}, {result}, roundTiesToEven, {operands}) {{ return {name}_{f.name}({arguments}); }}\n"
        arrays = ", ".join(f"const {unsigned} *{x}" for x in "abc"[:n])
        names = ", ".join("abc"[:n])
        lane = ", ".join(f"{x}[i]" for x in "abc"[:n])
        text += f"KERNEL({case}, {case}, ({arrays}, {result} *d), ({names}, d), d[i] = {case}({lane});)\n"
    library = ctypes.CDLL(built(tmp_path, text, "-O1"))
    for case, name, n, how in cases:
        columns = grid(f, n)
        with np.errstate(all="ignore"):
            want = OPERATIONS[name](*columns, *how)
        got = np.empty_like(want)
        getattr(library, f"{case}_run")(
            ctypes.c_size_t(got.size), *(ctypes.c_void_p(x.ctypes.data) for x in [*columns, got])
        )
        np.testing.assert_array_equal(got, want, err_msg=case)


EXACTLY: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "rSqrt": lambda x: 1 / mpmath.sqrt(x),
}


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", EXACTLY)
def test_intervals_of_elementary_functions_hold_eight_times_the_error(name: str, tmp_path: Path) -> None:
    """float32 operands of every size, near the functions' zeros, and where the reduced argument is largest."""
    loop = f"for (size_t i = 0; i < n; i++) {{ interval e = between_{name}(a[i]); low[i] = e.low; high[i] = e.high; }}"
    text = '#include <stddef.h>\n#include "formats.h"\n'
    text += f"void ends(size_t n, const double *a, double *low, double *high) {{ {loop} }}\n"
    rng = np.random.default_rng(11)
    with np.errstate(all="ignore"):
        some = rng.integers(0, 1 << 32, 1000, np.uint64).astype(np.uint32).view(np.float32)
        k = np.arange(1, 500)
        parts = [k * np.pi / 2, k / 32, 1 + k * 2.0**-23, 1 - k * 2.0**-24, k * np.log(2) / 4, k - 0.5, np.sqrt(2) * k]
        x = np.concatenate([some, *parts]).astype(np.float32).astype(np.float64)
    x = np.concatenate([x, -x])
    limits = {"exp2": 255, "tanh": 19}
    x = x[np.isfinite(x) & (x != 0) & (np.abs(x) < limits.get(name, np.inf))]
    x = np.abs(x) if name in ("log2", "rSqrt") else x
    low, high = np.empty_like(x), np.empty_like(x)
    run = ctypes.CDLL(built(tmp_path, text)).ends
    run(ctypes.c_size_t(x.size), *(ctypes.c_void_p(v.ctypes.data) for v in (x, low, high)))
    with mpmath.workprec(300):
        for operand, one, other in zip(x.tolist(), low.tolist(), high.tolist(), strict=True):
            margin = abs(mpmath.mpf(other) - one) / 2
            error = abs((mpmath.mpf(other) + one) / 2 - EXACTLY[name](mpmath.mpf(operand)))
            assert 8 * error <= margin, operand.hex()


@each_size
def test_what_has_no_c_is_what_the_emitter_declines(whole: bool) -> None:
    every = list(repository.checked().values())
    for c in every if whole else spread(every, 4):
        # Programs that are the same in NumPy have one function, and one in C.
        served = functions(c.instruction.opcode)
        has = {f.name for f in shared(c).values() if f.name in served and not native.why_not(f.program)}
        assert accelerator.exported(c.instruction.opcode).keys() == has
        assert has or c.instruction.opcode not in WITH_C
    assert set(WITH_C) == set(OPCODES)


@pytest.mark.exhaustive
def test_variables_may_be_called_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: Path) -> None:
    root = copied(tmp_path / "project", ("add",))
    path = root / "spec/instructions/add.yaml"
    strange = ["double = addition(a, b, type)", "double_ = -double", "PI = -double_", "undecided = -PI"]
    strange += ["addition_f32 = -undecided", "d = addition_f32"]
    plain = re.compile(r"^( +)d = addition\(a, b, type\)\n", re.MULTILINE)
    text, count = plain.subn(lambda m: "".join(f"{m[1]}{line}\n" for line in strange), path.read_text("utf-8"))
    assert count
    path.write_text(text, "utf-8")
    generate(root)
    sources = root / "generated/python/ptxemu/native"
    monkeypatch.setattr(compiling, "SOURCES", str(sources))
    assert "v_double = addition" in (sources / "add.c").read_text("utf-8")
    assert add() is not None


def test_the_sources_are_part_of_the_package() -> None:
    names = {p.name for p in Path(compiling.SOURCES).iterdir()}
    assert {"operations.h", "rounding.h", "kernel.h", "formats.h"} <= names
    assert {f"{opcode}.c" for opcode in WITH_C} <= names
