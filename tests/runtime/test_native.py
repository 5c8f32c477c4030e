"""Kernels in C give NumPy's bits, refuse what NumPy's refuse, and are never those of another specification."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import extension, groups, mixed, repository
from helpers.control import DIRECTIONS, left, needs_x86
from helpers.grids import pairs, small, special, triples
from helpers.layouts import LAYOUTS
from helpers.project import copied
from helpers.sizes import each_size, spread
from numpy.typing import NDArray
from oracles import judge
from ptxemu import native
from ptxemu.binary import Format
from ptxemu.rows import rows_of
from ptxemu.signature import Signature, Type
from ptxspec.emit import native as emitted
from ptxspec.emit.generate import generate
from ptxspec.emit.lowering import shared

pytestmark = pytest.mark.inputs("emulator", "native")

# What `pytest` builds, without optimization: arithmetic, predicates, packed lanes, and results that NumPy decides.
FEW = ("add", "testp", "selp", "lg2")
# What has two ways, of which a processor takes one.
EASED = ("mul", "rcp", "sqrt")


InC = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def few(in_c: InC) -> Iterator[None]:
    with in_c(*FEW, flags="-O0"):
        yield


def trial(types: list[Type], size: int) -> list[NDArray[Any]]:
    """Registers of any patterns, of such at the edges of formats, and of numbers of moderate size."""
    rng, columns = np.random.default_rng(size), []
    for t in types:
        lanes = []
        for _ in range(t.lanes):
            noise = rng.integers(0, 1 << 63, size, np.uint64)
            edges = np.array(edge_patterns(t), np.uint64)
            third = size // 3
            noise[:third] = edges[noise[:third] % np.uint64(edges.size)]
            if isinstance(f := t.number, Format):
                exponents = (noise[third : 2 * third] >> np.uint64(f.fraction_bits)) % np.uint64(f.bias - 1)
                exponents += np.uint64(f.bias - f.bias // 2)
                rest = noise[third : 2 * third] & ~np.uint64(f.infinity)
                noise[third : 2 * third] = rest | exponents << np.uint64(f.fraction_bits)
            lanes.append((noise & np.uint64((1 << t.width) - 1)).astype(t.lane))
        columns.append(t.pack(lanes))
    return columns


def edge_patterns(t: Type) -> list[int]:
    f, top = t.number, 1 << (t.width - 1)
    if isinstance(f, Format):
        one, last, least = f.bias << f.fraction_bits, int(f.infinity), int(f.smallest_normal)
        edges = [0, 1, least - 1, least, least + 1, one // 2, one - 1, one, one + 1, last - 1, last, last + 1]
    else:
        edges = [0, 1, 2, 3, top // 2, top - 1, top // 3, *((1 << i) - 1 for i in range(8, t.width, 8))]
    return edges + [e | top for e in edges]


def operands(s: Signature, size: int) -> list[NDArray[Any]]:
    """Of floats of one format special values in all combinations and any; of other operands `trial`."""
    formats = {o.type.number for o in s.sources}
    if s.flat and len(formats) == 1 and isinstance(f := formats.pop(), Format) and f.name in judge.FIELDS:
        count, of = len(s.sources), (f.exponent_bits, f.fraction_bits)
        grid = [special(*of)] if count == 1 else pairs(special(*of)) if count == 2 else triples(small(*of))
        some = judge.random_operands(f.name, count, size)
        lanes = [np.concatenate(c) for c in zip(grid, some, strict=True)]
        return [x[: x.size // s.lanes * s.lanes].view(t.bits) for x, (_, t) in zip(lanes, s.registers, strict=True)]
    return trial([t for _, t in s.registers], size)


def differing(opcode: str, size: int, rows: int | None = None) -> list[str]:
    """The kernels of an opcode, or so many of them, whose bits are not NumPy's."""
    wrong, every = [], rows_of(opcode)
    for row in spread(every, rows or len(every)):
        for target in (None, *row.group.claims.get("reported", ())[:1]):
            kernel = ptxemu.compile(row.spelling, row.operands, target)
            s = kernel._signature
            for n, ufunc in enumerate(kernel._ufuncs, 1):
                if ufunc is None:
                    continue
                columns = operands(s, size)
                count = len(s.places[n - 1])
                want = [np.empty(columns[0].shape, t.bits) for _, t in s.places[n - 1]]
                with np.errstate(all="ignore"):
                    made = s.apply(kernel._choice[0], *columns)[:count]
                for w, m in zip(want, made, strict=True):
                    w[...] = m
                got = ufunc(*columns)
                got = got if isinstance(got, tuple) else (got,)
                if not all(np.array_equal(g.view(w.dtype), w) for g, w in zip(got, want, strict=True)):
                    wrong.append(f"{kernel!r} {n}")
    return wrong


