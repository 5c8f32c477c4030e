"""Functions: straight-line PTX on arrays, in one pass over blocks that fit into a cache."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from . import native, plain
from .binary import Array
from .chosen import LANES
from .kernels import Kernel
from .operands import OperandError, truths
from .rows import Row, UnknownTargetError, target_named
from .signature import Operand, Signature, Type
from .steps import Program
from .straightline import read

# Arrays to use again, by dtype.
_Spare = defaultdict[np.dtype[Any], list[Array]]


def function(
    text: str,
    target: str | None = None,
    results: Iterable[str] | None = None,
    constraints: str | None = None,
    around: str = "",
) -> Function:
    """Return PTX without loops as a function of arrays.

        >>> f = ptxemu.function("mul.f32 t, a, a;  fma.rn.f32 d, b, b, t;")
        >>> f.inputs, f.results
        (('a', 'b'), ('d',))
        >>> f(np.float32(3), np.float32(4))
        np.float32(25.0)

    Inputs are the registers that are read before they are written. Results are the registers that `results` names, or
    else those that are written and not read afterwards. Registers are declared by `.reg`, or by their use. The text may
    have guards (`@p`), branches to labels further down, braces and constants, but no loops and no memory accesses. The
    value of a special register is an input: `%tid.x` is called `tid_x`.

    Inline assembly may be given as it is in programs: an asm statement of CUDA C++ with its operands, or the text of
    other languages with its `constraints`. Inputs and results are its operands, in their order.

        >>> f = ptxemu.function('asm("max.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));')
        >>> f.inputs, f.results
        (('a', 'b'), ('d',))
        >>> ptxemu.function("max.s32 $0, $1, $2;", constraints="=r,r,r")(np.int32(-3), np.int32(2))
        np.int32(2)

    Several asm statements may share registers that the first of them declares. Pass such declarations as `around`:
    shared registers that the text reads are inputs as well, and those that it writes are results.

        >>> f = ptxemu.function('asm("@p neg.s32 %0, %0;" : "+r"(d));', around=".reg .pred p;")
        >>> f.inputs, f.results
        (('d', 'p'), ('d',))

    All lanes of a warp run mma together: the last axis of arrays is then that of lanes, 32 or a multiple of it, and the
    target must be named.

    `target` ("sm_90") selects the behaviour of that target, and refuses what it does not support. Raises StatementError
    (a ValueError) with every statement that cannot be run, ValueError for `results` that are not registers of the text,
    TypeError for arguments that are not text, UnknownTargetError for such a `target`."""
    if not isinstance(text, str):
        raise TypeError(f"PTX must be a string such as 'add.f32 d, a, b;', not {_short(text)}")
    if not (target is None or isinstance(target, str)):
        raise UnknownTargetError(f"a target must be a string such as 'sm_90', not {_short(target)}")
    # A string is itself a sequence of strings.
    names = [results] if isinstance(results, str) else results if results is None else list(results)
    for name in names or ():
        if not isinstance(name, str):
            raise TypeError(f"results must be names of registers such as 'd', not {_short(name)}")
    if not (constraints is None or isinstance(constraints, str)):
        raise TypeError(f"constraints must be a string such as '=r,r', not {_short(constraints)}")
    if not isinstance(around, str):
        raise TypeError(f"declarations must be a string such as '.reg .pred p;', not {_short(around)}")
    return Function(read(text, target and target_named(target), names, constraints, around))


def _short(x: object) -> str:
    """Return an invalid argument as text of at most one line."""
    text = repr(x)
    return text if len(text) <= 60 else f"a {type(x).__name__}"


def _check_lanes(shape: tuple[int, ...]) -> None:
    """Raise OperandError where the last axis of a shape is not the lanes of whole warps."""
    if not shape or shape[-1] % LANES:
        raise OperandError(
            f"the last axis must have the {LANES} lanes of a warp, or of several warps; the shape is {shape}"
        )


class Traced(NamedTuple):
    """The effect of a statement on a register: its bits as one of PTX's types, before (None: it had none) and after."""

    line: int
    text: str
    register: str
    type: str
    before: Array | None
    after: Array


