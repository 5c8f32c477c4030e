"""The CUDA sources compile for every generation, and hold the instruction that each kernel is named after."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.kernels import OF_INSTRUCTIONS, bodies, generations, run
from helpers.signatures import Few, few
from helpers.sizes import each_size
from ptxspec.emit.products import cuda
from ptxspec.model import Spec, Variant

pytestmark = pytest.mark.inputs("kernels", "templates/cuda", "codegen/ptxspec/emit/products/cuda.py")

CHOSEN = {"sm_75", "sm_90", "sm_100a", "sm_107", "sm_121f"}
each_source = pytest.mark.parametrize("source", OF_INSTRUCTIONS, ids=lambda p: p.stem)


def kernel_name(v: Variant) -> str:
    return "_".join((*v.spelling.replace("::", ".").split("."), str(v.operands)))


def test_each_opcode_has_a_source_and_each_current_variant_a_kernel(spec: Spec) -> None:
    assert {p.stem for p in OF_INSTRUCTIONS} == set(spec.instructions)
    for path in OF_INSTRUCTIONS:
        named = set(re.findall(r'^PTXSPEC_\w+\((\w+), "', path.read_text("utf-8"), re.MULTILINE))
        current = filter(spec.has_kernel, spec.instructions[path.stem].variants)
        assert named == set(map(kernel_name, current))


@each_source
def test_runs_of_rows_reach_every_row_and_none_beyond(source: Path) -> None:
    text = source.read_text("utf-8")
    rows = {m[1]: m[3].count("{") for m in re.finditer(r"(rows(\d+))\[\]\[\d+\] = \{\n(.*?)\n\};", text, re.DOTALL)}
    runs = {m[1]: [int(n) for n in m[2].split(",")] for m in re.finditer(r"short (c\d+)\[\] = \{([\d, \n]+)\}", text)}
    reached: dict[str, set[int]] = {name: set() for name in rows}
    for name, chosen in set(re.findall(r"^PTXSPEC_\w+\(.*, s\d+, (rows\d+), (c\d+)\)$", text, re.MULTILINE)):
        numbers = [
            n for i in range(0, len(runs[chosen]), 2) for n in range(runs[chosen][i], sum(runs[chosen][i : i + 2]))
        ]
        assert len(set(numbers)) == len(numbers)
        reached[name].update(numbers)
    assert reached == {name: {*range(count)} for name, count in rows.items()}


def only_here(spec: Spec, opcode: str, target: str) -> list[Variant]:
    """The variants with a kernel that a target takes; of an architecture-specific or family-specific target, those that
    its base does not take, as both run the same machine code."""
    catalog, base = spec.catalog, spec.targets[target].base
    return [
        v
        for v in spec.instructions[opcode].variants
        if spec.has_kernel(v) and catalog.takes(v.requires, target) and not (base and catalog.takes(v.requires, base))
    ]


# So many kernels of an opcode are disassembled on each target.
_JUDGED = 300
# Conversions to what is there already.
COPIES = {f"cvt.{t}.{t}" for t in ("f16", "bf16", "f32", "f64")}


def check_kernels(source: Path, target: str, nvcc: Path, nvdisasm: Path, spec: Spec, folder: Path) -> None:
    """Each kernel holds the instruction that it is named after where the target takes it, and nothing elsewhere; and
    what its machine code stores comes of the operands that it loads."""
    whole, some, cubin = folder / "whole.ptx", folder / "some.ptx", folder / "k.cubin"
    run(nvcc, "-Werror", "all-warnings", f"-arch={target}", "-ptx", "-DPTXSPEC_KERNELS_ONLY", "-o", whole, source)
    head, *entries = re.split(r"^(?=\.visible \.entry)", whole.read_text("utf-8"), flags=re.MULTILINE)
    left = bodies("".join(entries))
    for v in filter(spec.has_kernel, spec.instructions[source.stem].variants):
        # Addresses are computed outside of the assembly; in it a vector's registers are operands as others are.
        inside = re.findall(r"begin inline asm(.*?)end inline asm", left.pop(kernel_name(v)), re.DOTALL)
        body = re.sub(r"[{}]", "", "".join(inside))
        # Nothing but this instruction may come of the operands that were loaded.
        found = re.findall(rf"\b{re.escape(v.spelling)}\s+%\S+((?:, ?(?:%\S+|\d+))+);", body)
        taken = spec.catalog.takes(v.requires, target, spec.catalog.newest_version)
        assert {len(f.split(",")) - 1 for f in found} == ({v.operands} if taken else set()), v
        # Of a constant there is a statement for each value.
        assert len(found) <= 1 or any(s.type.is_constant for s in v.sources), v
    assert not left
    # Of an opcode with thousands, others on each target.
    here = only_here(spec, source.stem, target)
    judged = {kernel_name(v): v for v in random.Random(target).sample(here, min(len(here), _JUDGED))}
    if not judged:
        return
    some.write_text("".join([head, *(e for e in entries if re.findall(r"\w+", e)[2] in judged)]), "utf-8")
    run(nvcc.with_name("ptxas"), f"-arch={target}", "-o", cubin, some)
    code = {f["function-name"]: f["sass-instructions"] for f in json.loads(run(nvdisasm, "-json", cubin))[1]}
    for name, v in judged.items():
        # An integer is loaded as wide as it will be.
        integers = {v.result.kind.sort, *(s.kind.sort for s in v.sources)} == {"integer"}
        copied = integers or v.spelling in COPIES or any(s.copied for s in v.sources)
        computed = results_from_loads(code[name], copied)
        unknown = any(h.proof.unknown and h.selector.matches(v) for h in spec.instructions[v.opcode].hazards)
        if unknown and spec.catalog.hazards(v, target):
            assert computed == 0, f"{v}: a hazard says that nvdisasm does not know its machine code"
            continue
        # The carry that a link of a chain reads is loaded as well; and of a constant's statements each may load anew.
        loaded = sum(len(s.places) for s in v.sources)
        right = computed == loaded or (computed > loaded and any(s.type.is_constant for s in v.sources))
        assert right, f"{v} on {target}: {computed} loads reach the stored result"


@pytest.mark.exhaustive
def test_kernels_hold_their_instruction_and_compute_from_what_they_load(
    nvcc: Path, nvdisasm: Path, spec: Spec, tmp_path: Path
) -> None:
    source = next(p for p in OF_INSTRUCTIONS if p.stem == "max")
    check_kernels(source, "sm_75", nvcc, nvdisasm, spec, tmp_path)


@pytest.mark.exhaustive
@each_source
def test_kernels_do_so_on_other_targets(source: Path, nvcc: Path, nvdisasm: Path, spec: Spec, tmp_path: Path) -> None:
    """On the oldest, on the newest and on those whose machine code is unlike others', and of the rest on a few."""
    targets = generations(nvcc)
    assert len(targets) > 20 and {*targets} >= CHOSEN
    rest = [t for t in targets if t not in CHOSEN and only_here(spec, source.stem, t)]
    for target in sorted(CHOSEN | {*random.Random(source.stem).sample(rest, min(len(rest), 3))}):
        check_kernels(source, target, nvcc, nvdisasm, spec, tmp_path)


