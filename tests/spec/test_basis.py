"""The basis of tables, notes and requirements: each states it, truly as far as that can be told, and shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import ROOT, repository
from helpers.project import Project
from ptxspec import Database, Requirement
from ptxspec.basis import KINDS, Basis
from ptxspec.model import CornerRow, CornerTable, Instruction
from ptxspec.query import show

SPEC = repository.specification()
DB = repository.database()
MANUAL = ROOT / "generated/manual"
MAX = "spec/instructions/max.yaml"


def raw(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), yaml.BaseLoader)


def entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry of the files that has basis, with where it stands. A NaN rule of types.yaml may be stated anew."""
    for path in sorted((ROOT / "spec/instructions").glob("*.yaml")):
        data = raw(path)
        for key in ("requires", "corner_cases", "notes"):
            for i, entry in enumerate(data.get(key, [])):
                yield f"{path.name}: {key} {i + 1}", entry
    for name, rule in raw(ROOT / "spec/types.yaml")["nan_rules"].items():
        yield f"types.yaml: {name}", rule
    for name, modifier in raw(ROOT / "spec/modifiers.yaml")["modifiers"].items():
        yield f"modifiers.yaml: {name}", modifier


def page(opcode: str, suffix: str = "md") -> str:
    """Return a page without the links to the glossary, which stand within its texts."""
    text = (MANUAL / f"{opcode}.{suffix}").read_text("utf-8")
    return re.sub(r"\[([^]]*)\]\(glossary\.md#[\w-]+\)", r"\1", text)


# Each says what it rests on


def test_each_table_note_requirement_rule_and_modifier_says_what_it_rests_on() -> None:
    assert [where for where, e in entries() if e.keys().isdisjoint(("section", "ieee754", "basis"))] == []


def test_a_section_that_is_named_is_on_the_instructions_own_pages_or_above_them() -> None:
    for i in SPEC.instructions.values():
        own = {p.section for p in i.pages} | {p.section.rpartition(".")[0] for p in i.pages}
        said = [*i.rules, *i.corner_tables, *i.notes, *(rule for _, rule in i.nan)]
        cited = {s for entry in said for s in entry.basis.section.split(", ") if s}
        assert cited <= own, i.opcode


def makes_canonical_nan(i: Instruction, row: CornerRow) -> bool:
    return all(v.kind == "bits" and v.bits in (0x7FFF, 0x7FFFFFFF) for v in row.results)


def is_of_floats(i: Instruction, table: CornerTable) -> bool:
    """An integer of the same bits is no NaN."""
    return any(table.selector.matches(v) and v.result.type.kind.sort != "integer" for v in i.variants)


def test_bits_of_a_nan_that_the_manual_leaves_open_rest_on_something_else() -> None:
    found = [(i.opcode, t) for i in SPEC.instructions.values() for t in i.corner_tables
             if any(makes_canonical_nan(i, r) for r in t.rows) and is_of_floats(i, t)]  # fmt: skip
    assert len(found) > 30
    assert [(o, t.title) for o, t in found if {*t.basis.kinds} <= {"manual", "derived"}] == []


@pytest.mark.parametrize(
    ("opcode", "title", "basis"),
    [
        ("div", "Large divisors with .full", "ptxas folding"),
        ("cos", "Subnormal numbers", "ptxas folding"),
        ("ex2", "Subnormal operands", "ptxas folding"),
        ("rcp", "The nearest upper word in double precision", "our reading of PTX ISA 9.7.3.14"),
        ("rsqrt", "The nearest upper word in double precision", "our reading of PTX ISA 9.7.3.17"),
        ("rsqrt", "Negative numbers and the upper word in double precision", "our reading of PTX ISA 9.7.3.17"),
        ("tanh", "Subnormal numbers pass through", "PTX ISA 9.7.3.22"),
        ("tanh", "Subnormal numbers in half precision", "our reading of PTX ISA 9.7.4.9"),
        ("mul", "Saturation of a negative zero", "ptxas folding; our reading"),
        ("add", "Exact zero sums", "derived from IEEE 754 6.3"),
        ("add", "Payloads in double precision", "derived from PTX ISA 9.7.3 and IEEE 754 6.2.3"),
        ("max", "NaN results without .NaN", "our reading of PTX ISA 9.7.3.12"),
        ("testp", "Normal, zeros included", "PTX ISA 9.7.3.1"),
    ],
)
def test_what_a_table_rests_on(opcode: str, title: str, basis: str) -> None:
    (table,) = (t for t in SPEC.instructions[opcode].corner_tables if t.title == title)
    assert table.basis.text == basis


