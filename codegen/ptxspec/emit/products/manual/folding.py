"""The constants that the assembler folds differently from the semantics, each entry with PTX that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....check.checking import Checked
from ....check.folding import in_register
from ....model import Folding, Spec, Variant
from .catalog import versions
from .forms import Writer

_PTX = """\
// {told}
.version {ptx}
.target {target}
.address_size 64
.visible .entry folded(.param .u64 p) {{
  .reg .b64 %p; .reg .{result} %d; {sources}
  ld.param.u64 %p, [p];
{moves}
  {statement};
  st.global.{result} [%p], %d;
  ret;
}}
"""


@dataclass(frozen=True)
class Shown:
    """An example in bits: the operands, what they are folded to, and what the semantics gives."""

    operands: Sequence[str]
    folded: str
    computed: str


@dataclass(frozen=True)
class Folded:
    forms: Sequence[str]
    folding: Folding
    shown: Sequence[Shown]
    ptx: str


def entries(spec: Spec, write: Writer, checked: Checked) -> list[Folded]:
    """Return the entries of an instruction."""
    found = []
    for folding in checked.instruction.folding:
        variants = [v for v in checked.instruction.variants if folding.selector.matches(v)]
        first = variants[0]
        shown = [_shown(first, checked, row) for row in folding.shown]
        found.append(Folded(write.whole(variants), folding, shown, _ptx(spec, first, shown[0])))
    return found


def _shown(v: Variant, checked: Checked, row: Sequence[int]) -> Shown:
    *operands, folded = row
    computed = in_register(v, checked.programs[v][None], operands)
    told = [_hex(x, s.type.width) for x, s in zip(operands, v.sources, strict=True)]
    return Shown(told, _hex(folded, v.result.type.width), _hex(computed, v.result.type.width))


def _hex(bits: int, width: int) -> str:
    return f"{bits:#0{width // 4 + 2}x}"


def _ptx(spec: Spec, v: Variant, shown: Shown) -> str:
    """Return a kernel that stores the folded result of one example."""
    target = next(t for t in spec.targets.values() if t.nvcc and spec.catalog.takes(v.requires, t.name))
    found = versions(spec, v.requires, target)
    assert found, v.spelling
    sources = [(f"%{s.name}", f"b{s.type.width}", x) for s, x in zip(v.sources, shown.operands, strict=True)]
    return _PTX.format(
        told=f"Stores {shown.folded}; the instruction computes {shown.computed}.",
        ptx=found[0],
        target=target.name,
        result=f"b{v.result.type.width}",
        sources=" ".join(f".reg .{type} {name};" for name, type, _ in sources),
        moves="\n".join(f"  mov.{type} {name}, {x};" for name, type, x in sources),
        statement=f"{v.spelling} %d, {', '.join(name for name, _, _ in sources)}",
    )
