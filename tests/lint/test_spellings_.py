"""`ptxspec lint` against ptxas, line by line; on programs in other languages; and on input that is none."""

from __future__ import annotations

import io
import itertools
import json
import random
import re
import shutil
import subprocess
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import ptxspec
import pytest
from helpers import ROOT
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.lint.findings import CODES, ERROR, NOTE, WARNING, Finding
from ptxspec.lint.linter import Linter
from ptxspec.lint.windows import LIMIT, chunks
from ptxspec.ptxas.asking import REGISTERS, STATEMENT, find_ptxas, judge, statement, version

SOURCES = sorted((ROOT / "generated" / "cuda").glob("*.cu"))
Pair = tuple[str, str]


@pytest.fixture(scope="module")
def db() -> Database:
    return ptxspec.load(root=ROOT)


@pytest.fixture(scope="module")
def ptxas(db: Database) -> Path:
    found = find_ptxas()
    if found is None:
        pytest.skip("no ptxas found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    if f"ptxas {version(found)}" != db.data["assembler"]["observed"]:
        pytest.skip(f"the specification records {db.data['assembler']['observed']}, and {found} is {version(found)}")
    return found


def pairs(db: Database) -> list[Pair]:
    """Every target with every PTX version that knows it."""
    return [(t, v) for t in db.targets for v in db.versions if db.catalog.knows(t, v)]


NEWEST = ("sm_121a", "9.5")
ENDS = [NEWEST, ("sm_13", "1.3"), ("sm_35", "3.1"), ("sm_80", "7.0"), ("sm_90a", "8.1")]


def errors_by_line(db: Database, statements: Sequence[str], pair: Pair) -> dict[int, list[Finding]]:
    target, ptx = pair
    found: dict[int, list[Finding]] = {}
    for f in db.lint(f".version {ptx}\n.target {target}\n" + "\n".join(statements)):
        if f.severity == ERROR:
            found.setdefault(f.line - 3, []).append(f)
    return found


def disagreements(db: Database, ptxas: Path, statements: Sequence[str], pair: Pair, batch: int = 20_000) -> list[str]:
    """The statements on which lint and ptxas differ."""
    found = errors_by_line(db, statements, pair)
    wrong = []
    for start in range(0, len(statements), batch):
        part = statements[start : start + batch]
        for i, messages in enumerate(judge(ptxas, part, *pair), start):
            # Where it refuses an operand, ptxas complains of a `mov` of its own making in some other line.
            if any("instruction 'mov'" in m for m in messages):
                continue
            if bool(messages) != (i in found):
                wrong.append(
                    f"{statements[i]} on {pair}: ptxas {messages}, lint {[f.message for f in found.get(i, [])]}"
                )
    return wrong


# Spellings

HEADS = ("", "rn", "rz", "rm", "rp", "approx", "full")
FLAGS = ("ftz", "sat", "oob", "relu", "NaN", "xorsign", "abs")


def spellings(db: Database) -> Iterator[tuple[str, int]]:
    """All combinations of a modifier of the first place, further ones and a type, with 1 to 4 operands."""
    ignored = [n for group in db.data["assembler"]["ignored"] for n in group if n in db.data["modifiers"]]
    heads = (*HEADS, *ignored)
    for opcode, type_ in itertools.product(db.opcodes, db.data["types"]):
        for head in heads:
            for count in range(len(FLAGS) + 1):
                for flags in itertools.combinations(FLAGS, count):
                    for operands in range(1, 5):
                        yield ".".join((opcode, *([head] if head else []), *flags, type_)), operands
        for two in itertools.combinations(heads[1:], 2):
            for flags in ((), ("ftz",)):
                for operands in range(1, 4):
                    yield ".".join((opcode, *two, *flags, type_)), operands


def written(db: Database, spelling: str, operands: int) -> str:
    predicate = db.opcodes[spelling.partition(".")[0]].variants[0].kind == "predicate"
    return statement(spelling, operands, predicate)


@pytest.mark.parametrize("pair", ENDS)
def test_spellings_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, pair: Pair) -> None:
    every = list(spellings(db))
    assert len(every) > 900_000
    some = random.Random(str(pair)).sample(every, 12_000)
    assert disagreements(db, ptxas, [written(db, *s) for s in some], pair) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("pair", ENDS)
def test_every_spelling_is_judged_as_ptxas_judges_it(db: Database, ptxas: Path, pair: Pair) -> None:
    assert disagreements(db, ptxas, [written(db, *s) for s in spellings(db)], pair) == []


def variants_on(db: Database, ptxas: Path, where: Sequence[Pair]) -> list[str]:
    statements = [written(db, v.spelling, v.operands) for v in db.variants]
    return [w for pair in where for w in disagreements(db, ptxas, statements, pair)]


def test_variants_are_judged_as_ptxas_judges_them_on_some_targets_and_versions(db: Database, ptxas: Path) -> None:
    assert variants_on(db, ptxas, random.Random(1).sample(pairs(db), 40)) == []


@pytest.mark.exhaustive
def test_variants_are_judged_as_ptxas_judges_them_on_all_targets_and_versions(db: Database, ptxas: Path) -> None:
    assert variants_on(db, ptxas, pairs(db)) == []


STRANGE_NAMES = (
    "foo",
    "FTZ",
    "nan",
    "cc",
    "lo",
    "wide",
    "uni",
    "v2",
    "eq",
    "global",
    "rni",
    "noftz",
    "satfinite",
    "x2",
)
OPERANDS = (
    "1.0", "0", "1", "-1", "-2.5", "0f3F800000", "0d3FF0000000000000", "0x10", "1e3", ".5", "1.", "_", "(1.0)",
    "1.0+2.0", "1.0+1", "-0f3F800000", "+1.0", "1.0f", "-@1", "!%p1", "[%b1]", "@1|%p1", "@1|_", "1U", "",
    "@1 @2", "1.0*2.0",
    "-(1.0)", "1.0<2.0", "017", "08", "0b11", "0f3F8", "~1", "!1", "--1.0", "- 1.0", "(@1)",
)  # fmt: skip


