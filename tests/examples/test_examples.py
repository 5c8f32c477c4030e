"""The examples of how a variant is written: the compiler makes the variant of each, and lint finds nothing wrong."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from helpers.project import Project
from helpers.repository import specification
from helpers.sizes import each_size, spread
from oracles.nvcc import bodies, made
from ptxspec.examples.cuda import TYPES, CudaExpression, calls, inline
from ptxspec.examples.statement import ptx, statement
from ptxspec.examples.triton import triton
from ptxspec.lint.languages import CPP, PYTHON
from ptxspec.lint.linter import Linter
from ptxspec.model import Spec, Variant
from ptxspec.proving.machine.evidence import targets
from ptxspec.ptx.complaints import NOTE
from ptxspec.query.database import Database

NEWEST = specification().catalog.newest_version


def variants(spec: Spec) -> Iterator[Variant]:
    return (v for i in spec.instructions.values() for v in i.variants if spec.has_kernel(v))


def by_target(spec: Spec, some: Iterable[Variant], every: bool, whole: bool) -> dict[str, list[Variant]]:
    """The targets that variants are compiled for: all that take one, or the newest; of a sample those on one target,
    as it takes long to start a compiler."""
    found: dict[str, list[Variant]] = defaultdict(list)
    for v in some:
        here = [t for t in targets(spec) if spec.catalog.takes(v.requires, t, NEWEST)]
        for t in here if every else here[-1:] if whole else {"sm_100a"} & {*here}:
            found[t].append(v)
    return found


def function(v: Variant, call: CudaExpression) -> str:
    """A kernel of one expression. Parameter 0 is where its result goes, the others are the operands in their order."""
    types = [(o.type.in_languages.cuda, p) for o in v.sources for p in o.places]
    given = "".join(f", {type} {name}" for type, name in types)
    return f"({v.result.type.in_languages.cuda} *d_{given}) {{ *d_ = {call.text}; }}"


def same(spelling: str, v: Variant) -> bool:
    """Return whether a spelling is the variant's, with its modifiers in any order."""
    opcode, *names = spelling.split(".")
    types = len(v.type_names)
    return (opcode, sorted(names[:-types]), names[-types:]) == (v.opcode, sorted(v.modifiers), list(v.type_names))


@pytest.mark.sampled(0)
@each_size
def test_the_compiler_makes_the_variant_of_each_expression(spec: Spec, nvcc: Path, tmp_path: Path, whole: bool) -> None:
    having = [v for v in variants(spec) if calls(spec, v)]
    assert len(having) > 350
    wrong = []
    for target, some in by_target(spec, having if whole else spread(having, 60), whole, whole).items():
        cases = [
            (v, call)
            for v in some
            for call in calls(spec, v)
            if not call.target or spec.targets[call.target].order <= spec.targets[target].order
        ]
        for (v, call), found in zip(cases, made(nvcc, tmp_path, [function(*c) for c in cases], target), strict=True):
            names = [p for s in v.sources for p in s.places]
            right = len(found) == 1 and same(found[0].spelling, v)
            if not right or found[0].sources != tuple(str(n) for n in range(1, len(names) + 1)):
                wrong.append((target, str(v), call.text, found[:3]))
    assert not wrong, "\n".join(map(str, wrong))


def assembly(spec: Spec, v: Variant) -> str:
    """A kernel of a variant's inline assembly; its operands come from memory, but for constants."""
    s = statement(spec, v)
    assert s is not None
    declared, asm, rest = inline(spec, v).partition("asm(")
    registers = [p for p in s.sources if p.letter != "n"]
    pointers = "".join(f", const void *{p.name}_" for p in registers)
    loads = " ".join(f"{p.name} = *(const {TYPES[p.letter]} *){p.name}_;" for p in registers)
    ((result),) = s.results[:1]
    stores = " ".join(f"(({TYPES[p.letter]} *)d_)[{n}] = {p.name};" for n, p in enumerate(s.results))
    assert result.name in v.result.places
    return f"(void *d_{pointers}) {{ {declared} {loads} {asm}{rest} {stores} }}"


