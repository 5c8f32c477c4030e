"""Variants -> CUDA test programs: one source per opcode, one kernel per variant, and the vectors to run them on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...check.checking import Checked
from ...check.corner_cases import cases, diagonal
from ...model import Spec, Variant
from ...semantics.program import Program
from ..registry import product
from ..text import Files, Templates

_UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}


@dataclass(frozen=True)
class Vectors:
    """Rows of operands, expected result, and 1 where any NaN will do; shared by variants that compute the same."""

    name: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Test:
    variant: Variant
    name: str
    parameters: tuple[str, ...]
    architecture: int
    ptx: int
    vectors: Vectors | None

    @property
    def width(self) -> int:
        return self.variant.type.width

    @property
    def lane_width(self) -> int:
        return self.variant.type.format.width

    @property
    def result_width(self) -> int:
        return 32 if self.variant.predicate else self.width

    @property
    def unsigned(self) -> str:
        return _UNSIGNED[self.width]

    @property
    def result(self) -> str:
        return _UNSIGNED[self.result_width]

    @property
    def constraint(self) -> str:
        return self.variant.type.constraint

    @property
    def infinity(self) -> str:
        return f"0x{self.variant.type.format.infinity:x}"


@product("cuda")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """The files of generated/cuda."""
    files: Files = {}
    files["cuda/ptxspec.cuh"] = templates.render(
        "cuda/ptxspec.cuh.j2", ["spec/targets.yaml"], comment="// {}", releases=_releases(spec)
    )
    for c in checked:
        shared: dict[tuple[str, ...], Vectors] = {}
        tests = [_test(c, v, shared) for v in c.instruction.variants if spec.catalog.is_current(v.requires)]
        if tests:
            files[f"cuda/{c.instruction.opcode}.cu"] = templates.render(
                "cuda/instruction.cu.j2", ["spec/types.yaml", "spec/modifiers.yaml", c.instruction.path],
                comment="// {}", opcode=c.instruction.opcode, tests=tests, vectors=list(shared.values()),
            )  # fmt: skip
    return files


def _releases(spec: Spec) -> list[tuple[int, int, int]]:
    """CUDA releases as major, minor, and the newest PTX version (as 86 for 8.6) that each reads."""
    found: dict[tuple[int, int], int] = {}
    for v in spec.versions.values():
        if v.cuda:
            major, minor = map(int, v.cuda.split("."))
            found[major, minor] = max(found.get((major, minor), 0), _number(v.version))
    return [(major, minor, ptx) for (major, minor), ptx in sorted(found.items(), reverse=True)]


def _number(version: str) -> int:
    major, minor = map(int, version.split("."))
    return major * 10 + minor


def _architecture(target: str) -> int:
    return int(target.removeprefix("sm_").rstrip("af")) * 10


def _test(checked: Checked, v: Variant, shared: dict[tuple[str, ...], Vectors]) -> Test:
    program = checked.programs[v][None]
    rows = tuple(dict.fromkeys(_rows(checked, v, program)))
    vectors = shared.setdefault(rows, Vectors(f"{v.identifier}_vectors", rows)) if rows else None
    floors = [v.requires.ptx, *(w.ptx for w in v.requires.within if w.ptx)]
    architecture, ptx = _architecture(v.requires.target), max(map(_number, floors))
    return Test(v, v.identifier, program.inputs, architecture, ptx, vectors)


def _rows(checked: Checked, v: Variant, program: Program) -> Iterator[str]:
    """The corner cases that are about the variant, with what its program makes of them."""
    for table in checked.instruction.corner_tables:
        for row in table.rows if table.selector.matches(v) else ():
            if len(row.operands) == v.operands:
                for case in cases(row, program, diagonal):
                    cells = [_spread(x, v) for x in case.operands]
                    cells.append(str(case.result) if v.predicate else _spread(case.result, v))
                    yield ", ".join([*cells, str(int(row.result.text == "NaN" and not v.predicate))])


def _spread(bits: int, v: Variant) -> str:
    """A lane's encoding in every lane."""
    return f"0x{sum(bits << (v.type.format.width * i) for i in range(v.type.lanes)):x}"