def mutated(db: Database, r: random.Random) -> str:
    """A variant's statement, often spoilt in one place or several; `@` in an operand stands for the registers."""
    modifiers, types = list(db.data["modifiers"]), list(db.data["types"])
    ignored = [n for group in db.data["assembler"]["ignored"] for n in group]
    v = r.choice(db.variants)
    opcode, *names = v.spelling.split(".")
    for _ in range(r.choice((0, 0, 0, 1, 1, 2, 3))):
        change = r.random()
        place = r.randrange(len(names) + 1)
        if change < 0.3 and names:
            names.pop(r.randrange(len(names)))
        elif change < 0.6:
            names.insert(place, r.choice(modifiers))
        elif change < 0.7:
            names.insert(place, r.choice([*ignored, *STRANGE_NAMES]))
        elif change < 0.8:
            names.insert(place, r.choice(names or modifiers))
        elif change < 0.85:
            names.insert(place, r.choice(types))
        elif change < 0.95:
            r.shuffle(names)
        else:
            opcode = r.choice(list(db.opcodes))
    register = next((REGISTERS[n] for n in reversed(names) if n in REGISTERS), "%f")
    result = "%p" if db.opcodes[opcode].variants[0].kind == "predicate" else register
    count = max(0, v.operands + (r.choice((-1, 1, 2, -3)) if r.random() < 0.1 else 0))
    prefixes = [result, *[register] * count]
    if db.form(opcode, *names) in db.mixed_forms:
        # What is not declared here has the types that the form wants: the first one at both ends.
        one, two = (REGISTERS[n] for n in names if n in REGISTERS)
        prefixes = [one, *[two] * (count - 1), one][: count + 1]
    operands = [f"{prefix}{i}" for i, prefix in enumerate(prefixes)]
    if r.random() < 0.25:
        i = r.randrange(len(operands))
        operands[i] = r.choice(OPERANDS).replace("@", prefixes[i])
    before = r.choice(("", "", "", "@%p1 ", "@!%p2 ", f"L{r.randrange(10**9)}: "))
    spelled = ".".join((opcode, *names))
    return f"{before}{spelled}{r.choice((' ', '  ', chr(9)))}{r.choice((', ', ',', ' , ')).join(operands)};"


def spoilt(db: Database, count: int, seed: object) -> list[str]:
    r = random.Random(str(seed))
    some = [mutated(db, r) for _ in range(count)]
    return [s for s in some if STATEMENT.fullmatch(s)]


@pytest.mark.parametrize("pair", [NEWEST, ("sm_61", "8.2")])
def test_spoilt_statements_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, pair: Pair) -> None:
    # ptxas stops at what it cannot read, so that a batch is judged in many runs.
    assert disagreements(db, ptxas, spoilt(db, 3_000, pair), pair, batch=200) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(12))
def test_many_spoilt_statements_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, seed: int) -> None:
    pair = random.Random(seed).choice(pairs(db))
    assert disagreements(db, ptxas, spoilt(db, 10_000, seed), pair, batch=300) == []


@pytest.mark.parametrize(
    "constant",
    [
        "1e-400", "4.9e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1e308", "1.7976931348623159e308",
        "1e309", "-1e309", "1e-40", "1e39", "0e-400", f"0e-{'9' * 30}",
        f"{2.0**-1074:.1074f}", f"{2.0**-1074:.1074f}1", "1.0+", "(1.0+)",
        "1.0/0.0", "1.0/-0.0", "1.0/(2.0-2.0)", "1.0/(1e-200*1e-200)", "1.0/(1e308*1e308)", "1e308+1e308", "((1.0)",
        "1.0)", "()", "((1.0))", "(1.0+2.0)*-3.0", "1.0++-1.0", "1.0**2.0", "*1.0", "1.0 2.0", "(1.0)(2.0)",
        "0f3F800000+1.0", "+0f3F800000", "(0f3F800000)", "0d3FF0000000000000+1.0", "-0d3FF0000000000000",
        "1.0/0d0000000000000000", "0d0000000000000001", "1.0+1", "1.0/0", "1.0+%f0", "1.e5", "1e", "08.0",
    ],
)  # fmt: skip
def test_constants_are_computed_as_by_ptxas(db: Database, ptxas: Path, constant: str) -> None:
    # One at a time: after an overflow ptxas finds another one in a constant that is right.
    for type_, register in (("f32", "%f"), ("f64", "%d")):
        assert disagreements(db, ptxas, [f"mul.{type_} {register}0, {register}1, {constant};"], NEWEST) == []


@pytest.mark.parametrize("type_", ["f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "f32x2"])
def test_each_modifier_of_the_assembler_is_taken_or_refused_as_by_ptxas(db: Database, ptxas: Path, type_: str) -> None:
    """What is recorded of repeated, ignored and leading modifiers holds for every variant."""
    assembler = db.data["assembler"]
    ignored = [n for group in assembler["ignored"] for n in group]
    some = []
    for v in db.variants:
        opcode, *names = v.spelling.split(".")
        if v.types[-1] != type_:
            continue
        added = [names[:1] + names, *([n, *names] for n in ignored), *([*names, n] for n in names)]
        some += [written(db, ".".join((opcode, *names)), v.operands) for names in added]
        some += [
            written(db, ".".join((opcode, *p)), v.operands) for p in itertools.islice(itertools.permutations(names), 24)
        ]
    assert disagreements(db, ptxas, some, NEWEST) == []


# Types of other instructions


def places(type_: str) -> str:
    """A register for a type of any section."""
    if type_ in REGISTERS:
        return REGISTERS[type_]
    m = re.search(r"(\d+)(?:x(\d+))?$", type_)
    bits = int(m[1]) * int(m[2] or 1) if m else 32
    return "%r" if bits == 32 else "%b" if bits == 64 else "%h"


@pytest.mark.parametrize("pair", [NEWEST, ("sm_100", "8.6"), ("sm_90", "8.8"), ("sm_20", "3.1")])
def test_every_two_types_together_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, pair: Pair) -> None:
    other, empty = db.data["assembler"]["other_types"], db.data["assembler"]["empty_types"]
    some = []
    for opcode, (one, two) in itertools.product(db.opcodes, itertools.product((*db.data["types"], *other), repeat=2)):
        if (one in other and two in other) or one in empty[opcode] or two in empty[opcode]:
            continue
        rounding = ".rn" if any("rn" in v.names for v in db.opcodes[opcode].variants) else ""
        scalar = [v for v in db.opcodes[opcode].variants if "xorsign" not in v.names and v.types[-1] != "f32x2"]
        count = max(v.operands for v in scalar)
        count = 2 if opcode in ("max", "min") else count
        operands = [places(one), *[places(two)] * (count - 1), places(one)]
        spelled = f"{opcode}{rounding}.{one}.{two}"
        some.append(f"{spelled} {', '.join(f'{r}{i}' for i, r in enumerate(operands))};")
    assert len(some) > 10_000
    assert disagreements(db, ptxas, some, pair) == []


def test_a_single_type_of_another_section_is_refused_where_ptxas_knows_no_such_instruction(
    db: Database, ptxas: Path
) -> None:
    """The instructions that it knows are not judged."""
    assembler = db.data["assembler"]
    for opcode in db.opcodes:
        other = [t for t in assembler["other_types"] if t not in assembler["empty_types"][opcode]]
        missing = [t for t in other if t not in assembler["other_forms"].get(opcode, ())]
        heads = ("", ".rn", ".lo", ".wide", ".approx", ".cc")
        some = [
            f"{opcode}{head}.{t} {', '.join(f'{places(t)}{i}' for i in range(n + 1))};"
            for t in missing
            for head in heads
            for n in (1, 2, 3)
        ]
        assert disagreements(db, ptxas, some, NEWEST) == []
        assert [f for t in set(other) - set(missing) for f in db.lint(f"{opcode}.rn.{t} a, b, c;")] == []


def test_a_type_that_does_nothing_stands_beside_that_of_every_variant(db: Database, ptxas: Path) -> None:
    target, ptx = NEWEST
    some = []
    for v in db.available(target, ptx):
        spelled, _, type_ = v.spelling.rpartition(".")
        registers = statement(v.spelling, v.operands, v.kind == "predicate").partition(" ")[2]
        some += [f"{spelled}.{t}.{type_} {registers}" for t in db.data["assembler"]["empty_types"][v.opcode]]
    assert len(some) > 1_000
    assert not any(judge(ptxas, some, target, ptx)) and not any(map(db.lint, some))


def test_forms_with_two_types_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path) -> None:
    mixed = db.data["assembler"]["mixed"]["spellings"]
    some, spoilt_ones = [], []
    for spelling, operands in mixed:
        registers = "%f0, %h1, %h2, %f3" if operands == 3 else "%f0, %h1, %f2"
        some.append(f"{spelling} {registers};")
    for opcode, types in sorted({(s.split(".")[0], tuple(s.split(".")[-2:])) for s, _ in mixed}):
        for head, count in itertools.product(HEADS, range(4)):
            for flags in itertools.combinations(FLAGS, count):
                spelling = ".".join((opcode, *([head] if head else []), *flags, *types))
                spoilt_ones += [f"{spelling} {r};" for r in ("%f0, %h1, %h2, %f3", "%f0, %h1, %f2", "%f0, %h1")]
    assert len(some) > 50 and len(spoilt_ones) > 5_000
    assert disagreements(db, ptxas, spoilt_ones, NEWEST) == []
    for pair in random.Random(2).sample(pairs(db), 60):
        assert disagreements(db, ptxas, some, pair) == []