@pytest.mark.sampled(0)
@each_size
def test_inline_assembly_of_cuda_compiles_to_the_variant(
    spec: Spec, nvcc: Path, ptxas: Path, tmp_path: Path, whole: bool
) -> None:
    # A link of a chain makes no sense alone.
    every = [v for v in variants(spec) if not v.has_implicit]
    for target, some in by_target(spec, every if whole else spread(every, 40), False, whole).items():
        compiled = bodies(nvcc, tmp_path, [assembly(spec, v) for v in some], target)
        for v, body in zip(some, compiled, strict=True):
            assert re.findall(rf"(?<![\w.]){re.escape(v.spelling)}\s", body), (v, target)
        command = [str(ptxas), "-arch", target, "made.ptx", "-o", "made.cubin"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]


@each_size
def test_lint_finds_nothing_wrong_with_inline_assembly(spec: Spec, db: Database, whole: bool) -> None:
    every = list(variants(spec))
    in_triton = 0
    for target, some in by_target(spec, every if whole else spread(every, 100), False, whole).items():
        for v in (v for v in some if not spec.catalog.hazards(v, target)):
            linter = Linter(db, target, NEWEST)
            for text, language in ((inline(spec, v), CPP), (triton(spec, v), PYTHON)):
                found = [f for f in linter.lint(text, "x", language) if f.severity != NOTE]
                assert found == [], (v, text)
            in_triton += bool(triton(spec, v))
    assert in_triton > len(every) / 2 if whole else in_triton > 30


def test_lint_would_find_a_wrong_register(db: Database, spec: Spec) -> None:
    v = variant(spec, "fma.rn.f32")
    for text, language in ((inline(spec, v), CPP), (triton(spec, v), PYTHON)):
        wrong = text.replace('"f"(a)', '"d"(a)').replace('"=f,f,', '"=f,d,')
        assert wrong != text and [f.code for f in Linter(db, "sm_90", NEWEST).lint(wrong, "x", language)]


def variant(spec: Spec, spelling: str) -> Variant:
    return next(v for v in spec.instructions[spelling.split(".")[0]].variants if v.spelling == spelling)


def test_every_operand_of_triton_has_a_letter_and_a_number(spec: Spec) -> None:
    for v in spread(list(variants(spec)), 400):
        if text := triton(spec, v):
            letters = re.findall(r'^    "([^"]*)", \[', text, re.MULTILINE)[0].split(",")
            numbers = {int(n) for n in re.findall(r"\$(\d+)", text)}
            assert numbers == set(range(len(letters))), text
            results = sum(letter.startswith("=") for letter in letters)
            assert all(letter.startswith("=") for letter in letters[:results]), text


TEXTS = {
    "fma.rn.f32": (
        "fma.rn.f32 %d, %a, %b, %c;",
        'float d, a, b, c;\nasm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));',
        'd = tl.inline_asm_elementwise(\n    "fma.rn.f32 $0, $1, $2, $3;",\n    "=f,f,f,f", [a, b, c],\n'
        "    dtype=tl.float32, is_pure=True, pack=1)",
    ),
    # The upper lane stands first, and the first element of a tensor is the lower one.
    "cvt.rn.satfinite.e4m3x2.f32": (
        "cvt.rn.satfinite.e4m3x2.f32 %d, %a1, %a0;",
        "unsigned short d;\nfloat a1, a0;\n"
        'asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(a1), "f"(a0));',
        'd = tl.inline_asm_elementwise(\n    "cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;",\n    "=h,f,f", [a],\n'
        "    dtype=tl.float8e4nv, is_pure=True, pack=2)",
    ),
    "setp.eq.f32": (
        "setp.eq.f32 %p, %a, %b;",
        'unsigned p;\nfloat a, b;\nasm("{\\n"\n    "  .reg .pred _p;\\n"\n    "  setp.eq.f32 _p, %1, %2;\\n"\n'
        '    "  selp.b32 %0, 1, 0, _p;\\n"\n    "}"\n    : "=r"(p) : "f"(a), "f"(b));',
        'p = tl.inline_asm_elementwise(\n    """{ .reg .pred _p;\n       setp.eq.f32 _p, $1, $2;\n'
        '       selp.b32 $0, 1, 0, _p; }""",\n    "=r,f,f", [a, b],\n    dtype=tl.int32, is_pure=True, pack=1)',
    ),
    # A register of eight bits is half of one of sixteen; Triton has no elements of four bits.
    "cvt.rn.f16x2.e2m1x2": (
        "cvt.rn.f16x2.e2m1x2 %d, %a;",
        'unsigned d;\nunsigned short a;\nasm("{\\n"\n    "  .reg .b8 _a, _ah;\\n"\n    "  mov.b16 {_a, _ah}, %1;\\n"\n'
        '    "  cvt.rn.f16x2.e2m1x2 %0, _a;\\n"\n    "}"\n    : "=r"(d) : "h"(a));',
        "",
    ),
}


