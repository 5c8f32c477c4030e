"""Inline assembly as it stands in programs, run on arrays: asm statements of C++, templates with constraints, and the
guards and branches in them."""

from __future__ import annotations

import itertools

import numpy as np
import ptxemu
import pytest

U32, S32, F32 = np.uint32, np.int32, np.float32


def refused(text: str, constraints: str | None = None) -> list[tuple[int, int, str]]:
    with pytest.raises(ptxemu.StatementError) as e:
        ptxemu.function(text, constraints=constraints)
    return [(r.line, r.column, r.message) for r in e.value.refused]


# What a statement says


def test_an_asm_statement_has_its_operands_in_their_order() -> None:
    f = ptxemu.function('asm volatile("sub.s32 %0, %2, %1;" : "=r"(d) : "r"(a), "r"(b) : "memory");')
    assert (f.inputs, f.results) == (("a", "b"), ("d",))
    assert f(S32([1, 2]), S32(10)).tolist() == [9, 8]


@pytest.mark.parametrize(
    "statement",
    [
        'asm("{.reg .f32 t; mul.f32 t, %1, %1; add.f32 %0, t, %2;}" : "=f"(d) : "f"(a), "f"(b));',
        '__asm__ __volatile__ ("{\\n\\t"\n  ".reg .f32 %%t;\\n\\t" // squared\n  "mul.f32 %%t, %1, %1;\\n\\t"\n'
        '  "add.f32 %0, %%t, %2;\\n\\t" /* and more */ "}\\n"\n  : "=f"(d) : "f"(a), "f"(b)\n)',
        'asm(R"({ .reg .f32 t; mul.f32 t, %1, %1;\nadd.f32 %0, t, %2; })" : "=f"(d) : "f"(a), "f"(b))',
        'asm("mul.f32 %[d], %[a], %[a]; add.f32 %[d], %[d], %[b];" : [d] "=&f"(d) : [a] "f"(a), [b] "f"(b));',
        'asm("mul.f32 %0, %1, %1; \\x61dd.f32 %0, %0, %2;" : "=f"(d) : "f"(a), "f"(b) : );',
    ],
)
def test_an_asm_statement_is_written_in_many_ways(statement: str) -> None:
    f = ptxemu.function(statement)
    assert (f.inputs, f.results) == (("a", "b"), ("d",))
    assert f(F32([3, -2]), F32([1, 0.5])).tolist() == [10, 4.5]


def test_an_operand_may_be_read_and_written_or_share_anothers_register() -> None:
    both = ptxemu.function('asm("add.u32 %0, %0, %1;" : "+r"(sum) : "r"(x));')
    assert (both.inputs, both.results) == (("sum", "x"), ("sum",)) and both(U32(1), U32(2)) == 3
    shared = ptxemu.function('asm("add.u32 %0, %0, %2;" : "=r"(d) : "0"(before), "r"(x));')
    assert (shared.inputs, shared.results) == (("before", "x"), ("d",)) and shared(U32(1), U32(2)) == 3
    named = ptxemu.function('asm("add.u32 %0, %1, %2;" : [d] "=r"(d) : "[d]"(before), "r"(x));')
    assert named(U32(1), U32(2)) == 3


def test_a_constant_is_known_or_comes_in() -> None:
    f = ptxemu.function('asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "n"(0x4));')
    assert f.inputs == ("a",) and f(U32(3)) == 48
    f = ptxemu.function('asm("shl.b32 %0, %1, %2+1;" : "=r"(d) : "r"(a), "n"((int)4u));')
    assert f(U32(3)) == 96
    f = ptxemu.function('asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "n"(kShift));')
    assert f.inputs == ("a", "kShift") and f(U32(3), U32([1, 2])).tolist() == [6, 12]
    ((_, column, said),) = refused('asm("shl.b32 %0, %1, %2+1;" : "=r"(d) : "r"(a), "n"(kShift));')
    assert column == 22 and "the value of kShift is not known" in said


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("x", "x"), ("(unsigned)x", "x"), ("*reinterpret_cast<const unsigned *>(&x)", "x"), ("*(int *)&x", "x"),
        ("x[3]", "_1"), ("f(x, ')')", "_1"), ("p->x", "_1"),
    ],
)  # fmt: skip
def test_an_operand_is_called_as_in_the_program_or_by_its_number(expression: str, name: str) -> None:
    assert ptxemu.function(f'asm("not.b32 %0, %1;" : "=r"(d) : "r"({expression}));').inputs == (name,)


def test_values_of_one_name_are_told_apart() -> None:
    f = ptxemu.function('asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(x), "r"(x));')
    assert (f.inputs, f.results) == (("x", "_2"), ("x",))


@pytest.mark.parametrize("text", ["max.s32 $0, $1, ${2};", "max.s32 %0, %1, %2;"])
def test_a_template_has_llvms_constraints(text: str) -> None:
    f = ptxemu.function(text, constraints="=r, r,r,~{memory}")
    assert (f.inputs, f.results) == (("_1", "_2"), ("_0",)) and f(S32(-3), S32(2)) == 2