@pytest.mark.parametrize("opcode", FEW)
def test_kernels_give_numpys_bits(opcode: str, few: None) -> None:
    assert ptxemu.compile(rows_of(opcode)[0].spelling).is_in_c
    assert differing(opcode, 600, rows=80) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", sorted({v.spelling.partition(".")[0] for v in ptxemu.variants()}))
def test_every_kernel_gives_numpys_bits_for_many_operands(opcode: str, in_c: InC) -> None:
    with in_c():
        assert differing(opcode, 6000) == []


@pytest.mark.inputs("generated/native/src/module.c")
@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", [*FEW, *EASED, "setp"])
def test_on_processors_without_vectors_they_do_too(opcode: str, in_c: InC) -> None:
    with in_c(*FEW, *EASED, "setp", flags="-DFOR_ALL -DSTUMBLES"):
        assert differing(opcode, 6000) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", groups.IN_ORDER, ids=groups.ids)
def test_kernels_give_mpfrs_bits(group: tuple[str, frozenset[str], str, int], in_c: InC) -> None:
    _, _, type_, count = group
    with in_c():
        groups.check(group, judge.random_operands(type_.removesuffix("x2"), count, 20_000))


@pytest.mark.exhaustive
def test_kernels_of_several_types_give_mpfrs_bits(in_c: InC) -> None:
    with in_c():
        for group in mixed.GROUPS:
            mixed.check(group, mixed.operands(group, 2000))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "spelling", ["add.rz.f32", "add.f16x2", "testp.finite.f32", "selp.f32", "lg2.approx.f32", "add.f32.bf16", "add.s32"]
)
def test_arrays_of_any_layout(spelling: str, layout: str, few: None) -> None:
    kernel = ptxemu.compile(spelling)
    given = [LAYOUTS[layout](x) for x in trial([t for _, t in kernel._signature.registers], 3000)]
    assert kernel.is_in_c
    found = kernel(*given)
    with extension.installed(None):
        plain = ptxemu.compile(spelling)
        assert not plain.is_in_c
        want = plain(*given)
    np.testing.assert_array_equal(found, want)
    out = np.zeros((2, *np.shape(want)), want.dtype)
    assert kernel(*given, out=out) is out and (out == want).all()


def test_one_number_goes_with_many(few: None) -> None:
    kernel, many = ptxemu.compile("add.rz.f32"), np.arange(2000, dtype=np.float32)
    for x, y in itertools.permutations((many, np.float32(2))):
        np.testing.assert_array_equal(kernel(x, y), many + 2)
    np.testing.assert_array_equal(kernel(many[:, None], many[:3]), many[:, None] + many[:3])


def test_results_may_lie_over_operands(few: None) -> None:
    kernel = ptxemu.compile("add.f32")
    for shift in (0, 1, 7, 600):
        a = np.arange(3000, dtype=np.float32)
        due = a[: a.size - shift] * 2
        kernel(a[: a.size - shift], a[: a.size - shift], out=a[shift:])
        np.testing.assert_array_equal(a[shift:], due)


def test_what_numpy_refuses_is_refused_alike(few: None) -> None:
    one = np.float32([1])
    two, three = np.ones(2, np.float32), np.ones(3, np.float32)
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((one,), {}), ((one, one, one), {}), ((one, one.astype(float)), {}), ((one, one.view(np.uint32)), {}),
        ((one.view(np.uint32).astype(np.uint16), one), {}), ((one, "2"), {}), ((one, 0.1), {}), ((one, None), {}),
        ((one, np.ma.masked_array(one, [True])), {}), ((one.astype(int), one), {}), ((two, three), {}),
        ((one, one), {"out": one.astype(float)}), ((one, one), {"threads": 0}), ((one, one), {"results": 2}),
        ((two, two), {"out": three}),
    ]  # fmt: skip

    def said(given: tuple[Any, ...], more: dict[str, Any]) -> str:
        with pytest.raises((TypeError, ValueError)) as e:
            ptxemu.compile("add.f32")(*given, **more)
        return f"{type(e.value).__name__}: {e.value}"

    in_c_ = [said(*case) for case in wrong]
    with extension.installed(None):
        assert in_c_ == [said(*case) for case in wrong]