def test_a_type_that_is_refused_is_pointed_at(db: Database) -> None:
    found = db.lint("add.f32.s32 %f0, %f1, %f2;\nadd.ftz.f32.f16 %f0, %h1, %f2;\nfma.rn.e5m2 %r0, %r1, %r2, %r3;")
    assert [(f.line, f.code, f.source[f.at : f.at + f.length]) for f in found] == [
        (1, "illegal-type", ".s32"),
        (2, "illegal-modifier", ".ftz"),
        (3, "illegal-type", ".e5m2"),
    ]
    assert [f.code for f in db.lint("fma.rn.f32.bf16 %f0, %h1, %h2, %f3;", target="sm_90")] == ["target-too-old"]
    assert db.lint("mul.lo.s32 %r0, %r1, %r2; add.f32.bf16 %f0, %h1, %f2;") == []


# Modules


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (".version 99.9\n.target sm_90\n", "unknown-ptx"),
        (".version 7.9\n.target sm_80\n", "unknown-ptx"),
        (".version 9.5\n.target sm_999\n", "unknown-target"),
        (".version 1.0\n.target sm_12\n", "target-unknown"),
        (".version 7.0\n.target sm_90a\n", "target-unknown"),
        (".version 8.0\n.target sm_80\n", ""),
        (".version 8.0\n.target sm_80, texmode_independent\n", ""),
        (".version 8.0\n.target compute_80\n", ""),
        (".version 08.00 .target sm_80 .address_size 64\n", ""),
        (".version 8.0.1\n.target sm_80\n", "unknown-ptx"),
        (".version 8.\n.target sm_80\n", "unknown-ptx"),
        (".version\n8.0\n.target sm_80\n", "syntax"),
        (".version 8.0.target sm_80\n", ""),
        (".version 8.0\n.target sm_80, foo\n", "unknown-target"),
        (".version 8.0\n.target texmode_independent, sm_80\n", "unknown-target"),
        (".version 8.0\n.target /* one; */ sm_80 // two\n, texmode_unified\n", ""),
        (".version 8.0\n.target sm_080\n", ""),
        (".version 8.0\n.target sm_0090A\n", ""),
        (".version 8.0\r.target sm_80\r", ""),
        ('# 1 "a.cu" 2\n.version 8.0\n.target sm_80\n', ""),
        (".target sm_80\n.version 8.0\n", "syntax"),
        (".version 8.0\n.address_size 64\n", "syntax"),
        (".version 8.0\n.target sm_80\n.version 8.0\n", "syntax"),
        (".version 8.0\n.TARGET sm_80\n", "syntax"),
        (".version 8.0\n.target sm_80;\n", "syntax"),
        (".version 8.0\n.target sm_80,\n", "syntax"),
    ],
)
def test_headers_are_judged_as_ptxas_judges_them(
    db: Database, ptxas: Path, tmp_path: Path, header: str, code: str
) -> None:
    text = header + ".entry k() {\n.reg .f32 %f<4>;\nadd.f32 %f0, %f1, %f2;\nret;\n}\n"
    assert refused(ptxas, tmp_path, text) == bool(code)
    assert [f.code for f in db.lint(text)][:1] == ([code] if code else [])


def refused(ptxas: Path, folder: Path, text: str) -> bool:
    """Whether ptxas refuses a module, for whatever reason."""
    (folder / "a.ptx").write_bytes(text.encode())
    command = [str(ptxas), "-arch=compute_120", str(folder / "a.ptx"), "-o", str(folder / "a.o")]
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_of_several_targets_the_last_one_counts(db: Database, ptxas: Path, tmp_path: Path) -> None:
    for targets, code in (("sm_80, sm_90", ""), ("sm_90, sm_80", "target-too-old")):
        text = f".version 8.0\n.target {targets}\n.entry k() {{ .reg .b16 h; add.bf16 h, h, h; ret; }}\n"
        assert refused(ptxas, tmp_path, text) == bool(code)
        assert [f.code for f in db.lint(text)] == ([code] if code else [])


def test_after_a_header_that_is_wrong_the_rest_is_judged_all_the_same(db: Database) -> None:
    text = ".version 99.9\n.target sm_999\nadd.f32 %f0, %f1, %f2;\nmax.NaN.f64 %d0, %d1, %d2;\n"
    assert [(f.line, f.code) for f in db.lint(text)] == [
        (1, "unknown-ptx"),
        (2, "unknown-target"),
        (4, "illegal-modifier"),
    ]


def test_options_take_the_place_of_the_header(db: Database) -> None:
    text = ".version 7.0\n.target sm_75\nmax.NaN.f32 %f0, %f1, %f2;\n"
    assert [f.code for f in db.lint(text)] == ["target-too-old"]
    assert db.lint(text, target="sm_80") == []
    assert [f.code for f in db.lint(text, target="sm_80", ptx="6.5")][-1] == "target-unknown"
    assert [(f.line, f.code) for f in db.lint(text, target="sm_90")] == [(1, "target-unknown")]
    with pytest.raises(ptxspec.PtxspecError, match="sm_999"):
        db.lint(text, target="sm_999")


