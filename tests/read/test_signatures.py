"""The types of results and sources: what a syntax line gives them, and what it cannot."""

from __future__ import annotations

import pytest
from helpers.project import Project
from ptxspec.model import Operand, Variant
from ptxspec.specification import read, read_all

FILE = "spec/instructions/try.yaml"


def write(project: Project, *syntax: str) -> None:
    """A specification of one opcode `try` with these syntax lines."""
    for path in (project.root / "spec/instructions").iterdir():
        path.unlink()
    lines = "".join(f"  - try{s}\n" for s in syntax)
    text = f"opcode: try\nsummary: A trial.\nsyntax:\n{lines}requires:\n  - ptx: 1.0\nsemantics: |\n  d = a\n"
    project.write(FILE, text)


def shown(o: Operand | None) -> str:
    """As in `d:f16`, `a1,a0:f32` or `{a1,a0}:f32`."""
    if o is None:
        return ""
    places = ",".join(o.places)
    return f"{'!' * o.negatable}{'{' + places + '}' if o.braced else places}:{o.type.name}"


def signature(v: Variant) -> str:
    results = "|".join(filter(None, (shown(v.result), shown(v.second))))
    return f"{results} <- {' '.join(map(shown, v.sources))}"


SIGNATURES = {
    ".f32  d, a, b": "d:f32 <- a:f32 b:f32",
    ".f16.f32  d, a": "d:f16 <- a:f32",
    ".f16.f32  d, a, b": "d:f16 <- a:f32 b:f32",
    ".bf16x2.bf16x2.f16x2  d, a, b": "d:bf16x2 <- a:bf16x2 b:f16x2",
    ".f32.f16  d, a, b, c:d": "d:f32 <- a:f16 b:f16 c:f32",
    ".f32.s32  d, a:d, b:d, c": "d:f32 <- a:f32 b:f32 c:s32",
    ".f32  d, a, b, c:pred": "d:f32 <- a:f32 b:f32 c:pred",
    ".f32  p, a, b": "p:pred <- a:f32 b:f32",
    ".f32  p{|q}, a, b, {!}c:pred": "p:pred|q:pred <- a:f32 b:f32 !c:pred",
    ".f16x2  p0|p1, a, b": "p0,p1:pred <- a:f16x2 b:f16x2",
    ".f16x2.f32  d, a1, a0, r:b32": "d:f16x2 <- a1,a0:f32 r:b32",
    ".f16x2.f32  d, {a1, a0}, r:b32": "d:f16x2 <- {a1,a0}:f32 r:b32",
    ".s32.f32  d, a, b": "d:s32 <- a:f32 b:f32",
}


@pytest.mark.parametrize("line", SIGNATURES)
def test_a_line_gives_its_operands_types(project: Project, line: str) -> None:
    write(project, line)
    (v,) = read(project.root).instructions["try"].variants
    assert signature(v) == SIGNATURES[line]


def test_types_count_in_their_order_and_modifiers_in_none(project: Project) -> None:
    write(project, ".rn.ftz.f16.f32  d, a", ".rn.ftz.f32.f16  d, a")
    one, other = read(project.root).instructions["try"].variants
    assert one.form != other.form and one.names == other.names
    assert one.form == (frozenset(("ftz", "rn")), ("f16", "f32"), 1)
    assert (one.operands, one.identifier) == (1, "try_rn_ftz_f16_f32_1")


def test_lanes_in_registers_of_their_own_are_operands_of_a_statement(project: Project) -> None:
    write(project, ".f16x2.f32  d, a1, a0, r:b32")
    (v,) = read(project.root).instructions["try"].variants
    assert (v.operands, len(v.sources), v.lanes) == (3, 2, 2)


