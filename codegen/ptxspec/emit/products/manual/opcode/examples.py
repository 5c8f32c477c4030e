"""The examples of a page: a variant of each line of the syntax, in PTX, CUDA and Triton."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from .....examples.cuda import CudaExpression, calls, inline
from .....examples.statement import ptx
from .....examples.triton import triton
from .....model import Instruction, Spec, SyntaxLine, Variant
from .about import About


@dataclass(frozen=True)
class Example:
    """An example. `cuda` and `triton` are empty if the operands cannot be written there; `operands` distinguishes the
    variant from others with the same spelling."""

    variant: Variant
    operands: int | None
    requires: str
    ptx: str
    cuda: str
    triton: str
    calls: Sequence[CudaExpression]


@dataclass(frozen=True)
class Section:
    """The examples of a page. `becoming` are expressions of CUDA C++, the spellings that they compile to, and the
    oldest target if not all. Alternatives in an expression correspond to those in its spelling."""

    examples: Sequence[Example]
    becoming: Sequence[tuple[str, str, str]]


def section(about: About) -> Section:
    spec, i = about.spec, about.instruction
    having = {v: found for v in i.variants if (found := calls(spec, v))}
    chosen = dict.fromkeys(v for line in i.syntax if (v := _typical(spec, having, i.variants, line)))
    examples = [_example(about, v, having.get(v, ())) for v in chosen]
    return Section(examples, _becoming(i, having))


def _example(about: About, v: Variant, calls: Sequence[CudaExpression]) -> Example:
    spec = about.spec
    needs = spec.catalog.text(v.requires)
    return Example(v, about.write.operands(v), needs, ptx(v), inline(spec, v), triton(spec, v), calls)


def _becoming(i: Instruction, having: Mapping[Variant, Sequence[CudaExpression]]) -> list[tuple[str, str, str]]:
    """Return the expressions that compile to variants. Those in the opcode's file come last."""
    found = dict.fromkeys((n.written[1], n.written[0], n.target) for n in i.intrinsics)
    own = {n.call for n in i.intrinsics}
    others: dict[tuple[str, str], list[str]] = {}
    for v, calls_ in having.items():
        for c in calls_:
            if c.text not in own:
                others.setdefault((c.text, c.target), []).append(v.spelling)
    return [*((text, ", ".join(spellings), on) for (text, on), spellings in others.items()), *found]


def _typical(spec: Spec, having: Iterable[Variant], variants: Iterable[Variant], line: SyntaxLine) -> Variant | None:
    """Return the typical variant: the first that can be recommended, preferably one that an expression compiles to."""
    for v in chain(having, variants):
        if line.gives(v) and v.listed and not v.hazards and spec.has_kernel(v):
            return v
    return None