def test_without_header_and_options_what_exists_anywhere_passes(db: Database) -> None:
    assert db.lint("".join(written(db, v.spelling, v.operands) + "\n" for v in db.variants if v.manual)) == []
    assert [f.code for f in db.lint("add.f16.f64 %d0, %d1, %d2;")] == ["illegal-type"]


def test_a_fatal_error_does_not_hide_the_lines_behind_it(db: Database) -> None:
    lines = ["add.f32 _, %f1, %f2;", "`", "add.f32 %f0, %f1 %f2;", "max.NaN.f64 %d0, %d1, %d2;"]
    assert sorted(errors_by_line(db, lines, NEWEST)) == [0, 1, 2, 3]


# Statements


BODY = (
    ".version 8.0\n.target sm_90\n.entry k() {\n.reg .f32 f, g, %f<4>; .reg .b32 r; .reg .b64 b; .reg .pred p, q;\n"
    "LAST:\n@\n}\n"
)


@pytest.mark.parametrize(
    "statements",
    [
        # Wherever the semicolon stands
        "add.f32 f, f, f\n;", "add.f32 f\n,\nf\n,\nf\n;\n", "add.f32 f, f, f // one;\n/* two; */ ;",
        # A semicolon ends one statement
        "add.f32 f, f, f;;", "{ add.f32 f, f, f; };", "{ ; }", ";", "{ }", "L: { add.f32 f, f, f; }", "add.f32 f, f, f",
        ".loc 1 2 3;", ".reg .f32 t;;", ".reg .f32 t", ".pragma \"nounroll\"",
        "mov.f32 f, g\nadd.f32 f, f, f;", "mov.f32 f, g add.f32 f, f, f;", ".reg .f32 t\nadd.f32 f, f, f;",
        "add.f32 f, f, f\nret;", "add.f32 f, f, f\n@p bra LAST;", "add.f32 f, f, f\nL: ret;", "mov.f32 f g;",
        "add.f32 f, f, f\n.reg .f32 t;", "add.f32 f, f, f\n{ ret; }", "mov.b64 b, {r, r}\nadd.f32 f, f, f;",
        "add .f32 f, f, f;", "add. f32 f, f, f;", "mov.u32 r, %tid .x;", "mov.u64 b, (.u64)\n5;", "ret\n\n;",
        ".reg\n.f32\nt\n,\nu\n;", ".shared .align 4 .b8 t[4][2];", "setp.lt.f32 p | q, f, f;",
        "t: .branchtargets LAST, L;\nL: ret;", "u: .callprototype (.param .b32 _) _ (.param .b32 _) ;",
        # Predicates
        "@!p add.f32 f, f, f;", "@ ! p\nadd.f32 f, f, f;", "@p/**/add.f32 f, f, f;", "L: M: @p ret;",
        "@p { add.f32 f, f, f; }", "@p ;", "@p", "@p@q add.f32 f, f, f;", "@p: add.f32 f, f, f;", "@1 add.f32 f, f, f;",
        "@_ add.f32 f, f, f;", "@!!p add.f32 f, f, f;", "@(p) add.f32 f, f, f;", "@p L: add.f32 f, f, f;",
        # Lines for the preprocessor
        "# comment", "add.f32 f, f, f; # comment", "#define X", '#1 "a"', "# 1 \"a\" 2", '#line 1 "a"', "# 1 a", "# 1",
        'add.f32 f, f, # 1 "a"\nf;',
        # Names and characters
        "ADD.f32 f, f, f;", ".REG .f32 t;", "add.f32\u00a0f, f, f;", "add.f32\vf, f, f;", "add.f32\ff, f, f;",
        "// \u00e9\n/* \u00e9 */", '.pragma "\u00e9";', "\ufeffadd.f32 f, f, f;", "\x1a", "*/ add.f32 f, f, f;", "/",
        "1 add.f32 f, f, f;", "%1 add.f32 f, f, f;", "p add.f32 f, f, f;", ": add.f32 f, f, f;",
        # Braces
        "{", "}", "{ { add.f32 f, f, f; }", "{ add.f32 f, f, f; } }", "add.f32 f, f, f};",
    ],
)  # fmt: skip
def test_statements_are_told_apart_as_by_ptxas(db: Database, ptxas: Path, tmp_path: Path, statements: str) -> None:
    text = BODY.replace("@", statements, 1)
    assert bool(db.lint(text)) == refused(ptxas, tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        ".global .align 4 .b8 x[2] = { 1, /* ; */ 2 } , y[2] = {3,4} ;", ".global .f32 x", ".global .f32 x;;", ";",
        ".extern .shared .align 16 .b8 x[];", ".global .attribute(.managed) .align 4 .u32 x;", ".func f();;",
        ".func (.reg .f32 r) f (.reg .f32 a)\n{ ret; }", ".func f() { ret; };", "}", "{",
        ".section .debug_str\n{\na:\n.b8 65,66 // ; }\n.b8 0\nb: .b32 a+4\n}", ".section .debug_str { .b8 1 };",
    ],
)  # fmt: skip
def test_modules_are_read_as_by_ptxas(db: Database, ptxas: Path, tmp_path: Path, text: str) -> None:
    text = f".version 8.0\n.target sm_90\n{text}\n.entry k() {{ ret; }}\n"
    assert bool(db.lint(text)) == refused(ptxas, tmp_path, text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("add.f32 f, f, g\nmul.f32 f, f, g;", (1, 16)),
        ("add.f32 f, f, g // one\n\n  ret;", (1, 16)),
        ("mov.f32 f, g  mul.f32 f, f, g;", (1, 13)),
        (".reg .f32 t\nmul.f32 f, f, g;", (1, 12)),
        ("{ add.f32 f, f, g }", (1, 18)),
        ("add.f32 f, f, g ", (1, 16)),
    ],
)
def test_a_missing_semicolon_is_shown_where_it_belongs(db: Database, text: str, place: tuple[int, int]) -> None:
    assert [(f.line, f.column, f.message) for f in db.lint(text)] == [(*place, "a semicolon is missing here")]


def test_behind_a_missing_semicolon_the_next_statement_is_judged(db: Database) -> None:
    text = "mov.f32 f, g\nadd.foo.f32 f, f, f;\n.reg .f32 t\nadd.foo.f32 f, f, f\nadd.foo.f32 f, f, f;\n"
    found = [(f.line, f.code) for f in db.lint(text)]
    assert found == [(1, "syntax"), (2, "unknown-modifier"), (3, "syntax"), (4, "unknown-modifier"), (4, "syntax"),
                     (5, "unknown-modifier")]  # fmt: skip