def test_a_modifiers_name_may_hold_colons(project: Project) -> None:
    project.edit("spec/modifiers.yaml", "\nmodifiers:\n", '\nmodifiers:\n  "scaled::n2":\n    summary: Scaled.\n')
    write(project, "{.scaled::n2}.f32  d, a")
    assert [v.spelling for v in read(project.root).instructions["try"].variants] == ["try.f32", "try.scaled::n2.f32"]


# Each: the line with « before the mistake, a part of the message, a part of the help.
MISTAKES = {
    "a type nobody knows": (".f32  d, a, b:«f33", "unknown type or operand 'f33'", "'f32'"),
    "an operand nobody knows": (".f32  d, a, b:«e", "unknown type or operand 'e'", ""),
    "an operand with the type of one that has the same": (".f32  d, a:«b, b:a", "unknown type or operand", ""),
    "an operand twice": (".f32  d, a, b, r:b32, «r:b32", "'r' is stated twice", ""),
    "the result among the sources": (".f32  d, a, «d:f32", "'d' is stated twice", ""),
    "a strange name without a type": (".f32  d, a, «r", "the source operands are a, then b, then c", "r:b32"),
    "more types than operands": ("«.f16.f32.f64  d, a", "ends in 3 types, for 2 operands that state none", "c:f32"),
    "a number as a predicate": (".f32  «p:f32, a", "the result p is a predicate", "write d"),
    "a number that is negated": (".f32  d, «{!}a", "a is no predicate", ""),
    "one predicate for two lanes": (".f16x2  «p, a, b", "p has 1 lane, other operands have 2", "p0|p1"),
    "lanes that differ": (".f32.f16x2  «d, a", "d has 1 lane, other operands have 2", ""),
    "lanes of a type that has lanes": (".f16x2  d, «a1, a0", "a has registers for lanes of .f16x2", ""),
    "a lane too few": (".f16x2.f32  d, «a2, a0", "the lanes of 'a' are not numbered from 0 on", "a1, a0"),
    "a vector of two operands": (".f16x2.f32  d, «{a1, b0}", "a vector has the lanes of one operand", "{a1, a0}"),
    "a second result of a number": (".f32  «d{|q}, a", "the first operand is the result", "p{|q}"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_gives_no_signature_is_reported_where_it_is(project: Project, name: str) -> None:
    marked, message, help = MISTAKES[name]
    write(project, marked.replace("«", ""))
    found = read_all(project.root).diagnostics[0]
    assert message in found.message and help in found.help
    column = len("  - try") + marked.index("«") + 1
    assert (found.path, found.mark.line) == (FILE, 4)
    # A spelling is named as a whole: its line begins with the opcode.
    assert found.mark.column == (column if marked[0] != "«" else column - len("try"))


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("{result: .f16}", ["try.f16.f32"]),
        ("{source: .f16}", ["try.f32.f16"]),
        ("{result: '.{f16,f32}', source: .f16}", ["try.f32.f16"]),
        (".f16", ["try.f16.f32", "try.f32.f16"]),
        ("{types: 2}", ["try.f16.f32", "try.f32.f16"]),
        ("{types: 1}", ["try.f64"]),
        (".f16.f32", ["try.f16.f32"]),
        ("try.f32.f16", ["try.f32.f16"]),
        ("{lacks: .f64}", ["try.f16.f32", "try.f32.f16"]),
    ],
)
def test_selectors_know_the_places_of_types(project: Project, selector: str, selected: list[str]) -> None:
    write(project, ".{f16.f32,f32.f16}  d, a".replace(".{f16.f32,f32.f16}", ".f16.f32"), ".f32.f16  d, a", ".f64  d, a")
    project.edit(FILE, "semantics: |\n  d = a\n", "semantics: |\n  d = convert(a, type)\n")
    project.edit(FILE, "  - ptx: 1.0\n", f"  - ptx: 1.0\n  - {{for: {selector}, ptx: 9.0}}\n")
    variants = read(project.root).instructions["try"].variants
    assert [v.spelling for v in variants if v.requires.ptx == "9.0"] == selected
