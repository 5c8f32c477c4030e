"""Kernels: the operands that they accept, in which representations, and their results."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from . import (
    arithmetic,  # noqa: F401  # what kernels call: loaded with the package, so that a first call need not
    comparison,  # noqa: F401
    native,
    plain,
)
from .binary import Array
from .lookup import find
from .operands import OperandError, masked, mended, read, spelled
from .rows import Row, UnknownTargetError, UnknownVariantError, counted, target_named
from .signature import Registers, Signature, Type, signature


def compile(spelling: str, operands: int | None = None, target: str | None = None) -> Kernel:
    """Return the kernel of a variant. Modifiers may be in any order.

    `operands` is the number of source operands; by default the fewest with which the spelling exists. `target`
    ("sm_90", or the name of its GPUs, such as "H100") selects the behaviour of that target where it is known to differ;
    by default the kernel has the behaviour documented for current targets. `Kernel` describes operands, results and the
    order of lanes:

        >>> kernel = ptxemu.compile("cvt.rn.f16x2.f32")
        >>> kernel
        <ptxemu kernel cvt.rn.f16x2.f32 (2 operands): d:f16x2 = a1:f32, a0:f32; exact>
        >>> hex(kernel(np.float32(1), np.float32(2)))  # the first operand is the upper half
        '0x3c004000'

    Raises UnknownVariantError with the reason and the nearest spelling, and UnknownTargetError where the target does
    not support the variant, with what it needs and what to write instead; both are LookupErrors."""
    if not isinstance(spelling, str):
        raise UnknownVariantError(f"a spelling is text such as 'add.f32', not {spelling!r}")
    if not (operands is None or is_integer(operands)):
        raise UnknownVariantError(f"{spelling}: the number of operands is one such as 2, not {operands!r}")
    if not (target is None or isinstance(target, str)):
        raise UnknownTargetError(f"a target is text such as 'sm_90', not {target!r}")
    return _compile(spelling, operands, target)


# Types that a ufunc in C may get unchanged. Subclasses, such as masked arrays, may contain more.
_PLAIN: Final = frozenset({np.ndarray, np.bool_, *np.sctypeDict.values()}) - {np.object_, np.str_, np.bytes_, np.void}


# Large enough for all variants, even on several targets.
@lru_cache(maxsize=1 << 16)
def _compile(spelling: str, operands: int | None, target: str | None) -> Kernel:
    meant = None if target is None else target_named(target)
    row = find(spelling, operands, meant)
    if (spelling, operands, target) != (row.variant.spelling, row.operands, meant):
        # All ways to request a kernel share one object, so that it is compiled once.
        return _compile(row.variant.spelling, row.operands, meant)
    return Kernel(row, target)


def execute(
    spelling: str,
    *arrays: Any,
    out: Any = None,
    target: str | None = None,
    threads: int | None = None,
    results: int = 1,
) -> Any:
    """Run a variant on its operands, whose number selects the variant; short for `compile(...)(...)`.

    Operands and results are in PTX's order, with the dtypes and shapes that `Kernel` describes:

        >>> packed = ptxemu.execute("cvt.rn.f16x2.f32", np.float32(1), np.float32(2))
        >>> hex(packed)  # the first operand is the upper half
        '0x3c004000'
        >>> p, q = ptxemu.execute("setp.lt.f32", np.float32([1, 2]), 2, results=2)
        >>> p, q
        (array([ True, False]), array([False,  True]))

    Raises what `compile` and a kernel's call raise."""
    # `compile` would inspect valid arguments here again.
    is_usual = type(spelling) is str and (target is None or type(target) is str)
    kernel = (_compile if is_usual else compile)(spelling, len(arrays), target)
    if out is None and threads is None and results == 1:
        return kernel(*arrays)
    return kernel(*arrays, out=out, threads=threads, results=results)