UNTOUCHED = r"""
.version 9.5
.target sm_100a
.address_size 64
.file 1 "a;b.cu"
.global .align 4 .b8 table[8] = {1, -2, ~3, 0x7f, 'a'};
.extern .func (.param .b32 r) add (.param .b32 a);
.pragma "nounroll";
.visible .entry kernel(.param .u64 add, .param .f32 mul)
.maxntid 128, 1, 1
{
  .reg .f32 %f<9>; .reg .pred p; .reg .b64 %rd<3>;   // add.foo.f32 %f0, %f1, %f2;
  .reg .b16 %h<4>, %rs; .reg .b32 %r<5>, r0;
  .loc 1 2 3
  .loc 1 2 3, function_name $L__info+4, inlined_at 1 5 6
  /* add.foo.f32 %f0, %f1, %f2;
     " */
  add.s32 %r0, %r1, 1; mad.lo.u32 %r1, %r2, %r3, %r4; min.u16x2 %r0, %r1, %r2; add.f32.bf16 %f0, %h1, %f2;
  sub.rn.f32.f16 %f0, %h1, %f2; fma.rn.sat.f32.bf16 %f0, %h1, %h2, %f3; max.s32.relu %r0, %r1, %r2; neg.s64 %rd0, %rd1;
  mul.wide.u32 %rd0, %r1, %r2; div.s32 %r0, %r1, %r2; abs.s32 %r0, %r1; add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, %r1, 0;
  mul24.lo.u32 %r0, %r1, %r2; sad.u32 %r0, %r1, %r2, %r3; cvt.rn.f32.s32 %f0, %r0; setp.lt.f32 p, %f0, 0f00000000;
  ld.global.v2.f32 {%f0, %f1}, [%rd0+8]; st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};
$L__BB0: @p add.f32 %f0, %f1, 0f3F800000;  @!p fma.rn.f32 %f0, %f1, %f2, 0d3FF0000000000000;
add:  add.rn.f32
    %f0 , %f1 /* the first */ ,
    %f2 // the second
    ;
  { .reg .f32 t; mul.f32 t, %f1, -1.5e-3; }
  call (r0), add, (%r1);
  mov.b64 {lo, hi}, %rd1; vote.sync.any.pred p, p, -1; bra.uni $L__BB0;
  fma.rn.f16x2 %r0, %r1, %r2, %r3; tanh.approx.bf16 %h0, %h1; testp.finite.f32 p, %f1; add.f32x2 %rd0, %rd1, %rd2;
  ret;
}
"""


def test_what_is_right_and_what_is_none_of_the_databases_passes_untouched(db: Database) -> None:
    assert [(f.line, f.message) for f in db.lint(UNTOUCHED)] == []


def test_every_kind_of_finding_says_what_to_do(db: Database) -> None:
    text = """\
        add.foo.f32 %f0, %f1, %f2;
        add.foo %f0, %f1, %f2;
        add.rn %f0, %f1, %f2;
        div.bf16 %h0, %h1, %h2;
        max.NaN.f64 %d0, %d1, %d2;
        fma.f32 %f0, %f1, %f2, %f3;
        add.rn.rz.f32 %f0, %f1, %f2;
        max.xorsign.f32 %f0, %f1, %f2;
        add.ftz.ftz.f32 %f0, %f1, %f2;
        div.ftz.full.f32 %f0, %f1, %f2;
        add.f32 %f0, %f1;
        add.f32 %f0, %f1, 1;
        add.f16 %h0, %h1, 1.0;
        add.f32 %f0, %f1, {%f2};
        add.f32 _, %f1, %f2;
        add.f32 %f0, %f1, 1.0f;
    """
    found = db.lint(text)
    assert [f.code for f in found] == [
        "unknown-modifier", "unknown-type", "missing-type", "illegal-type", "illegal-modifier", "missing-modifier",
        "excluding-modifiers", "missing-modifier", "repeated-modifier", "misplaced-modifier", "operand-count",
        "illegal-immediate", "illegal-immediate", "illegal-operand", "illegal-destination", "syntax",
    ]  # fmt: skip
    assert {f.severity for f in found} == {ERROR}
    assert all(f.help for f in found)
    meant = [f.source[f.at : f.at + f.length] for f in found]
    assert meant[0] == ".foo" and meant[4] == ".NaN" and meant[9] == ".full" and meant[11] == "1" and meant[12] == "1.0"


def test_what_ptxas_tolerates_is_no_error(db: Database) -> None:
    found = db.lint(
        "add.finite.f32 %f0, %f1, %f2;\ntestp.f32 %p0, %f1;\nadd.sat.sat.f32 %f0, %f1, %f2;\n"
        "add.ftz.rn.f32 %f0, %f1, %f2;\nadd.f32.rn %f0, %f1, %f2;\nfma.rz.bf16 %h0, %h1, %h2, %h3;\n"
    )
    assert [(f.line, f.severity, f.code) for f in found] == [
        (1, WARNING, "ignored-modifier"),
        (2, WARNING, "tolerated-spelling"),
        (3, WARNING, "repeated-modifier"),
        (4, NOTE, "modifier-order"),
        (5, NOTE, "modifier-order"),
        (6, NOTE, "undocumented"),
    ]


def test_what_is_offered_exists_there(db: Database) -> None:
    for target, ptx in ENDS:
        text = f".version {ptx}\n.target {target}\nmax.NaN.f64 %d0, %d1, %d2;\nfma.rn.relu.f16 %h0, %h1, %h2;\n"
        for f in db.lint(text):
            for spelling in re.findall(r"[a-z]\w+\.[\w.]+", f.help.partition("write ")[2]):
                assert any(db.takes(v, target, ptx) for v in db.variants if v.spelling == spelling), f


def test_codes_are_documented(db: Database) -> None:
    statements = spoilt(db, 2_000, "codes")
    assert {f.code for f in db.lint("\n".join(statements))} <= set(CODES)


# What compilers write