class Function(Kernel):
    """Straight-line PTX that can be called with arrays, in the order of `inputs` or by their names.

    Arrays are as those of a `Kernel`: bit patterns, or the native type of the register's values. A result has the type
    of the operand in the last statement that writes it, or the type of its declaration."""

    def __init__(self, program: Program) -> None:
        self.target = program.target
        self._program = program
        self._types = {named.name: named.types for named in program.inputs}
        self._row = cast(Row, "the function")  # as errors name it
        self._dtypes = {}
        self._signature = Signature(
            tuple(Operand(named.name, (named.name,), named.type) for named in program.results),
            tuple(Operand(named.name, (named.name,), named.type) for named in program.inputs),
        )

    @property
    def operands(self) -> int:
        """The number of arrays that it takes."""
        return len(self._program.inputs)

    @property
    def claim(self) -> str:
        """The claims of its statements, each once."""
        return ", ".join(dict.fromkeys(step.claim for step in self._program.steps if step.claim))

    def __repr__(self) -> str:
        return f"<ptxemu function ({', '.join(self.inputs)}) -> {', '.join(self.results)}>"

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Return the results: one array, or a tuple of several, of the shape that the inputs broadcast to. `out` and
        `threads` are as those of a kernel; inputs with these names must be passed by position. Raises OperandError (a
        TypeError) for arrays of another number, name or dtype, ValueError for shapes and threads."""
        operands = self._in_order(arrays, named)
        return super().__call__(*operands, out=out, threads=threads, results=len(self._program.results))

    def _in_order(self, arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """Return the operands in the order of the inputs."""
        takes = f"the function takes {', '.join(self.inputs) or 'nothing'}"
        if len(arrays) > len(self.inputs):
            raise OperandError(f"{takes}, but {len(arrays)} arrays were given")
        operands = list(arrays)
        for name in self.inputs[len(arrays) :]:
            if name not in named:
                raise OperandError(f"{takes}; {name} is missing")
            operands.append(named[name])
        for name in named:
            if name not in self.inputs[len(arrays) :]:
                raise OperandError(
                    f"{takes}; {name} {'was given twice' if name in self.inputs else 'is not one of them'}"
                )
        return operands

    def trace(self, *arrays: Any, **named: Any) -> list[Traced]:
        """Return the effects of each statement on the registers that it writes, as bits of the shape to which the
        inputs broadcast.

        Raises OperandError as a call does."""
        operands, program = self._as_arrays(tuple(self._in_order(arrays, named))), self._program
        made = [self._as_bits(x, n.name, n.type) for n, x in zip(program.inputs, operands, strict=True)]
        shape = np.broadcast_shapes(*(x.shape for x in made))
        if program.has_warps:
            _check_lanes(shape)
        values = {n.value: np.broadcast_to(x, shape).ravel() for n, x in zip(program.inputs, made, strict=True)}
        size = int(np.prod(shape, dtype=int))
        plain.check_processor()
        values |= {value: np.full(size, bits) for value, bits in program.constants.items()}
        found = []
        with np.errstate(all="ignore"):
            for step in program.steps:
                step.run(values, size)
                for name, t, before, after in step.effects:
                    old = None if before is None else values[before].reshape(shape)
                    found.append(Traced(step.line, step.text, name, t, old, values[after].reshape(shape)))
        return found

    def _check_alike(self, arrays: tuple[Any, ...]) -> None:
        """Accept any operands: the representation of each register may differ."""

    def _as_bits(self, x: Any, name: str, t: Type) -> Array:
        dtype = getattr(x, "dtype", None)
        types = self._types[name]
        t = next((u for u in types if dtype is not None and u.is_native(dtype)), t)
        made = super()._as_bits(x, name, t)
        return truths(made) if t.sort == "bool" else made

    def _representation(self, t: Type, arrays: tuple[Any, ...]) -> np.dtype[Any]:
        found = super()._representation(t, arrays)
        return found if t.is_native(found) else t.bits

    # The function as a whole has no kernel in C, only some of its statements have.
    _quick = None
    _ufuncs = (None,)

    @property
    def is_in_c(self) -> bool:
        """Return whether its statements run in C, all of them or some."""
        return any(step.is_in_c for step in self._program.steps)

    def _again(self, arrays: tuple[Any, ...]) -> None:
        """Skip the quick path: inputs may be of several types."""

    def _run(self, arrays: list[Array], results: int, threads: int) -> None:
        """Fill the last arrays, which are the results, block by block."""
        filled = len(self._program.results)
        if self._program.has_warps:
            plain.check_processor()
            self._fill_warps(arrays, filled)
            return
        # NumPy's steps keep the interpreter's lock: only steps in C gain from another thread.
        every = all(step.is_in_c for step in self._program.steps)
        if not every:
            plain.check_processor()
        native.on_threads(lambda part: self._fill(part, filled), arrays, filled, 1, threads if every else 1)

    def _fill(self, arrays: list[Array], filled: int) -> None:
        spare: _Spare = defaultdict(list)
        with np.errstate(all="ignore"), plain.in_blocks(arrays, plain.BLOCK, filled) as blocks:
            for views in blocks if blocks.itersize else ():
                # A single array is not in a tuple.
                self._fill_block(views if isinstance(views, tuple) else (views,), spare)

    def _fill_warps(self, arrays: list[Array], filled: int) -> None:
        """Fill the last arrays, which are the results, as many warps at once as fit into a block. The last axis is that
        of lanes."""
        shape, size = arrays[-1].shape, arrays[-1].size
        _check_lanes(shape)
        flat = [
            np.ascontiguousarray(np.broadcast_to(x, shape), x.dtype.newbyteorder("=")).reshape(-1)
            for x in arrays[:-filled]
        ]
        made = [np.empty(size, x.dtype.newbyteorder("=")) for x in arrays[-filled:]]
        with np.errstate(all="ignore"):
            for start in range(0, size, plain.BLOCK):
                self._fill_block([x[start : start + plain.BLOCK] for x in (*flat, *made)], defaultdict(list))
        for x, found in zip(arrays[-filled:], made, strict=True):
            x[...] = found.reshape(shape)

    def _fill_block(self, arrays: Sequence[Array], spare: _Spare) -> None:
        """Fill the last arrays, which are the results, statement by statement. `spare` are arrays to use again."""
        program, size = self._program, arrays[-1].size
        registers = arrays[len(program.inputs) :]
        values = {named.value: x for named, x in zip(program.inputs, arrays, strict=False)}
        values |= program.scalars
        values |= {value: np.full(size, bits) for value, bits in program.columns.items()}
        for named, register in zip(program.results, registers, strict=True):
            # Not in the memory of an operand or another result, which a later step may read.
            others = (x for x in arrays if x is not register)
            if named.value in program.filled and not any(np.may_share_memory(x, register) for x in others):
                values.setdefault(named.value, register)
        lent: dict[int, Array] = {}
        for step, done_with in zip(program.steps, program.done_with, strict=True):
            for value in step.writes:
                if value in program.passing:
                    dtype = program.filled[value]
                    lent[value] = spare[dtype].pop() if spare[dtype] else np.empty(plain.BLOCK, dtype)
                    values[value] = lent[value][:size]
            step.run(values, size)
            # Their memory is in the cache, for the next step to use.
            for value in done_with:
                del values[value]
                if value in lent:
                    spare[lent[value].dtype].append(lent.pop(value))
        left = [(r, values[n.value]) for r, n in zip(registers, program.results, strict=True)]
        left = [(r, x) for r, x in left if x is not r]
        if len(registers) > 1:
            # A result may be an input, in memory that an earlier result overwrites.
            left = [(r, x.copy() if any(np.may_share_memory(x, o) for o in registers) else x) for r, x in left]
        for register, x in left:
            register[...] = x