class Kernel:
    """A variant that can be called on arrays.

    Operands are NumPy arrays or scalars that broadcast as ufuncs' do, one for each source register, in the statement's
    order. They are bit patterns (uint8 to uint64) or of the native type (float16, float32, float64, those of ml_dtypes;
    int8 to int64 for signed integers). Types with several lanes are bit patterns, predicates are bool. int8 to int64
    are bit patterns too wherever they cannot be numbers: for bits, unsigned integers and types with several lanes.
    Operands of one type must have one representation. A result of that type has it too, unless it is an integer.

    A Python number is converted to the native type if that has exactly this number and the number could not mean bits,
    as ints could beyond the range in which a float format has every integer. Everything else raises an error that says
    what to write. Masked arrays are refused, too: a result has no mask.

    A result of sN is intN, one of uN is uintN; bits and packed types are uintN. A float result of a type that no
    operand has is a float of NumPy's where there is one, unless a float operand came as bits; it is one of ml_dtypes
    only where such an operand came. NumPy's error state is unchanged.

    Lanes are as in PTX. In a packed register lane 0 has the lowest bits; where lanes are registers of their own, the
    statement has the upper lane first: cvt.rn.f16x2.f32 d, a, b puts a in the upper half of d, and b in the lower one.
    setp.lt.f16x2 p|q, a, b gives p of the lower halves, and q of the upper ones."""

    # Not pickled: another process computes these again.
    _FOUND: ClassVar = ("_choice", "_ufuncs", "_quick")
    _row: Row
    _signature: Signature

    def __init__(self, row: Row, target: str | None) -> None:
        self.variant = row.variant
        self.target = target
        self._row = row
        self._signature = signature(row.signature)
        self._dtypes: dict[tuple[np.dtype[Any], ...], np.dtype[Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self._FOUND}

    @cached_property
    def _choice(self) -> tuple[Callable[..., Any], str]:
        """The function in NumPy, and the name of the kernel in C."""
        module = importlib.import_module(f".instructions.{self._row.opcode}", __package__)
        choice = module.KERNELS[self.variant.spelling, self.operands]
        target = self.target if self.target in choice else None
        name = f"{self.variant.spelling.partition('.')[2]}/{self.operands}"
        return choice[target], f"{name} {target}" if target else name

    @cached_property
    def _ufuncs(self) -> tuple[np.ufunc | None, ...]:
        """The ufuncs in C for the first result and, with p|q, for both; None where there is none."""
        function, name = self._choice
        s = self._signature
        made = (native.ufunc(self._row.opcode, name, s, n, function) for n in range(1, len(s.results) + 1))
        return tuple(made)

    @cached_property
    def _quick(self) -> np.ufunc | None:
        """The ufunc in C for the first result."""
        return self._ufuncs[0]

    @property
    def is_in_c(self) -> bool:
        """Return whether it runs in C."""
        return self._quick is not None

    @property
    def operands(self) -> int:
        """The number of source operands, without the condition code, which no statement names."""
        return self.variant.operands

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the registers that are read, without a `%`, in the order of the arrays."""
        return tuple(name for name, _ in self._signature.registers)

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the registers that are written."""
        return tuple(name for name, _ in self._signature.places[-1])

    @property
    def types(self) -> dict[str, str]:
        """The PTX types of inputs and results, by register."""
        return {name: t.name for name, t in (*self._signature.registers, *self._signature.places[-1])}

    @property
    def claim(self) -> str:
        """The claim of the variant, on the kernel's target where the two differ."""
        return self._row.claim_on(self.target)

    def __repr__(self) -> str:
        on = f" on {self.target}" if self.target else ""
        results = "|".join(f"{o.name}:{o.type.name}" for o in self._signature.results)
        sources = ", ".join(f"{name}:{t.name}" for name, t in self._signature.registers)
        return f"<ptxemu kernel {self._row}{on}: {results} = {sources}; {self.claim}>"

    def _repr_html_(self) -> str:
        from . import notebook  # only needed in notebooks

        rows = [(name, f".{t.name}", t.accepted) for name, t in self._signature.registers]
        rows += [(f"{name}, result", f".{t.name}", t.accepted) for name, t in self._signature.places[-1]]
        table = notebook.table(("register", "type", "NumPy"), rows)
        return notebook.block(repr(self).strip("<>"), table)

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None, results: int = 1) -> Any:
        """Compute the result, into `out` where given.

        The result is a new array of the shape that the operands broadcast to, or a NumPy scalar where that is ().
        `Kernel` describes its dtype. With `results=2`, p|q gives both. A kernel with several result registers, such as
        p|q and p0|p1, returns a tuple.

        `out` is as for NumPy's ufuncs: an array of the result's type in any byte order, or a tuple of one for each
        register. Operands broadcast to its shape where that is larger than theirs; it may be an operand, or overlap
        one.

        A kernel in C uses as many threads as are quickest, but at most `threads` and never more than there are
        processors: a thread pays off from some hundred thousand elements on. NumPy uses one thread. Beside operands,
        result and copies of overlapping arrays, each thread uses at most 24 MB.

        Raises OperandError (a TypeError) for operands and an `out` of another number or dtype, ValueError for shapes,
        for fewer than one thread and for a number of results that does not exist, TypeError for a number that is not an
        integer, and RuntimeError where NumPy would have to compute on a processor that does not round as IEEE 754
        specifies."""
        quick = self._quick
        is_usual = out is None and threads is None and type(results) is int and results == 1
        if quick is not None and is_usual and len(arrays) == quick.nin:
            for x in arrays:
                if type(x) not in _PLAIN or x.size > native.WORTH_A_THREAD:
                    break
                if x.shape != arrays[0].shape and (x.ndim > 1 or arrays[0].ndim > 1):
                    break  # broadcasting may make a large shape
            else:
                try:
                    return quick(*arrays, casting="no")
                except (TypeError, ValueError):
                    pass  # the checks below report what is wrong
        elif is_usual:
            found = self._again(arrays)
            if found is not None:
                return found
        if len(arrays) != len(self._signature.registers):
            names = ", ".join(name for name, _ in self._signature.registers)
            takes = counted(len(self._signature.registers)) + f" ({names})" * bool(self._row.implicit)
            raise OperandError(f"{self._row} takes {takes}, {len(arrays)} came")
        s = self._signature
        arrays = self._as_arrays(arrays)
        operands = [self._as_bits(x, *r) for x, r in zip(arrays, s.registers, strict=True)]
        if s.common is not None:
            self._check_alike(arrays)
        shape = self._shape(operands)
        results = self._checked_results(results)
        most = self._checked_threads(threads)
        places = s.places[0 if results == 1 else -1]
        given = self._given(out, places)
        pairs = [self._to_fill(t, arrays, shape, o) for (_, t), o in zip(places, given, strict=True)]
        filled, bits = zip(*pairs, strict=True)
        if len(filled) > 1 and len({x.shape for x in filled}) > 1:
            raise ValueError(f"{self._row}: the arrays of out are of different shapes")
        self._run([*operands, *bits], results, most)
        if len(filled) == 1 and out is None and all(x.dtype.isnative for x in arrays):
            self._dtypes[tuple([x.dtype for x in arrays])] = filled[0].dtype
        found = tuple([x[()] if o is None and not shape else x for x, o in zip(filled, given, strict=True)])
        return found if len(places) > 1 else found[0]

    def _again(self, arrays: tuple[Any, ...]) -> Any:
        """Return NumPy's result for few elements, of arrays whose types came before; else None. The checks above take
        longer than the computation."""
        for x in arrays:
            if type(x) not in _PLAIN or x.shape != arrays[0].shape:
                return None
        dtype = self._dtypes.get(tuple([x.dtype for x in arrays]))
        if dtype is None or arrays[0].size > plain.AT_ONCE:
            return None
        shape, s = arrays[0].shape, self._signature
        plain.check_processor()
        if len(shape) != 1:
            arrays = tuple([np.array(x, ndmin=1).reshape(-1) for x in arrays])
        operands = [
            (x if x.flags.c_contiguous else x.copy()).view(t.bits)
            for x, (_, t) in zip(arrays, s.registers, strict=True)
        ]
        [found] = plain.compute_quietly(self._choice[0], s, operands, 1)
        if found.shape != operands[0].shape:
            # A result that depends on constants alone is a scalar.
            found = np.full(operands[0].shape, found)
        # The result may be an operand or a part of one.
        made = found.copy().view(dtype)
        return made if len(shape) == 1 else made.reshape(shape) if shape else made[0]

    def _shape(self, operands: list[Array]) -> tuple[int, ...]:
        """Return the shape to which operands broadcast."""
        shapes = {x.shape for x in operands}
        if len(shapes) == 1:
            return shapes.pop()
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(str(x.shape) for x in operands)
            raise ValueError(f"{self._row}: operands of shapes {listed} do not broadcast") from None

    def _run(self, arrays: list[Array], results: int, threads: int) -> None:
        """Fill the last arrays, which are the registers of so many results, on at most `threads` threads."""
        s, ufunc = self._signature, self._ufuncs[results - 1]
        count = len(s.places[results - 1])
        if ufunc is None:
            plain.fill(self._choice[0], s, arrays, count)
            return

        # Even for operands as bits, the results are integers where a register has a sign.
        bits = [t.bits for _, t in s.registers]
        made = [s.representation(t, bits) for _, t in s.places[results - 1]]

        def run(part: list[Array]) -> None:
            filled = [
                x.view(d if x.dtype.isnative else d.newbyteorder()) for x, d in zip(part[-count:], made, strict=True)
            ]
            ufunc(*part[:-count], out=filled[0] if count == 1 else tuple(filled), casting="equiv")

        native.on_threads(run, arrays, count, s.lanes, threads)

    def registers(self, operands: Sequence[Array], size: int, s: Signature) -> Sequence[Array]:
        """Return all registers of the results as bits, `size` elements each. Operands are one-dimensional and in the
        order of a signature: the kernel's own, or that of its inverse."""
        ufunc = self._ufuncs[-1] if s is self._signature else None
        places = s.places[-1]
        if ufunc is not None:
            found = ufunc(*operands)
            every = found if isinstance(found, tuple) else (found,)
            return [x.view(t.bits) for x, (_, t) in zip(every, places, strict=True)]
        made = plain.compute(self._choice[0], s, operands, len(places))
        return [
            x if np.shape(x) == (size,) else np.full(size, x, t.bits) for x, (_, t) in zip(made, places, strict=True)
        ]

    def _checked_threads(self, threads: Any) -> int:
        if threads is None:
            return native.processors()
        if not is_integer(threads):
            raise TypeError(
                f"{self._row}: threads is {threads!r}; it takes 1 or more, or None for as many as are quickest"
            )
        if threads < 1:
            raise ValueError(f"{self._row}: {threads} threads; it takes 1 or more, or None for as many as are quickest")
        return min(int(threads), native.processors())

    def _given(self, out: Any, places: Registers) -> tuple[Any, ...]:
        """Return the part of `out` for each register of the results."""
        if out is None:
            return (None,) * len(places)
        if len(places) == 1:
            return out if isinstance(out, tuple) and len(out) == 1 else (out,)
        if not isinstance(out, tuple) or len(out) != len(places):
            names = ", ".join(name for name, _ in places)
            raise OperandError(f"{self._row}: out is a tuple of {len(places)} arrays, of {names}")
        return out

    def _to_fill(self, t: Type, arrays: tuple[Any, ...], shape: tuple[int, ...], given: Any) -> tuple[Array, Array]:
        """Return the array for a register of a result, `given` or new, and the same array as bits."""
        made = self._representation(t, arrays)
        result = np.empty(shape, made) if given is None else self._checked_out(given, shape, made, t)
        # An array of a subclass such as np.matrix may not support the shapes that it is cut to.
        return result, np.asarray(result).view(t.bits if result.dtype.isnative else t.in_order_of(result))

    def _as_arrays(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the operands, with Python's numbers converted to NumPy's scalars."""
        for x in arrays:
            if type(x) is not np.ndarray and not isinstance(x, np.generic):
                return read(self._row, arrays, self._signature.registers)
        return arrays

    def _as_bits(self, x: Any, name: str, t: Type) -> Array:
        array = np.asarray(x)
        bits = t.bits if array.dtype.isnative else t.in_order_of(array)
        if array.dtype == bits:
            return array
        if t.is_native(array.dtype) or t.is_signed_bits(array.dtype):
            return array.view(bits)
        hint = mended(name, array.dtype, t)
        message = f"{self._row}: operand {name} is {array.dtype}; expected {t.expected}"
        raise OperandError(message + (f"; {hint}" if hint else ""))

    def _check_alike(self, arrays: tuple[Any, ...]) -> None:
        """Refuse operands of one type that come in different representations."""
        representation = arrays[0].dtype.newbyteorder("=")
        for i, x in enumerate(arrays[1:], 1):
            if x.dtype.newbyteorder("=") != representation:
                (first, _), (other, _) = self._signature.registers[0], self._signature.registers[i]
                message = f"{self._row}: operand {first} is {representation}, operand {other} is {x.dtype}"
                t = self._signature.registers[i][1]
                is_right = t.is_native(representation) if t.native_name else representation == t.bits
                bits = other if is_right else first
                hint = f"write {bits}.view({spelled(t, native=True)}), or all as bits"
                raise OperandError(f"{message}; all must be of one representation; {hint}")

    def _representation(self, t: Type, arrays: tuple[Any, ...]) -> np.dtype[Any]:
        """Return the dtype of a register of the results."""
        return self._signature.representation(t, [x.dtype for x in arrays])

    def _checked_results(self, results: Any) -> int:
        if not is_integer(results):
            raise TypeError(f"{self._row}: results is {results!r}; it takes 1, or 2 for p|q")
        has = len(self._signature.results)
        if not 1 <= results <= has:
            raise ValueError(f"{self._row} has {'the results p and q' if has > 1 else 'one result'}, not {results}")
        return int(results)

    def _checked_out(self, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], t: Type) -> Array:
        if wrong := masked(out):
            raise OperandError(f"{self._row}: out {wrong}")
        came = out.dtype.newbyteorder("=") if isinstance(out, np.ndarray) else None
        own = t is not self._signature.common or t.sort == "integer"
        own = own and came is not None and (came == t.bits or t.is_native(came))
        if came is None or (came != dtype and not own):
            what = out.dtype if came is not None else type(out).__name__
            raise OperandError(f"{self._row}: out is {what}; the result is {dtype}")
        if out.shape != shape and not _broadcasts(shape, out.shape):
            raise ValueError(f"{self._row}: out has shape {out.shape}; the result has {shape}")
        if not out.flags.writeable:
            raise ValueError(f"{self._row}: out is read-only")
        checked: Array = out
        return checked


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    axes = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(length in (1, wanted) for length, wanted in axes)


def is_integer(x: object) -> bool:
    """Return whether x is an integer; a bool is not."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)