@pytest.mark.parametrize("architecture", [80, 90, 120])
def test_what_nvcc_writes_has_no_errors(db: Database, ptxas: Path, tmp_path: Path, architecture: int) -> None:
    nvcc = ptxas.with_name("nvcc")
    if not nvcc.exists() or shutil.which("g++") is None:
        pytest.skip("no nvcc, or no host compiler for it")
    instructions = 0
    for source in SOURCES[:: 1 if architecture == 120 else 6]:
        output = tmp_path / f"{source.stem}.ptx"
        command = [
            str(nvcc),
            "-ptx",
            f"-arch=sm_{architecture}",
            "-I",
            str(source.parent),
            str(source),
            "-o",
            str(output),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        text = output.read_text()
        instructions += len(re.findall(rf"^\s*{source.stem}\.", text, re.MULTILINE))
        assert [f for f in db.lint(text) if f.severity == ERROR] == []
        # One step below its floor everything that is new is refused.
        assert any(f.code == "target-too-old" for f in db.lint(text, target="sm_10", ptx="9.5")) or source.stem in (
            "sin", "cos", "lg2", "div", "sqrt", "rsqrt", "rcp",
        )  # fmt: skip
    assert instructions > 10


def test_the_generated_kernels_have_no_errors(db: Database) -> None:
    for source in SOURCES:
        assert [f for f in db.lint(source.read_text(), language="c++") if f.severity == ERROR] == []


# Programs

CPP = r"""
// asm("add.foo.f32 %0, %1, %2;");
const char *note = "add.foo.f32 %0, %1, %2;", quote = '"', *raw = R"(add.foo.f32 %0, %1, %2;)";
void f() {
  asm("add.one.f32 %0, %1, %2;" : "=f"(a) : "f"(b), "f"(b));
  asm volatile("{\n\t"
      ".reg .f32 t;\n\t"   // a comment "quoted"
      "add.two.f32 t, %1, %2;\n\t"
      "@%p mov.f32 %0, t;\n\t"
      "}\n" : "=f"(a));
  __asm__ __volatile__ (R"ptx(
      // add.foo.f32 %0, %1, %2;
      add.three.f32 %%r1, %1, 1.0;
  )ptx" : "=d"(a));
  asm("add" ROUND ".f32 %0;" :: );
  asm("add.f32 " OPERANDS ";" :: );
  asm("add.four.f32 " OPERANDS(1, (2)) ";" :: );
  asm("add.f32 %0, %1, %2;\tadd.\
five.f32 %0, %1, %2;");
  asm("addl %eax, %ebx\n\tadd x0, x1, #4\n\tmul.s $f1, $f2, $f3\n\tadd.w r0, r1, r2");
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(a) : "f"(0f));
  cuModuleLoadData(&m, ".version 7.0\n.target sm_75\n"
                       "max.NaN.f32 %f0, %f1, %f2;\n");
#define MACRO(x) asm( \
    "add.six.f32 %0, %1, %2;" \
    "add" #x ".f32 %0;" : "=f"(a))
}
"""

PYTHON = r'''
"""add.foo.f32 does not exist."""
def f(a, rnd):
    # "add.foo.f32 %0, %1, %2;"
    tl.inline_asm_elementwise("add.one.f32 $0, $1, $2;", "=f,f,f", [a])
    tl.inline_asm_elementwise(asm="""
        {
            .reg .f32 t;
            add.two.f32 t, $1, $2;
            mov.f32 $0, t;
        }
        """, constraints="=f,f")
    x = f"add.{rnd}.f32 $0; add.three.f32 {a}, $1, $2; {{ add.four.f32 $0, $1, $2; }}"
    y = ("mul.f32 $0, $1, $2;\n"  # a comment
         'add.five.f32 $0, $1, $2;')
    z = "add.f32 {0}, {1}, {2}; add.six.f32 {}, {}, {};".format(1, 2, 3)
    k = cupy.RawKernel(r"""extern "C" __global__ void k() { asm("add.seven.f32 %0, %1, %2;"); }""", "k")
    m = b".version 7.0\n.target sm_70\nmax.NaN.f32 %f0, %f1, %f2;\n"
    w = "add.%s %%f0, %%f1, %%f2;" % t
'''
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven")


@pytest.mark.parametrize(("language", "text", "count"), [("c++", CPP, 6), ("python", PYTHON, 7)])
@pytest.mark.parametrize("size", [7, 64, 1 << 20])
def test_programs_are_searched_for_ptx(db: Database, language: str, text: str, count: int, size: int) -> None:
    pieces = (text[i : i + size] for i in range(0, len(text), size))
    found = list(Linter(db).lint(pieces, "file", language))
    modifiers = [f for f in found if f.code == "unknown-modifier"]
    lines = text.splitlines()
    # A spelling may go on in the next line, behind a backslash.
    places = [re.search(rf"\.(?:\\\n)?{name}\.", text) for name in NUMBERS[:count]]
    expected = [(text.count("\n", 0, m.start()) + 1, m.start() - text.rfind("\n", 0, m.start())) for m in places if m]
    assert [(f.line, f.column) for f in modifiers] == expected
    assert [re.findall(r"has no \.(\w+)", f.message) for f in modifiers] == [[name] for name in NUMBERS[:count]]
    others = [(f.line, f.code) for f in found if f.code != "unknown-modifier"]
    module = next(i for i, s in enumerate(lines, 1) if "max.NaN.f32" in s)
    assert others == [(module, "target-too-old")]


OPERANDS_OF_ASM = ' : "=f"(a) : "f"(b), "f"(c));'


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('asm("add.f32 %0, %1, %2"', 24),
        ('asm("{add.f32 %0, %1, %2}"', 25),
        ('asm("add.f32 %0, %1, %2;" "mul.f32 %0, %1, %2"', 46),
        ('asm("add.f32 %0, %1, %2\\n" "mul.f32 %0, %0, %1;"', 24),
        ('asm("add.f32 %0, %1, %2\\nret;"', 24),
        ('asm("mov.f32 %0, %1\\nadd.f32 %0, %1, %2;"', 20),
        ('asm("add.f32 %0, %1, %2;;"', 25),
        ('asm("add.f32 %0, %1, %2; # a comment"', 26),
        ('asm("ADD.f32 %0, %1, %2;"', 6),
        ('asm("add.f32\u00a0%0, %1, %2;"', 13),
        ('asm("add.f32 %0, %1, 1e-400;"', 22),
        ('asm("L%=: add.bad.f32 %0, %1, %2;"', 14),
        ('asm("$L_%=: add.bad.f32 %0, %1, %2;"', 16),
        ('asm("add.f32 %0, %1, %2\\n;"', 0),
        ('asm("L%=: add.f32 %0, %1, %2; // the end"', 0),
        ('asm("# 1 \\"f\\"\\nadd.f32 %0, %1, %2;"', 0),
        ('asm("// nothing"', 0),
    ],
)
def test_inline_assembly_is_refused_as_by_nvcc(
    ptxas: Path, db: Database, tmp_path: Path, text: str, column: int
) -> None:
    nvcc = ptxas.with_name("nvcc")
    if not nvcc.exists() or shutil.which("g++") is None:
        pytest.skip("no nvcc, or no host compiler for it")
    source, line = tmp_path / "a.cu", text + OPERANDS_OF_ASM
    source.write_text(f"__global__ void k(float *p, float b, float c) {{\nfloat a;\n{line}\n*p = a;\n}}\n")
    command = [str(nvcc), "-arch=sm_90", "-cubin", str(source), "-o", str(tmp_path / "a.cubin")]
    assert (subprocess.run(command, capture_output=True, check=False).returncode != 0) == bool(column)
    assert [f.column for f in db.lint(line, language="c++")] == ([column] if column else [])


@pytest.mark.parametrize(
    "text",
    [
        # Operands with names, which Clang and GCC take
        'asm("add.f32 %[d], %[a], %[b]; @%[p] add.f32 %[d], %[a], 1.0;" : [d] "=f"(d));',
        # Macros and branches, of which nothing is known
        'asm("add.f32 %0, %1" TAIL); asm("add" X ".f32 %0, %1, %2;"); asm("add.f32 %0, %1, %" #n ";");',
        'asm("add.f32 %0, %1"\n#ifdef X\n", %2;"\n#else\n", %3;"\n#endif\n:);',
        'asm("add"\n#ifdef X\n".rn"\n#else\n".rz"\n#endif\n".f32 %0, %1, %2;");',
        # Another machine's
        'asm("1: lock; rep movsb # copy\\n;;\\tjmp 1b"); asm("vadd.f32 q0, q1, q2\\nvmul.f32 q0, q1, q2");',
        'asm("ADD.W r0, r1, r2\\n@ comment"); asm("mov eax ebx");',
    ],
)
def test_inline_assembly_that_other_compilers_take_passes(db: Database, text: str) -> None:
    assert db.lint(text, language="c++") == []