@pytest.mark.exhaustive
def test_a_folded_constant_would_be_noticed(nvcc: Path, nvdisasm: Path, tmp_path: Path) -> None:
    folded = """extern "C" __global__ void k(const float *a, const float *b, float *d, unsigned int n) {
        float r;
        asm("add.f32 %0, %1, %2;" : "=f"(r) : "f"(1.0f), "f"(2.0f));
        d[threadIdx.x] = r;
    }"""
    (tmp_path / "k.cu").write_text(folded, "utf-8")
    run(nvcc, "-arch=sm_90", "-cubin", "-o", tmp_path / "k.cubin", tmp_path / "k.cu")
    code = json.loads(run(nvdisasm, "-json", tmp_path / "k.cubin"))[1]
    assert results_from_loads(code[0]["sass-instructions"]) == 0


def results_from_loads(instructions: list[dict[str, str]], copied: bool = False) -> int:
    """Return the number of loaded operands if the stored values are computed from them, else 0. Moves alone do not
    count, unless the instruction copies.

    Values are followed without regard to the order of instructions: calls place a slow path behind its use."""
    steps: list[tuple[str, set[str], set[str]]] = []
    loads = 0
    tainted: set[str] = set()
    stored: set[str] = set()
    for i in instructions:
        # What some write of predicates stands in front, and here it is nothing.
        opcode, operands = i["opcode"], re.sub(r"^(PT, ?)+", "", i.get("operands", ""))
        first, _, rest = operands.partition(",")
        if opcode.startswith("LDG"):
            loads += 1
            tainted |= pair(first)
        elif opcode.startswith("STG"):
            stored |= pair(rest) if ".64" in opcode else registers(rest)
        elif first:
            steps.append((opcode, pair(first), registers(rest) | registers(i.get("predicate", ""))))
    computed: set[str] = set()
    for _ in steps:
        before = len(tainted) + len(computed)
        for opcode, written, used in steps:
            if used & tainted:
                tainted |= written
                moved = opcode.startswith(("MOV", "PRMT", "IMAD.MOV"))
                computed |= written if not moved or used & computed else set()
        if len(tainted) + len(computed) == before:
            break
    return loads if stored & (tainted if copied else computed) else 0