@pytest.mark.parametrize("spelling", TEXTS)
def test_a_variant_is_written_so(spec: Spec, spelling: str) -> None:
    v = variant(spec, spelling)
    assert (ptx(v), inline(spec, v), triton(spec, v)) == TEXTS[spelling]


def test_two_numbers_in_64_bits_come_to_triton_in_two_registers(spec: Spec) -> None:
    text = triton(spec, variant(spec, "add.rn.f32x2"))
    assert '"=f,=f,f,f,f,f", [a, b]' in text and "mov.b64 _a, {$2, $3};" in text and "mov.b64 {$0, $1}, _d;" in text


def test_no_expression_is_known_twice(spec: Spec) -> None:
    for v in variants(spec):
        texts = [c.text for c in calls(spec, v)]
        assert len(texts) == len(set(texts))
        own = {i.call for i in spec.instructions[v.opcode].intrinsics_of.get(v.form, ())}
        functions = {f.name.rpartition(".")[2] for f in spec.functions.becoming.get(v.spelling, ())}
        assert not functions & {text.partition("(")[0] for text in own}, v


MISTAKES = (
    ('for: add.rm.f46, call: "f(a, b)"', "no variant of add is spelled 'add.rm.f46'", "syntax lines"),
    ('for: mul.f32, call: "f(a, b)"', "no variant of add is spelled 'mul.f32'", ""),
    ('for: add.f32, call: "f(a)"', "'f(a)' uses a", "the operands of add.f32 are a, b"),
    ('for: add.f32, call: "f()"', "'f()' uses no operand", ""),
    ('for: "add.{rn,rz}.f32", call: "f{1,2,3}(a, b)"', "there are 2 spellings, and 3 expressions", "each spelling"),
    ('for: add.f32, call: "f(a, b)", target: sm_9', "unknown target 'sm_9'", "sm_90"),
    ("for: add.f32", "missing key 'call'", ""),
)


def test_mistakes_in_intrinsics_are_reported_by_their_place(project: Project) -> None:
    path = "spec/instructions/add.yaml"
    text = re.sub(r"\nintrinsics:\n(?:  .*\n)*", "\n", (project.root / path).read_text("utf-8"))
    lines = len(text.splitlines())
    for entry, message, help in MISTAKES:
        project.write(path, f"{text}intrinsics:\n  - {{{entry}}}\n")
        result = project.run("validate")
        assert result.code == 1 and message in result.err and help in result.err, result.err
        assert f"{path}:{lines + 2}:" in result.err


def test_a_language_of_a_type_that_is_not_there_is_reported(project: Project) -> None:
    project.edit("spec/types.yaml", "  f64:     {cuda: double,", "  f65:     {cuda: double,")
    result = project.run("validate")
    assert result.code == 1 and "unknown type 'f65'" in result.err and "f64" in result.err