@pytest.mark.parametrize(
    "text",
    [
        'asm volatile(\n#if __CUDA_ARCH__ >= 900\n"add.bad.f32 %0, %1, %2;"\n#endif\n: "=f"(a));',
        'asm(PREFIX "add.bad.f32 %0, %1, %2;");',
        'const char *s = R"(__global__ void k() { asm("add.bad.f32 %0, %1, %2;" : "=f"(a)); })";',
        'const char *s = "asm(\\"add.bad.f32 %0, %1, %2;\\");";',
        'const char *s = R"(.version 8.0\n.target sm_90\n// begin inline asm\nadd.bad.f32 %f0, %f1, %f2;)";',
    ],
)
def test_ptx_is_found_in_cpp(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text, language="c++")] == ["unknown-modifier"]


@pytest.mark.parametrize(
    "text",
    [
        'X = """\n.version 8.0\n.target sm_90\n// begin inline asm\nadd.bad.f32 a, b, c;\n"""',
        'tl.inline_asm_elementwise("""\n// reference: inline asm\nadd.bad.f32 $0, $1, $2;\n""", "=f,f,f")',
        'f"@p{i} add.bad.f32 $0, $1, $2;"',
        'f"""\n  {setup}\n  add.bad.f32 $0, $1, $2;\n"""',
        'f"{setup} add.bad.f32 $0, $1, $2;"',
        'f"L_{i}: add.bad.f32 $0, $1, $2;"',
        '"/* fast */ add.bad.f32 $0, $1, $2;"',
        '"lbl: add.bad.f32 $0, $1, $2;"',
        '"add.bad.f32 %%f%d, %%f%d, %%f%d;" % (1, 2, 3)',
        '"add.bad.f32 $0, %s;" % ", ".join(operands)',
        'jinja2.Template("add.bad.f32 {{ d }}, {{ a }}, {{ b }};")',
    ],
)
def test_ptx_is_found_in_python(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text, language="python")] == ["unknown-modifier"]


@pytest.mark.parametrize(
    "text",
    [
        '"fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;" % (1, 2, 3, 4)',
        'TEMPLATE = "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;"',
        '"add.f32 $%d, $%d, $%d;" % (1, 2, 3)',
        '"add.f32 %(d)s, %(a)s, %(b)s;" % names',
        '("add.rn%sf32 %s0, %s1, %s2;"\n "add.f32 a, b, c;") % names',
        '"fma.rn.f32 $0, %s;" % ", ".join(operands)',
        'jinja2.Template("fma.rn.f32 {{ d }}, {{ a }}, {{ b }}, {{ c }};")',
        'jinja2.Template("add{% if x %}.rn{% else %}.rz{% endif %}.f32 {{ d }}, {{ a }}, {{ b }}; {# end #}")',
        'string.Template("add.f32 ${d}, $a, $b;")',
        '"mov.b64 {{%0, %1}}, %2; {{ add.f32 {0}, {1}, {2}; }}".format(1, 2, 3)',
        'f".version {v}\\n.target sm_{cc}\\n.entry {name}() {{ add.f32 a, b, c; }}"',
        '"mul.f32 a, b, c; add.f32 " + d + ", $1, $2; add.f32 $0, $1, $2;"',
        '";\\n".join(["add.f32 a, b, c", "mul.f32 a, b, c; mul.f32 a, b, c"])',
        'inline_asm_elementwise("add.f32 $0, " + x, "=f")',
        'inline_asm_elementwise("setp.gt.f32 p, $1, $2; @p bra L_${:uid}; add.f32 $0, $1, $2; L_${:uid}:", "=f")',
        'run_asm("mov eax, ebx\\nadd eax, 1; # one")',
        '"""Adds, it is said; as in\n\n    add.f32 a, b, c;\n    add.f32 a, b, c;\n\nand in `mul`; see there."""',
    ],
)
def test_python_that_is_filled_in_later_passes(db: Database, text: str) -> None:
    assert [f.message for f in db.lint(text, language="python")] == []


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('tl.inline_asm_elementwise("add.f32 $0, $1, $2", "=f,f,f")', 46),
        ('tl.inline_asm_elementwise(\tasm="{add.f32 $0, $1, $2}", args=[a])', 52),
        ('f(1, asm=("add.f32 $0, $1, $2;" "mul.f32 $0, $1, $2"))', 52),
        ('x = "add.f32 $0, $1, $2\\nmul.f32 $0, $1, $2;"', 24),
    ],
)
def test_semicolons_are_missed_in_python_too(db: Database, text: str, column: int) -> None:
    found = [(f.column, f.message) for f in db.lint(text, language="python")]
    assert found == [(column, "a semicolon is missing here")]


def test_inline_assembly_is_judged_by_the_options(db: Database) -> None:
    text = 'asm("add.bf16 %0, %1, %2;");'
    assert db.lint(text, language="c++") == []
    assert [f.code for f in db.lint(text, target="sm_80", ptx="7.0", language="c++")] == [
        "target-too-old",
        "ptx-too-old",
    ]
    assert [f.code for f in db.lint(text, target="8.0", language="c++")] == ["target-too-old"]


# Any size


@pytest.mark.parametrize("size", [1, 13, 4096])
def test_where_the_pieces_of_a_file_end_does_not_matter(db: Database, size: int) -> None:
    text = ".version 8.0\n.target sm_80\n" + "\n".join(spoilt(db, 300, "pieces")) + UNTOUCHED
    pieces = (text[i : i + size] for i in range(0, len(text), size))
    whole = list(Linter(db).lint([text], "f"))
    assert len(whole) > 50
    assert list(Linter(db).lint(pieces, "f")) == whole


@pytest.mark.parametrize("size", range(1, 60))
def test_where_a_piece_ends_in_a_string_or_a_comment_does_not_matter(db: Database, size: int) -> None:
    text = (
        '.version 8.0\n.target /* a; b */ sm_80\n.file 1 "a;b.c", 12, 34\n.pragma "a;b";\nadd.rn.bf16 %h0, %h1, %h2;\n'
    )
    found = list(Linter(db).lint((text[i : i + size] for i in range(0, len(text), size)), "f"))
    assert [(f.line, f.code) for f in found] == [(5, "target-too-old")]