def registers(text: str) -> set[str]:
    return set(re.findall(r"\bU?[RP]\d+", text))


def pair(text: str) -> set[str]:
    """Registers and their neighbours, which hold the upper half of 64 bits."""
    found = registers(text)
    return found | {f"{r[: -len(n)]}{int(n) + 1}" for r in found for n in re.findall(r"\d+", r)}


@pytest.mark.exhaustive
@each_source
def test_the_whole_test_program_compiles_without_a_warning(source: Path, nvcc: Path, tmp_path: Path) -> None:
    run(nvcc, "-Werror", "all-warnings", "-Xcompiler", "-Wall", "-arch=sm_100", "-c", "-o", tmp_path / "k.o", source)


def test_the_test_extra_brings_nvcc_on_linux_only() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(r"nvidia-cuda-nvcc[^\"]*sys_platform == 'linux'", text)
    assert importlib.util.find_spec("ptxemu") is not None


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Few:
    return few(tmp_path_factory.mktemp("signatures"))


@pytest.mark.sampled(0)
@each_size
@pytest.mark.parametrize("architecture", ["sm_100a", "sm_75", "sm_90"])
def test_kernels_of_any_signature_hold_their_instruction(
    made: Few, architecture: str, nvcc: Path, nvdisasm: Path, tmp_path: Path, whole: bool
) -> None:
    """Predicates in and out, p|q, registers of eight bits, vectors: what is loaded reaches every result."""
    for source in (made.kernels / f"{opcode}.cu" for opcode in ((*made.checked,) if whole else ("setp",))):
        ptx, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
        options = (f"-arch={architecture}", "-DPTXSPEC_KERNELS_ONLY")
        run(nvcc, "-Werror", "all-warnings", *options, "-ptx", "-o", ptx, source)
        run(nvcc.with_name("ptxas"), f"-arch={architecture}", "-o", cubin, ptx)
        statements_of = bodies(ptx.read_text("utf-8"))
        code = {f["function-name"]: f["sass-instructions"] for f in json.loads(run(nvdisasm, "-json", cubin))[1]}
        for v in made.checked[source.stem].instruction.variants:
            statements = re.findall(rf"\b{re.escape(v.spelling)}\s+(.*?);", statements_of[v.identifier])
            if not made.spec.catalog.takes(v.requires, architecture, made.spec.catalog.newest_version):
                assert statements == []
                continue
            (operands,) = statements
            assert len(re.findall(r"%\w+", operands)) == v.operands + len(v.results[0].places) + len(v.results) - 1
            # Of a choice between copies the assembler loads the one that is chosen.
            copied = any(s.copied for s in v.sources)
            assert copied or results_from_loads(code[v.identifier]) == v.operands, v


@pytest.mark.parametrize(
    ("spelling", "written"),
    [
        ("setp.lt.f32", r"%\w+\|%\w+, %\w+, %\w+"),
        ("setp.lt.and.f32", r"%\w+\|%\w+, %\w+, %\w+, %\w+"),
        ("setp.lt.f16x2", r"%\w+\|%\w+, %\w+, %\w+"),
        ("cvt.rn.f16x2.f32", r"%\w+, %\w+, %\w+"),
        ("cvt.rs.satfinite.e4m3x4.f32", r"%\w+, \{%\w+, %\w+, %\w+, %\w+\}, %\w+"),
    ],
)
def test_operands_are_written_as_the_syntax_says(made: Few, spelling: str, written: str) -> None:
    shape = cuda.shape_of(made.variant(spelling))
    assert re.fullmatch(written.replace(r"%\w+", r"%{1,2}\w+"), shape.operands)


def test_kernels_of_one_shape_share_a_macro(made: Few) -> None:
    header = (made.kernels / "ptxspec.cuh").read_text("utf-8")
    shapes = re.findall(r"#define PTXSPEC_(\w+)\(name, instruction", header)
    assert len(set(shapes)) == len(shapes) == len({cuda.shape_of(v).name for v in made.variants}) < len(made.variants)
    lines = (made.kernels / "setp.cu").read_text("utf-8").splitlines()
    assert any(x.startswith('PTXSPEC_pp_f_f_p(setp_lt_and_f32_3, "setp.lt.and.f32", 100, 10') for x in lines)


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", ["cvt", "selp", "setp"])
def test_the_runner_compiles_for_any_signature(made: Few, nvcc: Path, tmp_path: Path, opcode: str) -> None:
    options = ("-Werror", "all-warnings", "-Xcompiler", "-Wall", "-arch=sm_100a")
    run(nvcc, *options, "-c", "-o", tmp_path / "k.o", made.kernels / f"{opcode}.cu")