def test_a_template_of_triton_fills_several_registers() -> None:
    """Bytes as floats, four at a time."""
    text = """{
        .reg .b8 t<4>;
        mov.b32 {t0, t1, t2, t3}, $4;
        cvt.rn.f32.u8 $0, t0;
        cvt.rn.f32.u8 $1, t1;
        cvt.rn.f32.u8 $2, t2;
        cvt.rn.f32.u8 $3, t3;
    }"""
    f = ptxemu.function(text, constraints="=f,=f,=f,=f,r")
    found = f(np.arange(8, dtype=np.uint8).view(U32))
    assert np.stack(found, axis=-1).reshape(-1).tolist() == list(range(8))


def test_a_float_is_its_bits_in_a_register_of_bits() -> None:
    f = ptxemu.function('asm("add.f32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));')
    assert f(F32(1), F32(2)) == F32(3)
    assert f(U32(0x3F800000), U32(0x40000000)) == U32(0x40400000)


def test_what_other_texts_declare_comes_in_and_goes_out() -> None:
    f = ptxemu.function('asm("add.u32 t, t, %0;" :: "r"(x));', around=".reg .u32 t; .reg .pred p;")
    assert (f.inputs, f.results) == (("x", "t"), ("t",))
    f = ptxemu.function("@p add.u32 t, t, d; mov.b32 d, t;", around=".reg .u32 t; .reg .pred p;")
    assert f.results == ("t", "d") and set(f.inputs) == {"p", "t", "d"}


@pytest.mark.parametrize("around", ["add.u32 t, t, t;", ".reg .b32 t; }", ".reg .b32;", "t"])
def test_only_registers_are_declared_around(around: str) -> None:
    with pytest.raises(ValueError, match="declarations of registers must be such as"):
        ptxemu.function("mov.b32 d, t;", around=around)


def test_special_registers_come_in() -> None:
    f = ptxemu.function('asm("mov.u32 %0, %%tid.x; {.reg .u32 w; mov.u32 w, %%ntid.x; sub.u32 %0, w, %0;}" : "=r"(d));')
    assert f.inputs == ("tid_x", "ntid_x")
    assert f(np.arange(3, dtype=U32), U32(32)).tolist() == [32, 31, 30]


# Guards and branches


def test_what_two_guards_write_is_written() -> None:
    f = ptxemu.function("setp.lt.f32 p, a, b; @p sub.f32 d, b, a; @!p sub.f32 d, a, b;")
    assert f.inputs == ("a", "b") and f(F32([1, 4]), F32([3, 1])).tolist() == [2, 3]
    f = ptxemu.function("setp.lt.f32 p, a, b; @p sub.f32 d, b, a;")
    assert f.inputs == ("a", "b", "d") and f(F32([1, 4]), F32([3, 1]), F32(9)).tolist() == [2, 9]


def test_what_one_guard_writes_may_be_read_under_it() -> None:
    text = "{.reg .f32 t; .reg .pred p; setp.lt.f32 p, %1, 0f00000000; @p neg.f32 t, %1; mov.f32 %0, %1; READ }"
    f = ptxemu.function(text.replace("READ", "@p add.f32 %0, t, t;"), constraints="=f,f")
    assert f(F32([-3, 5])).tolist() == [6, 5]
    ((_, _, said),) = refused(text.replace("READ", "add.f32 %0, t, t;"), "=f,f")
    assert "t is read before it is written if its guard is false" in said


ABSOLUTE = """
    { .reg .pred p;
      setp.lt.s32 p, %1, 0;
      @p bra NEGATIVE;
      add.s32 %0, %1, 100;
      bra END;
    NEGATIVE:
      sub.s32 %0, 100, %1;
    END: }"""


def test_lanes_take_branches_of_their_own() -> None:
    f = ptxemu.function(ABSOLUTE, constraints="=r,r")
    assert f(S32([-5, 7, 0])).tolist() == [105, 107, 100]


def reference(a: int, b: int) -> int:
    """The program of the next test, as a loop runs it."""
    d = 0
    if a & 1:
        d += 1
        if not b & 1:
            return d + 8
        d += 2
    return d + (0 if b & 2 else 4)


def test_branches_over_branches() -> None:
    f = ptxemu.function(
        """
        {   .reg .pred p<3>; .reg .b32 t;
            mov.u32 %0, 0;
            and.b32 t, %1, 1;   setp.ne.u32 p0, t, 0;
            and.b32 t, %2, 1;   setp.ne.u32 p1, t, 0;
            and.b32 t, %2, 2;   setp.ne.u32 p2, t, 0;
            @!p0 bra REST;
            add.u32 %0, %0, 1;
            @!p1 bra AWAY;
            add.u32 %0, %0, 2;
        REST:
            @p2 bra.uni END;
            add.u32 %0, %0, 4;
            bra END;
        AWAY:
            add.u32 %0, %0, 8;
        END:
        }""",
        constraints="=r,r,r",
    )
    pairs = list(itertools.product(range(4), repeat=2))
    a, b = (U32(x) for x in zip(*pairs, strict=True))
    assert f(a, b).tolist() == [reference(x, y) for x, y in pairs]