def test_memory_does_not_grow_with_the_file(db: Database) -> None:
    block = "add.f32 %f0, %f1, %f2; // a comment\nadd.foo.f32 %f0, %f1, %f2;\n" * 2_000
    linter = Linter(db)

    def peak(blocks: int) -> int:
        tracemalloc.start()
        count = sum(1 for _ in linter.lint((block for _ in range(blocks)), "f"))
        assert count == 2_000 * blocks
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(2)
    assert peak(20) < 1.5 * peak(5)


LONG = 4 * LIMIT


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("x" * LONG, []),
        ("{" * LONG, []),
        ("add.f32 " + "%f1, " * (LONG // 5) + ";\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("add" + ".f32" * (LONG // 4) + " %f0;\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("add.f32 " + "(" * LONG + ";", []),
        ("/*" + "x" * LONG, ["unterminated-comment"]),
        ("/*" + "x" * LONG + "*/ add.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("//" + "x" * LONG + "\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ('.pragma "' + "x" * LONG + "\nadd.foo.f32 %f0, %f1, %f2;", ["unterminated-string", "unknown-modifier"]),
        ("add.f32 %f0,%f1,%f2; " * (LONG // 20) + "add.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ('.pragma "nounroll;\nadd.foo.f32 %f0, %f1, %f2;', ["unterminated-string", "unknown-modifier"]),
        ("add.foo.f32 %f0, %f1, %f2; /* never", ["unknown-modifier", "unterminated-comment"]),
        ("add.f32 %f0, %f1, %f2", ["syntax"]),
        (".global .b8 x[] = {" + "1, " * (LONG // 3) + "};\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("", []),
    ],
    ids=lambda x: x[:24] if isinstance(x, str) else None,
)
def test_lines_of_any_length_are_read(db: Database, text: str, codes: list[str]) -> None:
    found = list(Linter(db).lint(chunks(text), "f"))
    assert [f.code for f in found] == codes
    assert all(len(f.source) < 500 for f in found)


@pytest.mark.parametrize("language", ["c++", "python"])
@pytest.mark.parametrize("unit", ["x", '"', "'", "/*", "#", 'asm("', "asm(", 'R"(', '"""', "\\", '"\n'])
def test_programs_of_any_shape_are_read(db: Database, language: str, unit: str) -> None:
    for _ in Linter(db).lint(chunks(unit * (2 * LIMIT // len(unit) // 8)), "f", language):
        pass


@pytest.mark.parametrize("unit", ["add.f32 a\n", ".reg a\n", ".target ", "@p\n", "a[", "asm"])
@pytest.mark.parametrize("language", ["ptx", "python"])
def test_what_has_no_end_takes_no_longer(db: Database, language: str, unit: str) -> None:
    text = f'"""{unit * (LIMIT // 4 // len(unit))}"""' if language == "python" else unit * (LIMIT // 4 // len(unit))
    start = time.monotonic()
    db.lint(text, language=language)
    assert time.monotonic() - start < 10


# The command


def run(command: str, *arguments: str | Path) -> int:
    return main([command, "--root", str(ROOT), *map(str, arguments)])


def test_the_command_shows_line_caret_reason_and_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.ptx"
    file.write_text(".version 8.0\n.target sm_80\n\tmax.NaN.f64 %d0, %d1, %d2;\n")
    assert run("lint", file) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{file}:3:5: error: max.f64 has no .NaN")
    assert lines[0].endswith("[illegal-modifier]")
    assert lines[2].index("^^^^") == lines[1].index(".NaN")
    assert lines[3].strip() == "help: the manual has no max with all of this"
    assert lines[-1] == "1 error"
    assert run("lint", file, "--target", "sm_90") == 1
    file.write_text("add.ftz.rn.f32 %f0, %f1, %f2;\n")
    assert run("lint", file) == 0


def test_json_is_a_plain_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.cu"
    file.write_text('asm("max.NaN.f64 %0, %1, %2;");\n')
    assert run("lint", file, "--format", "json") == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert list(found) == ["file", "line", "column", "severity", "code", "message", "variant"]
    assert (found["file"], found["line"], found["column"], found["variant"]) == (str(file), 1, 9, "max.NaN.f64")
    file.write_text("")
    assert run("lint", file, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == []


def test_sarif_has_what_code_scanning_asks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.ptx").write_text(
        "add.foo.f32 %f0, %f1, %f2;\nadd.ftz.rn.f32 %f0, %f1, %f2;\nadd.sat.sat.f32 %f0, %f1, %f2;"
    )
    assert run("lint", "a b.ptx", "--format", "sarif") == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (sarif,) = log["runs"]
    rules = sarif["tool"]["driver"]["rules"]
    assert sarif["tool"]["driver"]["name"] == "ptxspec"
    assert all(r["shortDescription"]["text"] and r["help"]["text"] for r in rules)
    assert [r["level"] for r in sarif["results"]] == ["error", "note", "warning"]
    for result in sarif["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "a%20b.ptx"
        assert place["region"]["endColumn"] > place["region"]["startColumn"] >= 1


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01\0\0\0", b"\x89PNG\r\n\x1a\n\0", b"\xff\xfe\xfd\xfc", b"a\0b"])
def test_what_is_not_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    (tmp_path / "a.ptx").write_bytes(data)
    assert run("lint", tmp_path / "a.ptx") == 2
    assert "not a text file" in capsys.readouterr().err


def test_what_cannot_be_read_is_said_and_the_rest_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "a.cu"
    good.write_bytes(b'// caf\xe9\nasm("max.NaN.f64 %0, %1, %2;");\n')
    assert run("lint", tmp_path / "missing.ptx", tmp_path, good) == 2
    captured = capsys.readouterr()
    assert "missing.ptx: No such file" in captured.err
    assert "is a folder" in captured.err
    assert "a.cu:2:9: error" in captured.out
    assert run("lint", good, "--target", "sm_999") == 2
    assert run("lint", good, "--ptx", "99.9") == 2


@pytest.mark.parametrize(("name", "code"), [("a.HIP", 1), ("a.cl", 1), ("a", 0), ("a.rs", 2), ("a.ipynb", 2)])
def test_the_ending_says_what_a_file_is_written_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    (tmp_path / name).write_text('asm("max.NaN.f64 %0, %1, %2;");\n' if code else "add.f32 %f0, %f1, %f2;\n")
    assert run("lint", tmp_path / name) == code
    assert (".ptx .cu" in capsys.readouterr().err) == (code == 2)


def test_standard_input_is_ptx(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = io.TextIOWrapper(io.BytesIO(b".version 8.0\n.target sm_80\nmax.NaN.f64 %d0, %d1, %d2;\n"))
    monkeypatch.setattr("sys.stdin", data)
    assert run("lint", "-") == 1
    assert "<stdin>:3:4: error" in capsys.readouterr().out


def test_the_hook_names_a_command_and_files() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (.*)", hooks)
    assert pattern is not None and "entry: ptxspec lint" in hooks
    assert all(re.search(pattern[1], name) for name in ("a.ptx", "b.cu", "c.cuh", "d.cpp", "e.h", "f.py"))