def test_what_an_emulator_reads_into_a_silent_manual_is_open() -> None:
    for v in DB.variants:
        names = v.spelling.split(".")[1:]
        # Integers have no -0.0.
        zeros = any(DB.data["types"][s.type]["sort"] == "float" for s in v.sources)
        clamped = "sat" in names and v.kind == "float" and v.claim == "exact" and zeros
        assert ("whether .sat turns -0.0 into +0.0" in v.basis) == clamped, v
        cut = v.opcode == "mad" and v.types[-1] == "f32" and not {"rn", "rz", "rm", "rp"} & {*names}
        assert ("which way sm_1x rounds the sum" in v.basis) == cut, v


# It is shown


@pytest.mark.parametrize("opcode", SPEC.instructions)
def test_the_pages_show_what_everything_rests_on(opcode: str) -> None:
    i, text, html = SPEC.instructions[opcode], page(opcode), unescape(re.sub("<[^>]*>", "", page(opcode, "html")))
    for t in i.corner_tables:
        assert f"\n{t.title} ({t.basis.text})" in text
        # What the rows are about may stand between.
        assert re.search(rf"{re.escape(t.title)}[^\n]*{re.escape(t.basis.text)}", html)
    # What is merely loose is told above, before anybody writes the instruction.
    notes = [n for n in i.notes if not n.loose]
    assert all(f"({n.basis.text})" in line for n, line in zip(notes, listed(text, "Notes"), strict=True))
    loose = [n for n in i.notes if n.loose]
    assert all(f"({n.basis.text})" in line for n, line in zip(loose, listed(text, "Unexpected results"), strict=True))
    rules = [line for line in text.partition("## Requirements")[2].partition("## ")[0].splitlines() if line[:1] == "|"]
    for rule, line in zip((*i.rules, *i.assembler_rules), rules[2:], strict=True):
        assert line.endswith(f"| {rule.basis.text} |")
    for m in SPEC.modifiers.values():
        if f"- `.{m.name}`: " in text:
            assert f"{m.summary} ({m.basis.text})" in text


def listed(text: str, heading: str) -> list[str]:
    found = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in found.splitlines() if line.startswith("- ")]


def test_the_data_says_it_as_the_pages_do() -> None:
    for name, i in SPEC.instructions.items():
        opcode = json.loads((ROOT / f"generated/data/opcodes/{name}.json").read_text("utf-8"))
        places = (
            ([table[2] for table in opcode["corner_cases"]], i.corner_tables),
            ([note[2] for note in opcode["notes"]], i.notes),
            ([rule["basis"] for rule in opcode["requires"]], i.rules),
        )
        for said, own in places:
            for place, entry in zip(said, own, strict=True):
                basis = opcode["bases"][place]
                assert Basis(tuple(basis[0]), *basis[1:]) == entry.basis
        assert all(opcode["bases"][r["basis"]] == [["ptxas verdicts"]] for r in opcode["assembler"]["requires"])


def test_show_says_it_of_a_variants_notes_and_nans(db: Database) -> None:
    shown = show.page(db, ROOT / "generated/manual", "neg.f64")
    assert "- NaN results: The bits are passed on as the operation left them. (ptxas folding)" in shown
    assert "changes only its sign. (PTX ISA 9.7.3.10, 9.7.4.5)" in shown
    shown = show.page(db, ROOT / "generated/manual", "add.f32")
    assert "payloads are lost. (ptxas folding; our reading of PTX ISA 9.7.3, 9.7.4)" in shown


def test_the_page_on_claims_and_the_schema_have_all_kinds() -> None:
    schema = json.loads((ROOT / "spec/schema/common.schema.json").read_text("utf-8"))
    assert schema["$defs"]["ground"]["enum"] == list(KINDS)
    for kind, meaning in KINDS.items():
        assert f"- {kind}: {meaning}" in page("claims")


def test_a_basis_in_words() -> None:
    assert Basis(("manual",), "9.7.3.3").text == "PTX ISA 9.7.3.3"
    assert Basis(("derived",), "9.7.3.3", "6.3").text == "derived from PTX ISA 9.7.3.3 and IEEE 754 6.3"
    assert Basis(("derived",), "", "6.3").text == "derived from IEEE 754 6.3"
    assert Basis(("manual", "derived"), "9.7.3", "6.2").text == "PTX ISA 9.7.3; derived from IEEE 754 6.2"
    assert Basis(("our reading",), "9.7.3").text == "our reading of PTX ISA 9.7.3"
    assert Basis(("manual", "our reading"), "9.7.3").text == "PTX ISA 9.7.3; our reading"
    assert Basis(("ptxas folding", "our reading"), "9.7.3").text == "ptxas folding; our reading of PTX ISA 9.7.3"
    assert Basis().text == "our reading"


