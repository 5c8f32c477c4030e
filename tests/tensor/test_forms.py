"""The forms of mma in spec/tensor/mma.yaml: ptxas takes each where its entry says, and no other.

ptxas tells some errors of these statements once a file, and with any other error in the file complains of some that it
takes. So what shall be taken is assembled, in a file without an error."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from helpers.forms import CORES, written
from helpers.sizes import each_size, spread
from ptxspec.matrices.forms import Form
from ptxspec.model import Spec
from ptxspec.proving.ptxas.asking import FOOTER, HEADER, Pair, Sheet, judge, unexpected
from ptxspec.proving.ptxas.verify import pairs

pytestmark = pytest.mark.inputs("spec/tensor/mma.yaml", "codegen/ptxspec/catalog", "codegen/ptxspec/proving/ptxas")

FORMS = CORES.forms


def _assembles(ptxas: Path, statements: Sequence[str], pair: Pair, folder: Path) -> str:
    """Return ptxas's complaints about the statements in one file; nothing where it makes machine code of them."""
    source = folder / "forms.ptx"
    source.write_text(HEADER.format(target=pair[0], ptx=pair[1]) + "\n".join(statements) + FOOTER, encoding="utf-8")
    command = [str(ptxas), "-arch", pair[0], "-O0", str(source), "-o", str(folder / "forms.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "not defined for option 'gpu-name'" not in done.stderr:
        return done.stdout + done.stderr if done.returncode else ""
    # This ptxas writes no machine code for the target. Then it is only asked, and one complaint is not meant.
    said = itertools.chain.from_iterable(judge(ptxas, statements, *pair))
    return "\n".join(m for m in said if m != "Unexpected instruction types specified for '_mma'")


def test_a_form_stands_in_one_entry() -> None:
    assert len({f.spelling for f in FORMS}) == len(FORMS)
    # As many as an enumeration by another hand found.
    assert sum(not f.is_sparse and (f.listed or not any(n.startswith("kind") for n in f.names)) for f in FORMS) == 231


def test_registers_are_counted_by_elements() -> None:
    for f in FORMS:
        statement = written(f.spelling)
        assert [v.count(",") + 1 for v in re.findall(r"{([^}]*)}", statement)][:4] == [*f.registers], f.spelling


@each_size
def test_forms_are_taken_exactly_where_they_are_said_to_be(
    spec: Spec, ptxas: Path, whole: bool, tmp_path: Path
) -> None:
    every = pairs(spec)
    needs = [(written(f.spelling), f.requires) for f in FORMS]
    seen = 0
    for pair in every if whole else spread(every, 8):
        taken = [s for s, r in needs if spec.catalog.takes(r, *pair)]
        refused = [s for s, r in needs if not spec.catalog.takes(r, *pair)]
        seen += len(taken)
        assert not taken or _assembles(ptxas, taken, pair, tmp_path) == "", pair
        assert list(unexpected(ptxas, Sheet(refused), {pair: set()})) == []
    assert seen > (500 if whole else 100)


def test_ptxas_takes_the_constants_that_are_said_to_choose_lanes(spec: Spec, ptxas: Path) -> None:
    """Of one form for each kind, all numbers up to 4 in the place of each constant. Where m16n8k32 sums f16 in f32,
    ptxas takes selectors that the manual does not have."""
    kinds = {(f.shape, f.types, f.kind, f.is_ordered, f.scales): f for f in FORMS if f.is_sparse or f.is_scaled}
    every, differ = list(_with_constants(kinds.values())), set()
    for target in ("sm_80", "sm_89", "sm_100a", "sm_120a"):
        asked = [x for x in every if spec.catalog.takes(x[0].requires, target, "9.5")]
        every = [x for x in every if x not in asked]
        for (f, name, n, _), said in zip(asked, judge(ptxas, [x[3] for x in asked], target, "9.5"), strict=True):
            if (not said) != (n in CORES.choices.of(f)[name]):
                differ.add((f.shape, *f.types, name, n))
    assert not every and differ == {("m16n8k32", "f32", "f16", "f16", "f32", "selector", n) for n in (2, 3)}


def _with_constants(forms: Iterable[Form]) -> Iterator[tuple[Form, str, int, str]]:
    """Yield each form with each of its constants as a number, and the others as zeros."""
    for f in forms:
        names = list(CORES.choices.of(f))
        statement = written(f.spelling)
        places = [*re.finditer(r"(?<=%r5, )0|(?<={)0(?=,)|(?<=, )0(?=})", statement)]
        for (at, name), n in itertools.product(zip(places, names, strict=True), range(5)):
            yield f, name, n, f"{statement[: at.start()]}{n}{statement[at.end() :]}"


_TYPES = ["f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "s8", "u8", "s4", "u4", "b1"]
_KINDS = ["", *(f".kind::{k}" for k in ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4", "f16", "tf32", "i8"))]


def _neighbours() -> Iterator[str]:
    """Spellings of the same parts in all combinations that could be one."""
    shapes = [f"m{m}n8k{k}" for m in (8, 16) for k in (4, 8, 16, 32, 64, 128, 256)]
    sums = [("f16", "f16"), ("f32", "f32"), ("f32", "f16"), ("f16", "f32"), ("f64", "f64"), ("s32", "s32")]
    for sparse, shape, a, b, (d, c) in itertools.product(
        ("", ".sp", ".sp::ordered_metadata"), shapes, _TYPES, _TYPES, sums
    ):
        start, end = f"mma{sparse}.sync.aligned.{shape}", f".{d}.{a}.{b}.{c}"
        ends = (end + ".xor.popc", end + ".and.popc", end) if a == "b1" else (end,)
        layouts = [f".{x}.{y}" for x in ("row", "col") for y in ("row", "col")] if a == b else [".row.col"]
        roundings = ["", ".satfinite", ".rn", ".rz", ".rm", ".rp"]
        for e in ends:
            yield from (start + layout + rounding + e for layout in layouts for rounding in roundings)
            yield from (start + ".row.col" + kind + e for kind in _KINDS[1:])
        if a[0] == b[0] == "e" and d == c:
            scales = ["", *(f".scale_vec::{n}X" for n in (1, 2, 4))]
            for kind, scale, type in itertools.product(_KINDS[1:5], scales, ("", ".ue8m0", ".ue4m3")):
                yield f"{start}.row.col{kind}.block_scale{scale}{end}{type}"


@pytest.mark.sampled(2)
@each_size
@pytest.mark.parametrize(
    "target", ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a", "sm_121a"]
)
def test_no_neighbour_of_a_form_is_taken(ptxas: Path, whole: bool, target: str, tmp_path: Path) -> None:
    """Statements of which nothing is said in a file of many are asked alone."""
    known = {f.spelling for f in FORMS}
    others = [s for s in _neighbours() if s not in known]
    statements = [written(s) for s in (others if whole else spread(others, 1000))]
    said = judge(ptxas, statements, target, "9.5")
    silent = [s for s, messages in zip(statements, said, strict=True) if not messages]
    assert len(silent) < 100
    assert [s for s in silent if not _assembles(ptxas, [s], (target, "9.5"), tmp_path)] == []
