"""What a page shows of how variants are written: one of each line of the syntax, in PTX, CUDA and Triton."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from .....examples.cuda import Call, calls, inline
from .....examples.statement import ptx
from .....examples.triton import triton
from .....model import Spec, SyntaxLine, Variant
from .about import About


@dataclass(frozen=True)
class Example:
    """`cuda` and `triton` are empty where the operands cannot be written there."""

    variant: Variant
    requires: str
    ptx: str
    cuda: str
    triton: str
    calls: Sequence[Call]


@dataclass(frozen=True)
class Section:
    """`others` are variants that have no example and that an expression becomes."""

    examples: Sequence[Example]
    others: Sequence[tuple[Variant, Sequence[Call]]]


def section(about: About) -> Section:
    spec, i = about.spec, about.instruction
    having = {v: found for v in i.variants if (found := calls(spec, v))}
    chosen = dict.fromkeys(v for line in i.syntax if (v := _typical(spec, having, i.variants, line)))
    examples = [
        Example(v, spec.catalog.text(v.requires), ptx(v), inline(spec, v), triton(spec, v), having.get(v, ()))
        for v in chosen
    ]
    return Section(examples, [(v, found) for v, found in having.items() if v not in chosen])


def _typical(spec: Spec, having: Iterable[Variant], variants: Iterable[Variant], line: SyntaxLine) -> Variant | None:
    """The first that anybody may be told to write; rather one that an expression becomes."""
    for v in chain(having, variants):
        if line.gives(v) and v.listed and not v.hazards and spec.has_kernel(v):
            return v
    return None