@needs_x86
def test_what_another_library_left_in_the_processor_neither_counts_nor_changes(few: None) -> None:
    one, small_, least = np.float32([1]), np.float32([2**-30]), np.float32([1e-40])
    for direction, flushing in itertools.product(DIRECTIONS, (False, True)):
        with left(direction, flushing):
            before = (one + small_).tobytes(), (least + least).tobytes()
            assert ptxemu.execute("add.f32", one, small_).tobytes() == one.tobytes()
            assert ptxemu.execute("add.rp.f32", one, small_).view(np.uint32) == 0x3F800001
            assert ptxemu.execute("add.f32", least, least).view(np.uint32) == 2 * least.view(np.uint32)
            assert before == ((one + small_).tobytes(), (least + least).tobytes())


def test_no_flag_and_no_warning_is_left(few: None) -> None:
    infinity = np.float32([np.inf])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.isnan(ptxemu.execute("add.f32", infinity, -infinity))
        assert ptxemu.execute("lg2.approx.f32", np.float32(0)) == -np.inf


def test_numpy_decides_what_c_leaves_undecided(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logarithms so near a middle of two numbers that an interval of binary64 holds both results."""
    kernel, asked = ptxemu.compile("lg2.approx.f32"), list[int]()
    assert kernel.is_in_c
    name = kernel._choice[1]
    plain = native._functions["lg2", name]

    def counting(x: NDArray[Any]) -> NDArray[Any]:
        asked.append(x.size)
        return plain(x)

    monkeypatch.setitem(native._functions, ("lg2", name), counting)
    hard = [0x3F442160, 0x3FEDDFFD, 0x40207AB9, 0x40707492, 0x408D64DE, 0x40DE248E, 0x40E485EB]
    x = np.full(5000, 0x3F800001, np.uint32)
    x[::700] = hard + hard[:1]
    for given in (x, x[::-1], np.repeat(x, 2)[::2]):
        del asked[:]
        np.testing.assert_array_equal(kernel(given), plain(given))
        assert 4 <= sum(asked) <= 8
    # What is asked for again is not where a result stands by then.
    for shift in (0, 1, 700):
        given = np.concatenate([x, x])
        want = plain(given[shift:])
        kernel(given[shift:], out=given[: given.size - shift])
        np.testing.assert_array_equal(given[: given.size - shift], want)


def test_all_processors_share_many_elements(few: None) -> None:
    kernel = ptxemu.compile("add.rm.f32")
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 1 << 32, (1 << 10, 1 << 10), np.uint32) for _ in range(2))
    want = kernel(x, y, threads=1)
    for threads in (None, 2, 5):
        np.testing.assert_array_equal(kernel(x, y, threads=threads), want)
        np.testing.assert_array_equal(kernel(x.T, y.T, threads=threads), want.T)
    in_place = x.copy()
    kernel(in_place, y, out=in_place)
    np.testing.assert_array_equal(in_place, want)


def test_pieces_of_ptx_run_in_c_where_there_is_c(few: None) -> None:
    text = "add.rz.f32 t, a, b;  mul.f32 d, t, t;  setp.lt.f32 p, a, b;"
    f = ptxemu.function(text)
    assert f.is_in_c
    a, b = (np.random.default_rng(n).normal(size=1 << 17).astype(np.float32) for n in (1, 2))
    found = f(a, b)
    with extension.installed(None):
        for x, y in zip(
            found, ptxemu.function("add.rz.f32 t, a, b;  mul.f32 d, t, t;  setp.lt.f32 p, a, b;")(a, b), strict=True
        ):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("size", [0, 1, 100_000, 300_001])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("add.f32 t, a, b; add.f32 u, t, t; add.f32 v, u, a; add.f32 d, v, t;", id="memory is used again"),
        pytest.param("add.f32 t, a, b; mov.f32 e, t; add.f32 u, b, b; add.f32 d, e, u;", id="a copy in NumPy"),
        pytest.param("add.f32 d, a, b; add.f32 e, d, a;", id="a result is read later"),
        pytest.param("add.f32 t, 1.0, 2.0; add.f32 d, a, t; add.f32 e, t, t; add.f32 f, b, b;", id="constants alone"),
        pytest.param("add.f32 d, a, b; mov.f32 e, a; add.s32 a, a, 1;", id="a result is an input"),
        pytest.param("add.f32 d, a, b; mov.f32 e, d; add.f32 a, d, d; add.f32 b, a, a;", id="two results are alike"),
        pytest.param("setp.lt.f32 p, a, b; add.f32 d, a, b; @p add.f32 d, d, a;", id="a guard"),
        pytest.param(".reg .b64 w; add.s16 h, 1, 2; cvt.u64.u16 w, h; add.s64 e, w, 1; add.f32 d, a, b;", id="wide"),
    ],
)
def test_a_block_of_statements_gives_numpys_bits(text: str, size: int, few: None) -> None:
    rng, f = np.random.default_rng(4), ptxemu.function(text, results=["d", "e"] if " e," in text else ["d"])
    given = [rng.integers(0, 1 << 32, size, np.uint32) for _ in f.inputs]
    found = f(*given)
    out = [np.empty_like(x) for x in (found if isinstance(found, tuple) else (found,))]
    # The first result goes into the memory of the first operand.
    out[0] = given[0].copy().view(out[0].dtype)
    f(out[0].view(np.uint32), *given[1:], out=tuple(out))
    assert f.is_in_c
    with extension.installed(None):
        want = ptxemu.function(text, results=f.results)(*given)
    found, want = ((x if isinstance(x, tuple) else (x,)) for x in (found, want))
    assert all(map(np.array_equal, found, want)) and all(map(np.array_equal, out, want))


def test_results_in_the_same_memory_spoil_no_other(few: None) -> None:
    f = ptxemu.function("add.f32 d, a, b; add.f32 e, d, d; add.f32 g, d, a;", results=["d", "e", "g"])
    a, b = np.arange(9, dtype=np.float32), np.ones(9, np.float32)
    both, g = np.empty_like(a), np.empty_like(a)
    f(a, b, out=(both, both, g))
    np.testing.assert_array_equal(g, a + b + a)


STALE = """
import numpy as np, ptxemu
a, b = np.uint32([0x0f0f]), np.uint32([0xffff])
print(ptxemu.compile("and.b32").is_in_c, hex(ptxemu.execute("and.b32", a, b)[0]), ptxemu.compile("neg.f32").is_in_c)
print(ptxemu.execute("and.pred", a == b, a == a)[0])
"""


@pytest.mark.inputs("generated/native/src/module.c")
@pytest.mark.exhaustive
def test_kernels_of_another_specification_are_not_used(tmp_path: Path) -> None:
    root = tmp_path / "root"
    copied(root, ("and", "neg"))
    generate(root)
    built = extension.build(tmp_path / "built", ("and", "neg"), "-O0", root / "generated" / "native")

    def told() -> tuple[list[str], str]:
        path = os.pathsep.join([str(built), str(root / "generated" / "python")])
        done = subprocess.run(
            [sys.executable, "-c", STALE],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split(), done.stderr

    assert told() == (["True", "0xf0f", "True", "False"], "")
    file = root / "spec/instructions/and.yaml"
    text = file.read_text("utf-8").replace("d = a & b", "d = a | b").replace("0x000f0f00]", "0x0fffff0f]")
    file.write_text(text, "utf-8")
    generate(root)
    found, said = told()
    assert found == ["False", "0xffff", "True", "False"]
    assert said.count("\n") == 1 and "pip install ./generated/native" in said


@each_size
def test_what_has_no_c_is_what_the_emitter_declines(whole: bool) -> None:
    checked = repository.checked()
    few = spread(sorted(checked), 6)
    for opcode in checked if whole else few:
        c = checked[opcode]
        has = {row.name for row in emitted.in_c(c.programs).rows}
        for one in shared(c).values():
            for (spelling, count), targets in one.targets.items():
                for target in targets or [""]:
                    name = f"{spelling.partition('.')[2]}/{count}" + (f" {target}" if target else "")
                    assert (name in has) == (not emitted.why_not(one.program)), name
