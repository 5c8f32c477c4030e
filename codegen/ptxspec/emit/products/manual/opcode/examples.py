"""What a page shows of how variants are written: one of each line of the syntax, in PTX, CUDA and Triton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    chosen = dict.fromkeys(v for line in i.syntax if (v := _typical(spec, i.variants, line)))
    examples = [
        Example(v, spec.catalog.text(v.requires), ptx(v), inline(spec, v), triton(spec, v), calls(spec, v))
        for v in chosen
    ]
    others = [(v, found) for v in i.variants if v not in chosen and (found := calls(spec, v))]
    return Section(examples, others)


def _typical(spec: Spec, variants: Sequence[Variant], line: SyntaxLine) -> Variant | None:
    """The first that anybody may be told to write; rather one that an expression becomes."""
    given = [v for v in variants if v.listed and not v.hazards and line.gives(v)]
    having = (v for v in given if calls(spec, v) and spec.has_kernel(v))
    return next(having, next(filter(spec.has_kernel, given), None))