# What a file may say

TABLE = "  - title: Both zeros\n    section: 9.7.3.12, 9.7.4.8\n"
WRONG = {
    "an unknown ground": ("basis: ptxas foldings", "ptxas foldings", "is not allowed here", "'ptxas folding'"),
    "an unknown ground in a list": ("basis: [manual, guess]", "guess", "is not allowed here", ""),
    "no ground": ("basis: []", "[]", "too few entries", "or a list of these"),
    "a mapping": ("basis: {manual: 9.7.3}", "{manual", "expected text or a list", "our reading"),
    "the manual, nowhere": ("basis: manual", "manual", "where does the manual say it?", "section: 9.7.3.12"),
    "derived from nothing": ("basis: derived", "derived", "what is it derived from?", "a clause of IEEE 754-2019"),
    "a section that ptxas does not have": (
        "section: 9.7.3.12\n    basis: ptxas folding", "section", "nothing here is based on a section", "remove it",
    ),
    "a clause that nothing is derived from": (
        "ieee754: 6.3\n    basis: our reading", "ieee754", "nothing here is derived from IEEE 754", "remove it",
    ),
    "no clause": ("ieee754: six", "six", "'six' is not what belongs here", "as in 6.3"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WRONG)
def test_a_basis_that_cannot_be_is_named_with_its_place(project: Project, name: str) -> None:
    new, at, message, help = WRONG[name]
    project.edit(MAX, TABLE, f"  - title: Both zeros\n    {new}\n")
    lines = (project.root / MAX).read_text("utf-8").splitlines()
    first = lines.index("  - title: Both zeros")
    line = next(n for n in range(first, len(lines)) if at in lines[n])
    result = project.run("validate")
    assert result.code == 1 and result.err.endswith("\n1 error\n"), result.err
    assert result.err.startswith(f"{MAX}:{line + 1}:{lines[line].index(at) + 1}: error: "), result.err
    assert message in result.err and help in result.err


def test_what_states_no_basis_is_our_reading(project: Project) -> None:
    project.edit(MAX, TABLE, "  - title: Both zeros\n")
    assert project.run("generate").code == 0
    assert "Both zeros (our reading)" in (project.root / "generated/manual/max.md").read_text("utf-8")


# What the manual says and the pages did not, or said wrongly


def test_a_page_claims_a_default_rounding_only_where_there_is_one() -> None:
    for opcode in SPEC.instructions:
        found = re.search(
            r"^Each operation rounds once, in the direction of the modifier: .*; (.*)\.$", page(opcode), re.MULTILINE
        )
        expected = None
        if opcode in ("add", "sub", "mul"):
            expected = "the default is roundTiesToEven"
        elif opcode == "mad":
            expected = "only .f32 has a default, roundTiesToEven"
        elif opcode == "fma":
            expected = "only .e5m2x4 and .e4m3x4 have a default, roundTiesToEven"
        elif opcode in ("div", "rcp", "sqrt", "cvt"):
            expected = "there is no default"
        assert (found[1] if found else None) == expected, opcode
        assert expected is None or f"; {expected}." in page(opcode, "html")


def test_the_nans_of_abs_neg_and_rsqrt_rest_on_their_own_pages() -> None:
    assert "`.f64`: The bits are passed on as the operation left them. (PTX ISA 9.7.3.9)" in page("abs")
    assert "`.f64`: The bits are passed on as the operation left them. (ptxas folding)" in page("neg")
    assert "NaN whose lower word is zero. (PTX ISA 9.7.3.14)" in page("rcp")
    assert "NaN whose lower word is zero. (PTX ISA 9.7.3.17; our reading)" in page("rsqrt")
    for opcode in ("abs", "neg"):
        both = ", ".join(p.section for p in SPEC.instructions[opcode].pages if not p.section.startswith("9.7.1."))
        (note,) = (n for n in SPEC.instructions[opcode].notes if "Future hardware" in n.text)
        assert note.basis.text == f"PTX ISA {both}" and note.selector.text == "without .integer"
        assert all(name in page(opcode) for name in ("FADD", "DADD", "HADD2", "HFMA2.BF16_V2"))


def test_when_a_result_counts_as_tiny_is_said_on_every_page_with_ftz() -> None:
    pages = [o for o in SPEC.instructions if "- `.ftz`: " in page(o)]
    assert {"add", "sub", "sqrt", "sin", "mul"} <= {*pages}
    for opcode in pages:
        line = next(line for line in page(opcode).splitlines() if line.startswith("- `.ftz`: "))
        assert "NVIDIA's manual does not say when a result counts as tiny" in line and "sm_1x" in line
        assert line.endswith("(PTX ISA 9.7.3; ptxas folding; our reading)")


def test_registers_are_those_of_the_instructions_page_and_constants_those_that_are_taken() -> None:
    named = {
        "abs": ".f16x2 or .b32",
        "cvt": ".f16x2 or .b32",
        "set": ".f16x2 or .b32",
        "max": ".f16x2 or .b32",
        "min": ".f16x2 or .b32",
        "tanh": ".f16x2",
        "ex2": ".f16x2",
    }
    for opcode, i in SPEC.instructions.items():
        _, _, table = page(opcode).partition("\n| type | meaning | registers in NVIDIA's manual |")
        rows = [line for line in table.partition("\n\n")[0].splitlines() if line.startswith("| `.")]
        cells = {r.split("`")[1].lstrip("."): [c.strip() for c in r.strip("|").split("|")] for r in rows}
        held = {o.type.name for v in i.variants for o in (v.result, *v.sources) if o.name != "p"}
        assert {*cells} == held | {t for v in i.variants for t in v.type_names}
        for name, (_, _, registers, _, constants) in cells.items():
            if name in {s.type.name for v in i.variants for s in v.sources} and SPEC.types[name].kind.format:
                assert constants == ("floating-point" if name in ("f32", "f64") else "none")
            if name == "f16x2":
                assert registers.partition(",")[0] == named.get(opcode, ".b32"), opcode


# A spelling that the manual has and the assembler does not


def test_a_refused_spelling_is_told_by_query_lint_ledger_and_page() -> None:
    said = (
        "NVIDIA's manual lists rcp.f64 as rcp.rn.f64, for sm_13 or newer, PTX 1.0 to 1.3; "
        "ptxas 13.5.37 accepts it on no target"
    )
    nothing = "rcp.rn.f64 exists, but not on sm_13 and PTX 1.3; from sm_13, PTX 1.4 on"
    for target, ptx, help in (
        (None, None, "write rcp.rn.f64"),
        ("sm_13", "1.3", nothing),
        ("sm_90", None, "write rcp.rn.f64"),
    ):
        verdict = DB.query("rcp.f64", target=target, ptx=ptx)
        assert not verdict.exists and not verdict.outside
        assert [(r.code, r.message) for r in verdict.reasons] == [("refused-by-assembler", said)]
        assert verdict.manual == Requirement(ptx="1.0", target="sm_13", until="1.3")
        assert (verdict.means, verdict.help) == ("rcp.rn.f64", help)
    module = ".version 1.3\n.target sm_13\n.entry k () {\n.reg .f64 %d<4>;\nrcp.f64 %d0, %d1;\n}\n"
    (finding,) = DB.lint(module)
    assert (finding.code, finding.message) == ("refused-by-assembler", said)
    assert "| `rcp.f64` | 1 | sm_13, PTX 1.0 to 1.3 | refuses it |" in page("differences")
    assert "rcp.f64 d, a    // not accepted by ptxas 13.5.37" in page("rcp")
    assert "| `rcp.f64` | 1 | d, a | sm_13, PTX 1.0 to 1.3 | `rcp.rn.f64` |" in page("rcp")


def test_a_refusal_is_about_variants_and_leaves_some(project: Project) -> None:
    project.edit(MAX, "assembler:\n", "assembler:\n  refuses: max.ftz.f64\n")
    result = project.run("validate")
    assert result.code == 1 and "no variant of max matches 'max.ftz.f64'" in result.err
    assert f"{MAX}:{project.place(MAX, 'max.ftz.f64').split(':')[1]}:" in result.err
    project.edit(MAX, "refuses: max.ftz.f64", "refuses: {operands: 2}")
    assert project.run("validate").code == 0
    project.edit(MAX, "refuses: {operands: 2}", 'refuses: [".{f32,f64}", ".{f16,f16x2}", ".{bf16,bf16x2}", .integer]')
    result = project.run("validate")
    assert result.code == 1 and "the assembler takes no max at all" in result.err
