"""Straight-line PTX on arrays: the same bits as its statements one by one, by NumPy and by C."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.sizes import each_size
from helpers.straightline import bits, made_up

F32 = np.float32


def u32(*values: int) -> Any:
    return np.array(values, np.uint32)


# What it computes


def test_results_may_take_each_others_operands_places() -> None:
    f = ptxemu.function("mov.b32 c, a;  mov.b32 d, b;")
    for size in (4, 100_000):
        a, b = np.arange(size, dtype=np.uint32), np.arange(size, dtype=np.uint32) + np.uint32(7)
        want = a.copy(), b.copy()
        f(a, b, out=(b, a))
        assert np.array_equal(b, want[0]) and np.array_equal(a, want[1])


@each_size
def test_a_function_gives_what_its_statements_give_one_by_one(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(2000 if whole else 25):
        program = made_up(seed)
        if not program.results:
            continue
        text = "\n".join(program.lines)
        f = ptxemu.function(text)
        # What is written as a whole before anybody reads it need not come in.
        assert set(f.inputs) <= set(program.inputs), text
        assert set(f.results) == set(program.results), text
        found = f(**{name: program.inputs[name] for name in f.inputs})
        for name, x in zip(f.results, found if len(f.results) > 1 else (found,), strict=True):
            np.testing.assert_array_equal(bits(x), program.results[name], f"{name} of\n{text}")


def test_integers_of_four_bits_become_bf16() -> None:
    f = ptxemu.function("""
        { .reg .b32 one, bias;
          and.b32       t, q, 0x000F000F;
          or.b32        t, t, 0x43004300;
          mov.b32       one, 0x3F803F80;
          mov.b32       bias, 0xC308C308;
          fma.rn.bf16x2 d, t, one, bias; }
    """)
    d = f(u32(0x00F70081))
    assert [x << 16 for x in (int(d[0]) & 0xFFFF, int(d[0]) >> 16)] == [int(b) for b in F32([-7, -1]).view(np.uint32)]


def test_numbers_are_unpacked_from_fp8() -> None:
    f = ptxemu.function("""
        mov.b32 {lo, hi}, q;
        cvt.rn.f16x2.e4m3x2 x, lo;
        cvt.rn.f16x2.e4m3x2 y, hi;
    """)
    x, y = f(u32(0x2A7EC038))
    np.testing.assert_array_equal(x.view(np.float16), np.float16([1, -2]))
    np.testing.assert_array_equal(y.view(np.float16), np.float16([448, 0.3125]))


# Registers


@pytest.mark.parametrize(
    ("text", "inputs", "results"),
    [
        ("add.f32 d, a, b;", "ab", "d"),
        ("add.f32 %d, %a, %b;", "ab", "d"),
        (".reg .f32 %f<4>; add.f32 %f3, %f1, %f2;", ["f1", "f2"], ["f3"]),
        ("add.f32 t, a, b; mul.f32 d, t, t;", "ab", "d"),
        ("add.f32 a, a, b;", "ab", "a"),
        ("@p mov.f32 d, a;", "pda", "d"),
        ("mov.f32 d, 1.0; @!p mov.f32 d, a;", "pa", "d"),
        ("{ .reg .f32 t; add.f32 t, a, b; mul.f32 d, t, t; }", "ab", "d"),
        ("{ .reg .f32 a, d; neg.f32 d, a; }", "a", "d"),
        ("neg.f32 t, a; { .reg .f32 t; abs.f32 t, a; } neg.f32 d, t;", "a", "d"),
        ("setp.lt.f32 p|q, a, b;", "ab", "pq"),
        ("setp.lt.f32 p|_, a, b;", "ab", "p"),
        ("mov.b32 {_, h}, a;", "a", "h"),
        ("mov.f32 d, 0f3F800000;", "", "d"),
        ("/* add.f32 */ add.f32 d, a, b; // e\n", "ab", "d"),
        ("selp.f32 d, a, b, !p;", "abp", "d"),
    ],
)  # fmt: skip
def test_what_is_read_first_comes_in_and_what_is_written_last_comes_out(
    text: str, inputs: str | list[str], results: str | list[str]
) -> None:
    f = ptxemu.function(text)
    assert (sorted(f.inputs), f.results) == (sorted(inputs), tuple(results))


def test_results_may_be_named() -> None:
    text = "add.f32 t, a, b; mul.f32 d, t, t;"
    assert ptxemu.function(text, results=["d", "%t"]).results == ("d", "t")
    t = ptxemu.function(text, results=["t"])
    assert t(F32(1), F32(2)) == 3
    with pytest.raises(ValueError, match="x is not written; these are written: t, d"):
        ptxemu.function(text, results=["x"])


def test_arrays_come_by_position_or_by_name() -> None:
    f = ptxemu.function("sub.f32 d, a, b;")
    assert f(F32(3), F32(1)) == f(F32(3), b=F32(1)) == f(b=F32(1), a=F32(3)) == 2
    for wrong, said in (
        ({"a": F32(1)}, "b is missing"),
        ({"a": F32(1), "b": F32(1), "x": F32(1)}, "x is not one of them"),
    ):
        with pytest.raises(ptxemu.OperandError, match=said):
            f(**wrong)
    with pytest.raises(ptxemu.OperandError, match="a was given twice"):
        f(F32(1), F32(2), a=F32(1))
    with pytest.raises(ptxemu.OperandError, match="operand b is float64; expected float32 or uint32"):
        f(F32(1), np.float64(1))


def test_arrays_are_what_registers_hold() -> None:
    """Bits, or numbers of what they are read as, or declared; results likewise."""
    f = ptxemu.function("and.b32 t, x, 0x7FFFFFFF; mul.f32 d, t, x; add.s32 n, x, 1; mov.b32 m, t;")
    for x in (F32(-2), F32(-2).view(np.uint32), F32(-2).view(np.int32)):
        d, n, m = f(x)
        assert (n.dtype, m.dtype, m) == (np.int32, np.uint32, 0x40000000)
        assert d.dtype == (np.float32 if x.dtype == np.float32 else np.uint32)
        assert d.view(F32) == -4
    declared = ptxemu.function(".reg .f32 d; or.b32 d, x, 1;")
    assert declared(u32(0x3F800000)).view(F32) == np.nextafter(F32(1), F32(2))


def test_arrays_broadcast_and_go_to_out() -> None:
    f = ptxemu.function("add.f32 d, a, b; sub.f32 e, a, b;")
    a, b = np.arange(6, dtype=F32).reshape(2, 3), np.arange(3, dtype=F32)
    d, e = f(a, b)
    np.testing.assert_array_equal((d, e), (a + b, a - b))
    given = (np.empty((2, 3), F32), a)
    f(a, b, out=given)
    np.testing.assert_array_equal(given, (d, e))
    many = np.arange(1 << 18, dtype=F32)[::2]
    np.testing.assert_array_equal(f(many, many, threads=2)[0], many + many)
    assert f(F32(1), F32(2)) == (3, -1) and f(np.empty(0, F32), F32(1))[0].shape == (0,)


# Constants


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("mov.f32 d, 1.1;", 0x3F8CCCCD),
        ("mov.f32 d, 0d3FF0000010000000;", 0x3F800000),
        ("mov.f32 d, 0d3FF0000030000000;", 0x3F800002),
        ("mov.f32 d, 1e300;", 0x7F800000),
        ("mov.f32 d, 1e-40;", 0x000116C2),
        ("mov.f32 d, -1.5 + 0.25;", 0xBFA00000),
        ("mov.f32 d, 0f7FA00001;", 0x7FA00001),
        ("mov.f64 d, 1.1;", 0x3FF199999999999A),
        ("mov.f64 d, 0f3F800000;", 0x3F800000),
        ("mov.b32 d, 0x1FFFFFFFF;", 0xFFFFFFFF),
        ("mov.b32 d, (1 << 31) | 3;", 0x80000003),
        ("mov.u32 d, 0b101 + 010;", 13),
        ("mov.b16 d, 70000;", 4464),
        ("mov.b64 d, 1.5;", 0x3FF8000000000000),
        ("mov.pred d, 2;", True),
        ("mov.pred d, 0;", False),
        ("mov.b32 {c, d}, 0x12345678;", 0x1234),
        ("cvt.rn.f32.s8 d, 300;", 0x42300000),
    ],
)
def test_constants_are_what_ptxas_makes_of_them(statement: str, expected: int) -> None:
    """Read in the machine code of ptxas 13.5. A 0f constant is bits, wherever it stands."""
    assert int(bits(ptxemu.function(statement, results=["d"])())) == expected


# What is refused


def refused(text: str, **options: Any) -> list[tuple[int, int, str]]:
    with pytest.raises(ptxemu.StatementError) as e:
        ptxemu.function(text, **options)
    return [(r.line, r.column, r.message) for r in e.value.refused]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".reg .v2 .b32 v; mov.b64 v, a; mov.b64 d, {v.y, v.x};", 0x0123456789ABCDEF),
        (".reg .v2 .b32 v; mov.b64 {v.x, v.g}, a; xor.b32 v.y, v.y, v.r; mov.b64 d, v;", 0x8888888801234567),
        (".reg .v4 .b16 %v<2>; mov.b64 %v1, a; mov.b64 d, {%v1.w, %v1.b, %v1 .y, %v1.x};", 0x45670123CDEF89AB),
        ("{ .reg .v2 .b32 v; mov.b64 v, a; { .reg .b32 v; mov.b32 v, 1; } mov.b64 d, v; }", 0x89ABCDEF01234567),
    ],
)
def test_a_register_may_be_a_vector(text: str, expected: int) -> None:
    d = ptxemu.function(text, results=["d"])(np.uint64(0x89ABCDEF01234567))
    assert f"{int(d):016x}" == f"{expected:016x}"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("ld.global.f32 a, [p];", 1, "there is no memory"),
        ("add.f32 d, a, [p];", 15, "an address is not allowed here"),
        ("add.f32 d, a, b; bra L;", 22, "there is no label L after this branch"),
        ("L: add.f32 d, a, b; @p bra L;", 28, "L is before this branch, and loops are not supported"),
        ("L: add.f32 d, a, b; L:", 21, "the label L appears twice"),
        ("bar.sync 0;", 1, "bar.sync: bar is a PTX instruction; ptxemu does not emulate it"),
        ("fmaa.rn.f32 d, a, b, c;", 1, "did you mean 'fma'?"),
        ("fma.f32 d, a, b, c;", 1, "write fma.r"),
        ("cvt.rn.f16x2.ue8m0x2 d, a;", 1, "cvt.rn.f16x2.ue8m0x2 is PTX outside the database"),
        ("add.f32 d, a, 1;", 15, "write it as a floating-point number"),
        ("add.f32 d, a, 1.x;", 15, "not an operand"),
        ("add.f32 %0, %1, %2;", 9, "%0 is an operand of inline assembly; give its constraints"),
        ("add.f32 %%d, %%a, %%b;", 9, "%%d is an operand of inline assembly; give its constraints"),
        ("cvt.rn.f32.u32 d, %tid.x;", 19, "%tid.x is a special register, which cannot be read here"),
        ("mov.u32 d, WARP_SZ;", 12, "WARP_SZ has no value here"),
        (".reg .f64 x; add.f32 d, x, x;", 25, "x is a .f64 register; add.f32 takes .f32 or .b32"),
        ("add.f32 t, a, b; add.f64 d, t, t;", 29, "t is .b32 or .f32 elsewhere"),
        ("add.f16 t, a, b; and.b32 d, t, c;", 29, "and.b32 takes"),
        ("{ .reg .f32 t; add.f32 d, t, t; } mov.f32 e, a;", 27, "t is read before it is written"),
        ("@a add.f32 d, a, b;", 15, "a is .pred elsewhere"),
        (".reg .f32 a; @a mov.f32 d, a;", 15, "a guard must be a predicate"),
        (".reg .v2 .f32 v; cvt.rn.f16x2.f32 d, v;", 38, "a vector is not allowed here"),
        (".reg .v2 .f32 v; mov.f32 d, v.z;", 29, "v.z is not an element of a vector"),
        (".reg .v2 .f32 v; mov.b64 v, a; add.f32 d, v, v;", 32, "takes 2 source operands, not 4"),
        (".reg .v4 .b16 v; mov.b32 v, a;", 26, "v.x is a .b16 register; mov.b32 takes .b8"),
        (".reg .v2 .b128 v;", 1, "registers of .b128 are not supported"),
        (".version 8.15 .target sm_90", 10, "there is no .version 8.15"),
        (".version 8.0 .target sm_91 add.f32 d, a, b;", 22, "there is no .target sm_91"),
        (".visible .entry k() { }", 1, "functions are not supported"),
        (".shared .f32 s[4];", 1, ".shared is not supported"),
        (".reg .b128 x; add.f32 x, x, x;", 1, "registers of .b128 are not supported"),
        ("add.f32 d, a, b", 16, "a semicolon is missing"),
        ("add.f32 d, a, b; }", 18, "no open brace"),
        ("", 1, "no statement"),
        ("mov.b32 {_, _}, a;", 9, "must be a register"),
        ("mov.b32 {x, y, z}, a;", 1, "mov.b32"),
        ("add.f32 _, a, b;", 9, "cannot be discarded"),
        ("mov.b64 d, %a+8;", 12, "%a+8 is an address; add with a separate instruction"),
        ("add.f32 5, a, b;", 9, "must be a register"),
    ],
)
def test_what_cannot_be_run_is_refused_where_it_stands(text: str, column: int, message: str) -> None:
    (line, at, said), *_ = refused(text)
    assert (line, at) == (1, column) and message in said, said


def test_every_statement_that_cannot_be_run_is_named() -> None:
    found = refused("add.f32 t, a, b;\n  ld.f32 c, [t];\nmul.f32 d, c, t;\n bra L;\nadd.f32 d, d, 1;\n")
    assert [r[:2] for r in found] == [(2, 3), (4, 6), (5, 15)]
    with pytest.raises(ptxemu.StatementError, match=r"(?s)2:6: .*\n     bra L;\n         \^"):
        ptxemu.function("add.f32 t, a, b;\n bra L;")


def test_a_target_must_have_the_statements() -> None:
    text = "add.f32 t, a, b;\nadd.bf16 d, x, y;"
    assert ptxemu.function(text, target="sm_90").target == "sm_90"
    ((line, _, said),) = refused(text, target="sm_80")
    assert line == 2 and "requires sm_90 or newer; sm_80 is older" in said
    with pytest.raises(ptxemu.UnknownTargetError, match="unknown target 'sm_91'; did you mean 'sm_90'"):
        ptxemu.function(text, target="sm_91")
    assert ptxemu.function(text, target="H100").target == "sm_90"
    header = ".version 7.8\n.target sm_90\n.address_size 64\n"
    assert ptxemu.function(header + text).target == "sm_90"
    assert "requires sm_90 or newer" in refused(header + text, target="sm_80")[0][2]
    older = ".version 8.0\n.target sm_80\nadd.f32 t, a, b;\ncvt.rna.satfinite.tf32.f32 d, a;"
    ((line, _, said),) = refused(older)
    assert line == 4 and said.endswith("requires sm_80, PTX 8.1; .version is 8.0")
    assert (2, 1, "PTX 7.0 does not support sm_90; write .version 7.8 or newer") in refused(
        header.replace("7.8", "7.0") + text
    )


def test_arguments_that_are_no_text_are_refused() -> None:
    text = "add.f32 dd, a, b;"
    assert ptxemu.function(text, results="dd").results == ("dd",)
    for wrong in (5, b"add.f32 d, a, b;"):
        with pytest.raises(TypeError, match=f"^PTX must be a string such as 'add.f32 d, a, b;', not {wrong!r}$"):
            ptxemu.function(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^results must be names of registers such as 'd', not 1$"):
        ptxemu.function(text, results=[1])  # type: ignore[list-item]
    with pytest.raises(ptxemu.UnknownTargetError, match=r"^a target must be a string such as 'sm_90', not 90$"):
        ptxemu.function(text, target=90)  # type: ignore[arg-type]


def test_a_function_is_pickled() -> None:
    f = pickle.loads(pickle.dumps(ptxemu.function("add.f32 d, a, b;")))
    assert f(F32(1), F32(2)) == 3 and repr(f) == "<ptxemu function (a, b) -> d>"


def test_a_trace_says_what_each_statement_does() -> None:
    f = ptxemu.function("add.f32 t, a, a;\n@p neg.f32 t, t;\nsetp.lt.f32 q|_, t, a;")
    traced = f.trace(F32([1, 2]), np.array([True, False]))
    assert [(t.line, t.register, t.type) for t in traced] == [(1, "t", "f32"), (2, "t", "f32"), (3, "q", "pred")]
    assert traced[0].before is None and traced[1].before is not None
    np.testing.assert_array_equal(traced[1].before.view(F32), [2, 4])
    np.testing.assert_array_equal(traced[1].after.view(F32), [-2, 4])
    assert traced[1].text == "@p neg.f32 t, t"
    assert f.claim == "exact" and f.types == {"a": "f32", "p": "pred", "q": "pred"}


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        (".reg .b16 t, a; mov.b16 t, a; cvt.u32.u8 d, t;", np.uint16(0x1FF), 0xFF),
        (".reg .b32 a; cvt.u32.u8 d, a;", np.uint32(0x1FF), 0xFF),
        (".reg .b32 d; cvt.s8.s32 d, a;", np.int32(-3), 0xFFFFFFFD),
        (".reg .b32 d; cvt.u8.u32 d, a;", np.uint32(0x1FD), 0xFD),
        (".reg .b32 t; cvt.u8.u32 t, a; add.u32 d, t, 1;", np.uint32(0x1FF), 0x100),
    ],
)
def test_a_register_may_have_more_bits_than_an_operand(text: str, given: Any, expected: int) -> None:
    """Of an operand the low bits are read; above a result its sign or zeros are written."""
    assert ptxemu.function(text)(given) == expected


def test_a_wider_register_keeps_all_of_its_bits_where_a_guard_does_not_hold() -> None:
    f = ptxemu.function(".reg .b32 d; setp.ne.s32 p, a, 0; mov.u32 d, 0x12345678; @p cvt.s8.s32 d, a;")
    assert f(np.int32([-3, 0])).tolist() == [0xFFFFFFFD, 0x12345678]
    assert [(t.register, t.type) for t in f.trace(np.int32(-3))] == [("p", "pred"), ("d", "u32"), ("d", "b32")]


def test_a_vector_without_a_type_is_refused() -> None:
    with pytest.raises(ptxemu.StatementError, match="this declaration cannot be parsed"):
        ptxemu.function(".reg .v4 %v; mov.f32 d, %v.x;")
