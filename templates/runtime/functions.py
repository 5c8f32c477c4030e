"""Functions: straight-line PTX on arrays, in one pass over blocks that a cache holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from . import environment
from .binary import Array
from .kernel import Kernel, OperandError
from .lookup import Row
from .running import in_blocks
from .signature import Operand, Signature, Type
from .steps import Program, Step
from .straightline import read


def function(text: str, target: str | None = None, results: Iterable[str] | None = None) -> Function:
    """Straight-line PTX as a function of arrays.

        >>> f = ptxemu.function("mul.f32 t, a, a;  fma.rn.f32 d, b, b, t;")
        >>> f.inputs, f.results
        (('a', 'b'), ('d',))
        >>> f(np.float32(3), np.float32(4))
        np.float32(25.0)

    Inputs are the registers that are read before they are written, results those that are written and not read
    afterwards, or those that `results` names. Registers are declared by `.reg`, or by their use. There are guards
    (`@p`), braces and constants, but no branches, no memory and no special registers.

    Raises StatementError, with every statement that cannot be run, and ValueError for `results`."""
    return Function(read(text, target, results), target)


class Function(Kernel):
    """Straight-line PTX that can be called on arrays: in the order of `inputs`, or by their names.

    Arrays are as a kernel's: bit patterns, or the native type of what the register holds. Registers are results as they
    are operands of the last statement that writes them, or as they are declared."""

    def __init__(self, program: Program, target: str | None) -> None:
        self.target = target
        self._program = program
        self._types = [named.types for named in program.inputs]
        self._row = cast(Row, "the function")  # what errors name
        self._signature = Signature(
            tuple(Operand(named.name, (named.name,), named.type) for named in program.results),
            tuple(Operand(named.name, (named.name,), named.type) for named in program.inputs),
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(named.name for named in self._program.inputs)

    @property
    def results(self) -> tuple[str, ...]:
        return tuple(named.name for named in self._program.results)

    @property
    def operands(self) -> int:
        return len(self._program.inputs)

    def __repr__(self) -> str:
        return f"<ptxemu function ({', '.join(self.inputs)}) -> {', '.join(self.results)}>"

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = 1, **named: Any) -> Any:
        """The results: one array, or a tuple of several. `out` and `threads` are as a kernel's."""
        operands = list(arrays)
        for name in self.inputs[len(arrays) :]:
            if name not in named:
                raise OperandError(f"the function takes {', '.join(self.inputs) or 'nothing'}; {name} is missing")
            operands.append(named.pop(name))
        if named:
            name = next(iter(named))
            why = "came twice" if name in self.inputs else "is none of them"
            raise OperandError(f"the function takes {', '.join(self.inputs) or 'nothing'}; {name} {why}")
        return super().__call__(*operands, out=out, threads=threads, results=len(self._program.results))

    def _check_alike(self, arrays: tuple[Any, ...]) -> None:
        """Each register has a representation of its own."""

    def _as_bits(self, x: Any, name: str, t: Type) -> Array:
        dtype = getattr(x, "dtype", None)
        types = self._types[self.inputs.index(name)]
        return super()._as_bits(x, name, next((u for u in types if dtype is not None and u.is_native(dtype)), t))

    def _run(self, arrays: list[Array], block: int) -> None:
        filled = len(self._program.results)
        with (
            np.errstate(all="ignore"),
            environment.ordinary(),
            in_blocks(arrays, block, True, filled) as blocks,
        ):
            for views in blocks if blocks.itersize else ():
                self._fill(views, filled)

    def _fill(self, arrays: Sequence[Array], filled: int) -> None:
        program, size = self._program, arrays[-1].size
        values: dict[int, Array] = {}
        for named, x in zip(program.inputs, arrays, strict=False):
            values[named.value] = x
        for value, bits in program.constants.items():
            values[value] = np.full(size, bits)
        for step in program.steps:
            run(step, values, size)
        for register, named in zip(arrays[-filled:], program.results, strict=True):
            register[...] = values[named.value]


def run(step: Step, values: dict[int, Array], size: int) -> None:
    """A step on `size` elements: its results are among the values afterwards."""
    operands = [~values[i] if n else values[i] for i, n in zip(step.sources, step.negated, strict=True)]
    found = applied(step.function, step.signature, operands, size)
    if step.guard is not None:
        value, wanted = step.guard
        condition = values[value] if wanted else ~values[value]
        found = [
            x if b is None else np.where(condition, x, values[b]) for x, b in zip(found, step.before, strict=False)
        ]
    for i, x in zip(step.results, found, strict=False):
        if i is not None:
            values[i] = x


def applied(function: Callable[..., Any], s: Signature, operands: Sequence[Array], size: int) -> list[Array]:
    """The registers of the results that a function makes of those of the sources."""
    if not s.flat:
        return s.apply(function, operands)
    if s.lanes > 1:
        operands = [x.view(t.lane) for x, (_, t) in zip(operands, s.registers, strict=True)]
    found = function(*operands)
    registers = []
    for o, x in zip(s.results, found if isinstance(found, tuple) else (found,), strict=False):
        whole = x if np.shape(x) == (size * s.lanes,) else np.ascontiguousarray(np.broadcast_to(x, (size * s.lanes,)))
        registers.append(whole.view(o.type.bits))
    return registers
