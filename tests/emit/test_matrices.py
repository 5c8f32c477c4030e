"""The CUDA sources of forms of mma compile for every generation, hold the form that each kernel is named after, and
become the machine code that is recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.forms import CORES, written
from helpers.kernels import OF_FORMS, bodies, generations, run
from helpers.sizes import each_size
from ptxspec.emit.products import matrices
from ptxspec.matrices.forms import Form
from ptxspec.matrices.rows import row_of
from ptxspec.model import Spec
from ptxspec.proving.machine.matrices import computed

pytestmark = pytest.mark.inputs(
    "kernels",
    "templates/cuda",
    "spec/tensor/mma.yaml",
    "spec/observed/matrix_code.yaml",
    "codegen/ptxspec/emit/products/matrices.py",
    "codegen/ptxspec/proving/machine",
)

(SOURCE,) = OF_FORMS
KERNELS = dict(zip(matrices.identifiers(CORES.forms), CORES.forms, strict=True))


def test_each_form_has_a_kernel_that_is_named_after_it() -> None:
    text = SOURCE.read_text("utf-8")
    found = re.findall(r'^PTXSPEC_(\w+)\((\w+), "(\S+)", \d', text, re.MULTILINE)
    assert {name: spelling for _, name, spelling in found} == {name: f.spelling for name, f in KERNELS.items()}
    assert len(found) == len(CORES.forms)
    # Those of one shape share a macro.
    shapes = re.findall(r"#define PTXSPEC_(\w+)\(name, instruction", text)
    assert {shape for shape, _, _ in found} == {*shapes} and len({*shapes}) == len(shapes) < 30


def test_the_source_stays_small() -> None:
    assert SOURCE.stat().st_size < 125_000


def check(target: str, nvcc: Path, nvdisasm: Path, spec: Spec, folder: Path) -> int:
    """Return how many kernels hold their form, each where the target takes it, and nothing elsewhere: as many registers
    come from memory as the form has, and what computes is what is recorded."""
    whole, cubin = folder / "k.ptx", folder / "k.cubin"
    run(nvcc, "-Werror", "all-warnings", f"-arch={target}", "-ptx", "-DPTXSPEC_KERNELS_ONLY", "-o", whole, SOURCE)
    run(nvcc.with_name("ptxas"), f"-arch={target}", "-o", cubin, whole)
    code = {f["function-name"]: f["sass-instructions"] for f in json.loads(run(nvdisasm, "-json", cubin))[1]}
    texts = bodies(whole.read_text("utf-8"))
    assert texts.keys() == KERNELS.keys()
    taken = {name: f for name, f in KERNELS.items() if spec.catalog.takes(f.requires, target)}
    for name, text in texts.items():
        inside = re.findall(r"begin inline asm.*?\n\s*(.*?)\n.*?end inline asm", text, re.DOTALL)
        assert [*map(shown, inside)] == ([shown(written(KERNELS[name].spelling))] if name in taken else []), name
    for name, f in taken.items():
        loads = [i for i in code[name] if i["opcode"].startswith("LDG")]
        stores = [i for i in code[name] if i["opcode"].startswith("STG")]
        registers = sum(o.registers for o in CORES.operands(f)[1:] if o.type)
        # Where there is no operation nothing is read, and D is what its registers were.
        assert len(loads) == (registers if f.computes else 0) and len(stores) == f.registers[0], name
        assert computed(code[name])[0] == recorded(spec, f, target), name
    return len(taken)


def shown(statement: str) -> str:
    """A statement with one name for all registers."""
    return re.sub(r"\s+", " ", re.sub(r"%\w+", "%r", statement)).strip()


def recorded(spec: Spec, f: Form, target: str) -> dict[str, int]:
    """The machine code that is recorded of a form on an architecture."""
    base = spec.targets[target].base or target
    assert CORES.machine
    (found,) = (c for c in CORES.machine.codes[f.spelling] if base in {spec.targets[t].base or t for t in c.targets})
    return dict(found.instructions)


@pytest.mark.exhaustive
def test_kernels_hold_their_form_and_become_what_is_recorded(
    nvcc: Path, nvdisasm: Path, spec: Spec, tmp_path: Path
) -> None:
    assert check("sm_75", nvcc, nvdisasm, spec, tmp_path) == 31


@pytest.mark.exhaustive
def test_they_do_so_on_all_targets(nvcc: Path, nvdisasm: Path, spec: Spec, tmp_path: Path) -> None:
    targets = generations(nvcc)
    found = {t: check(t, nvcc, nvdisasm, spec, tmp_path) for t in targets}
    assert len(targets) > 20 and min(found.values()) == 31 and max(found.values()) == 500
    # What a kind of an architecture has besides stands on that kind alone.
    assert found["sm_100"] < found["sm_100f"] < found["sm_100a"] and found["sm_120"] < found["sm_120f"]


@pytest.mark.sampled(0)
@each_size
def test_the_whole_test_program_compiles_without_a_warning(nvcc: Path, tmp_path: Path, whole: bool) -> None:
    for target in ("sm_75", "sm_90a", "sm_100a", "sm_120f") if whole else ("sm_75",):
        options = ("-Werror", "all-warnings", "-Xcompiler", "-Wall", f"-arch={target}")
        run(nvcc, *options, "-c", "-o", tmp_path / "k.o", SOURCE)


@pytest.mark.exhaustive
def test_matrices_of_ones_give_the_sums_that_the_program_expects(spec: Spec) -> None:
    """By the emulator, on every architecture of which it is known what it computes."""
    text = SOURCE.read_text("utf-8")
    table = text.partition("rows[][5] = {\n")[2].partition("\n};")[0]
    rows = [[int(x, 0) for x in re.findall(r"\w+", line)] for line in table.splitlines()]
    run_on = {s: int(row) for s, row in re.findall(r'^PTXSPEC_.*"(\S+)", \d+, \d+, (\d+)\)$', text, re.MULTILINE)}
    assert {*run_on} == {f.spelling for f in CORES.forms if f.computes and not (f.is_sparse or f.is_scaled)}
    computed_by = 0
    for f in (f for f in CORES.forms if f.spelling in run_on):
        a, b, c, d = rows[run_on[f.spelling]]
        fragments = ptxemu.fragments(f.spelling)
        words = "u8" if f.types[0] == "f64" else "u4"
        operands = [
            np.full((32, x.registers), word, words)
            for x, word in ((fragments.a, a), (fragments.b, b), (fragments.c, c))
        ]
        for t in dict.fromkeys(spec.targets[t].base or t for t in spec.targets):
            kinds = [k for k in spec.targets if t in (k, spec.targets[k].base) and spec.catalog.takes(f.requires, k)]
            if kinds and row_of(f, t, CORES.rows):
                computed_by += 1
                assert (fragments.mma(*operands, target=kinds[0]) == d).all(), (f.spelling, t)
    assert computed_by > 1000
