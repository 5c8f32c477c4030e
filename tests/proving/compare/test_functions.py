"""spec/functions.yaml: what it says of functions of C, IEEE 754, CUDA and NumPy, and how max and min stand to them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import copied
from helpers.repository import specification
from ptxspec.__main__ import main
from ptxspec.check.functions import check_functions
from ptxspec.model import Compiled, Defined
from ptxspec.proving.compare.comparing import ComparisonResult
from ptxspec.proving.compare.differing import NAN_BITS
from ptxspec.semantics.compile import Compiler
from ptxspec.specification import read_all

pytestmark = pytest.mark.inputs("emulator", "statements", "codegen/ptxspec/proving/compare")

Compare = Callable[..., ComparisonResult]

FUNCTIONS = specification().functions
RELATIONS = [
    (v, name, c.differs)
    for i in specification().instructions.values()
    for c in i.compared
    for v in i.variants
    if c.selector.matches(v)
    for name in c.functions
]


@pytest.mark.parametrize(("v", "name", "differs"), RELATIONS, ids=[f"{v.spelling}-{n}" for v, n, _ in RELATIONS])
def test_a_variant_stands_to_a_function_as_its_file_says(
    compared: Compare, v: object, name: str, differs: tuple[str, ...]
) -> None:
    found = compared(str(getattr(v, "spelling", "")), name, samples=1 << 10)
    told = {", ".join(r.classes) for r in found.rows if not r.open and r.kind != NAN_BITS}
    assert told == {*differs}


def test_min_and_max_say_how_they_stand_to_functions() -> None:
    assert {v.opcode for v, _, _ in RELATIONS} == {"max", "min"}
    for opcode in ("max", "min"):
        names = {n for v, n, _ in RELATIONS if v.opcode == opcode and v.spelling.endswith(".f32")}
        for wanted in (f"f{opcode}f", f"numpy.f{opcode}", f"numpy.{opcode}imum", f"ieee754.{opcode}imumNumber"):
            assert wanted in names


@pytest.mark.sampled(8)
@pytest.mark.parametrize("f", FUNCTIONS.defined, ids=lambda f: f"{f.name}.{f.type.name}")
def test_a_defined_function_runs(compared: Compare, f: Defined) -> None:
    parameters = ", ".join("%" + n for n in "abc"[: f.operands])
    found = compared(
        f.name, {1: "abs", 2: "max", 3: "fma.rn"}[f.operands] + f".{f.type.name} %d, {parameters};", samples=64
    )
    assert found.a.face.sources[0].type.name == f.type.name
    assert found.a.about[0].startswith(f.reference.title)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("f", FUNCTIONS.compiled, ids=lambda f: f.name)
def test_a_compiled_function_is_what_it_is_compiled_to(compared: Compare, f: Compiled) -> None:
    for ptx in f.ptx:
        assert compared(f.name, ptx, samples=64).rows == ()
    for ptx in f.ftz:
        compared(f.name, ptx, samples=64)


# What a register of each type is in CUDA.
CUDA_TYPES = {
    "f32": "float", "f64": "double", "f16": "__half", "bf16": "__nv_bfloat16", "f16x2": "__half2",
    "bf16x2": "__nv_bfloat162", "s32": "int", "u32": "unsigned",
}  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("ftz", [False, True], ids=["ftz=false", "ftz=true"])
def test_the_compiler_makes_this_of_functions(compared: Compare, nvcc: Path, tmp_path: Path, ftz: bool) -> None:
    cases = [(f, i, ptx) for f in FUNCTIONS.compiled for i, ptx in enumerate(f.ftz if ftz and f.ftz else f.ptx)]
    source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    for k, (f, i, _) in enumerate(cases):
        face = compared(f.name, f.ptx[i], samples=1).a.face
        given = [(n, CUDA_TYPES[t.name]) for n, t in face.registers()]
        ((_, result),) = face.result_registers()
        parameters = "".join(f", {t} {n}" for n, t in given)
        call = f"{f.name.removeprefix('cuda.')}({', '.join(n for n, _ in given)})"
        source += f'extern "C" __global__ void k{k}({CUDA_TYPES[result.name]} *d{parameters}) {{ *d = {call}; }}\n'
    (tmp_path / "functions.cu").write_text(source, "utf-8")
    made = tmp_path / "functions.ptx"
    command = [nvcc, "-ptx", "-arch=sm_90", f"-ftz={str(ftz).lower()}", tmp_path / "functions.cu", "-o", made]
    subprocess.run(command, check=True, capture_output=True)
    bodies = dict(re.findall(r"\.entry k(\d+)\(.*?\)\s*\{(.*?)\n\}", made.read_text("utf-8"), re.DOTALL))
    for k, (f, _, ptx) in enumerate(cases):
        operands = ", ".join("%" + n for n, _ in compared(f.name, f.ptx[0], samples=1).a.face.registers())
        whole = ptx if ";" in ptx else f"{ptx} %d, {operands};"
        assert statements(bodies[str(k)]) == statements(whole), f.name


# What brings operands in and the result out.
AROUND = re.compile(r"(?:ld|st|mov|cvta|ret|bra)\b")


def statements(ptx: str) -> list[list[str]]:
    """Statements with their modifiers in one order, and their registers named by where they come from: the parameters
    a, b and c, and else in the order of their appearance, the last one d."""
    found, names = [], {}
    ptx = re.sub(r"//[^\n]*", "", ptx)
    for parameter, register in re.findall(r"ld\.param\S*\s+(%\w+), \[k\d+_param_(\d)\]", ptx):
        names[parameter] = "%" + "dabc"[int(register)]
    for text in re.findall(r"(?<![\w.%$])([a-z][\w.:]*\s[^;{}]*);", ptx):
        head, *operands = re.split(r"[\s,]+", text.strip())
        if AROUND.match(head):
            continue
        opcode, *rest = head.split(".")
        # A register may be written again: what it holds then is another value.
        read = [names.get(o, o) for o in operands[1:]]
        names[operands[0]] = f"value {len(found)}"
        found.append([opcode, *sorted(rest), *read])
    return found


MISTAKES = {
    "unknown reference": ("reference: C23\n    clause: 7.12.12.4", "reference: C24\n    clause: 7", "reference 'C24'"),
    "wrong semantics": ("semantics: d = minimum(a, b)", "semantics: d = minimun(a, b)", "minimun"),
    "wrong for a type": ("semantics: d = maximum(a, b)", "semantics: d = bits(a)", "bits"),
    "wrong opening": ("when: p = isZero(a) and isZero(b) and isSignMinus(a) != isSignMinus(b)", "when: p = a", "p"),
    "twice": ("rsqrtf", "__sinf", "'__sinf' is in the file twice"),
    "other counts": ('ptx: "rcp.{rn,rz,rp,rm}.f64"', "ptx: rcp.rn.f64", "there are 4 functions, and 1 texts for them"),
    "unknown type": ("{sinf: .f32}", "{sinf: .f33}", "f33"),
}  # fmt: skip


def complaints(root: Path) -> str:
    """Return the complaints of `validate` about the files, but for those about corner cases."""
    reading = read_all(root)
    found = reading.diagnostics
    if reading.spec is not None and not found:
        found = check_functions(Compiler(reading.spec))
    return "\n".join(map(str, found))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_file_is_told_where_it_is(tmp_path: Path, mistake: str) -> None:
    root = copied(tmp_path, ("max",))
    old, new, message = MISTAKES[mistake]
    path = root / "spec/functions.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    told = complaints(root)
    assert told.startswith("spec/functions.yaml:") and message in told


def test_a_mistake_in_the_file_is_told_to_whoever_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = copied(tmp_path, ("max",))
    (root / "generated").symlink_to(ROOT / "generated", target_is_directory=True)
    assert read_all(root, "").diagnostics == []
    path = root / "spec/functions.yaml"
    text = path.read_text("utf-8")
    old, new, message = MISTAKES["wrong semantics"]
    path.write_text(text.replace(old, new, 1), "utf-8")
    line = text[: text.index(old)].count("\n") + 1
    for pair in (("max.f32", "fmaxf"), ("max.f32", "max.f32")):
        # 1 would say that the two differ.
        assert main(["compare", "--root", str(root), *pair]) == 2
        out, said = capsys.readouterr()
        assert not out and said.startswith(f"spec/functions.yaml:{line}:") and message in said


def test_a_function_that_nobody_knows_is_refused_in_an_instruction_file(tmp_path: Path) -> None:
    root = copied(tmp_path, ("max",))
    path = root / "spec/instructions/max.yaml"
    path.write_text(path.read_text("utf-8").replace("[ieee754.maxNum]", "[ieee754.maxNumb]"), "utf-8")
    told = complaints(root)
    assert told.startswith("spec/instructions/max.yaml:")
    assert "unknown function 'ieee754.maxNumb'" in told and "did you mean 'ieee754.maxNum'?" in told


def test_a_specification_needs_no_functions(tmp_path: Path) -> None:
    root = copied(tmp_path, ("max",))
    (root / "spec/functions.yaml").unlink()
    path = root / "spec/instructions/max.yaml"
    text = path.read_text("utf-8")
    path.write_text(re.sub(r"compared:\n.*?\n\n(?=notes)", "", text, flags=re.DOTALL), "utf-8")
    assert complaints(root) == ""