def test_branches_behind_an_early_end_are_told_apart() -> None:
    """As many paths lead through it as there are numbers of 40 bits."""
    count = 40
    text = "{.reg .pred q, p; .reg .b32 t; mov.u32 %0, 0; setp.eq.u32 q, %1, 0; @q bra END;\n"
    for i in range(count):
        text += f"shr.b32 t, %1, {i % 32}; and.b32 t, t, 1; setp.eq.u32 p, t, 0; @p bra ELSE{i}; add.u32 %0, %0, 1; "
        text += f"bra THEN{i}; ELSE{i}: add.u32 %0, %0, 100; THEN{i}:\n"
    f = ptxemu.function(text + "END: }", constraints="=r,r")
    a = U32([0, 1, 0xFFFFFFFF, 0x101])
    ones = [sum(int(x) >> i % 32 & 1 for i in range(count)) for x in a]
    assert f(a).tolist() == [0, *(n + 100 * (count - n) for n in ones[1:])]


def test_branches_that_are_too_many_are_refused() -> None:
    count = 3000
    text = "{.reg .pred p; mov.u32 %0, 0;\n"
    text += "".join(f"setp.eq.u32 p, %1, {i}; @p bra END; add.u32 %0, %0, 1;\n" for i in range(count))
    ((line, _, said),) = refused(text + "END: }", "=r,r")
    assert line > 100 and "too many branches and guards" in said


def test_a_predicate_that_changes_is_another_one() -> None:
    """A register that is written under its first value is not written under its second."""
    text = "{.reg .pred p; setp.lt.s32 p, %1, 0; @p mov.u32 %0, 1; setp.gt.s32 p, %1, 9; @!p mov.u32 %0, 2;}"
    ((_, _, said),) = refused(text, "=r,r")
    assert "_0 is not written if a guard or a branch skips this" in said


# What is refused


@pytest.mark.parametrize(
    ("text", "constraints", "column", "message"),
    [
        ('asm("add.u32 %0, %1, %3;" : "=r"(d) : "r"(x));', None, 22, "%3 has no constraint: there are 2 operands"),
        ("add.u32 $0, $1, $2;", "=r,r", 17, "$2 has no constraint"),
        ('asm("add.u32 %1, %1, %1;" : "=r"(d) : "r"(x));', None, 14, "%1 is an input"),
        ('asm("add.f64 %0, %1, %1;" : "=r"(d) : "r"(x));', None, 14, 'has the constraint "r" (.b32); add.f64 takes'),
        ('asm("add.u32 %0, %1, %1;" MORE : "=r"(d) : "r"(x));', None, 27, "MORE is among the strings"),
        ('asm("add.u32 %0, t, %1;" : "=r"(d) : "r"(x));', None, 18, "t is neither an operand nor declared"),
        ('asm("add.u32 t, %1, %1;" : "=r"(d) : "r"(x));', None, 14, "t is neither an operand nor declared"),
        ('asm("add.u32 %0, %0, %1;" : "=r"(d) : "r"(x));', None, 18, 'its constraint is "="; write "+"'),
        ('asm("add.u32 %0, %2, %2;" : "=r"(d), "=r"(e) : "r"(x));', None, 6, "no statement writes e"),
        ('asm("add.u32 %0, %1, %1;" : "=x"(d) : "r"(x));', None, 29, "the letters of registers are h, r, l, f, d, n"),
        ('asm("add.u32 %0, %1, %1;" : "=r" d : "r"(x));', None, 34, "an expression in parentheses must follow"),
        ('asm("add.u32 %0, %1, %1;" : "=r"(d) : r(x));', None, 39, "a constraint and an expression"),
        ('asm("add.u32 %0, %1, %1;" : "=r"(d) : "r"(x);', None, 45, "no closing parenthesis"),
        ('asm("add.u32 %0, %1, %1;" : "=r"(d) : "r"((x);', None, 42, "not closed"),
        ('asm("add.u32 %0, %1, %[y];" : "=r"(d) : "r"(x));', None, 22, "there is no operand y"),
        ('asm("add.u32 %0, %1, %1;" : "=r"(d) : "1"(x));', None, 39, "names operand 1, which is not an output"),
        ('asm("ld.global.u32 %0, [%1];" : "=r"(d) : "l"(x));', None, 6, "there is no memory"),
        ('asm("add.u32 %0, %1, %1;\\n"\n  "addd.f32 %0, %1, %1;" : "=f"(d) : "f"(x));', None, 4, "'addd'"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands_in_the_program(
    text: str, constraints: str | None, column: int, message: str
) -> None:
    line, at, said = refused(text, constraints)[0]
    assert (line, at) == (1 + text.count("\n"), column) and message in said, said


def test_constraints_are_text() -> None:
    with pytest.raises(TypeError, match="constraints must be a string such as '=r,r', not 3"):
        ptxemu.function("add.u32 $0, $1, $1;", constraints=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="none of the operands is an output"):
        ptxemu.function("setp.eq.u32 _, %0, %0;", constraints="r")
