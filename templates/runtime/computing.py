"""The computation of a kernel's results: by NumPy or C, few elements at once or many in blocks and on threads."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from . import quick
from .binary import Array
from .lookup import Row, Variant
from .operands import truths
from .running import BLOCK, THREADS_BLOCKS, THREADS_BYTES, WORTH_THREADS, in_blocks, on_threads, takes
from .signature import Signature
from .surroundings import undisturbed
from .switch import is_accelerated, is_forbidden, is_left_to_time, is_shipped
from .tuning import Quickest

if TYPE_CHECKING:
    from .accelerator import Native
    from .background import Meter

_BOOL, _BYTE = np.dtype(bool), np.dtype(np.uint8)


class Computing:
    """A function of lanes, applied to arrays of bits."""

    # The name under which the result of `_compiled` is kept.
    _COMPILED: ClassVar = "_native"
    _LEFT_HERE: ClassVar[set[str]] = {"_native", "_pieces", "_plans", "_latest", "_ufunc", "_meter", "_blocks"}
    # How arrays are taken, by their types, behind the number of results where that is 2; and what was called last, at
    # that number: it sees by itself whether it is meant again.
    _plans: dict[tuple[Any, ...], quick.Plan | quick.Registered]
    _latest: list[Callable[..., Any] | None]
    # What a subclass knows of what it computes.
    target: str | None
    variant: Variant
    _row: Row
    _signature: Signature

    @property
    def operands(self) -> int:
        """The number of source registers, and so of arrays."""
        return self.variant.operands

    @cached_property
    def _function(self) -> Callable[..., Array]:
        module = importlib.import_module(f".instructions.{self._row.opcode}", __package__)
        choice: dict[str | None, Callable[..., Array]] = module.KERNELS[self.variant.spelling, self.operands]
        return choice.get(self.target, choice[None])

    def __new__(cls, *_: Any) -> Self:
        made = super().__new__(cls)
        made._forget()
        return made

    def _forget(self) -> None:
        """Forget the plans of calls; what a call that is under way is about to keep goes with them."""
        self.__dict__.update({"_plans": {}, "_latest": [None] * 3})

    def __getstate__(self) -> dict[str, Any]:
        # C that is loaded here is not loaded elsewhere.
        return {name: value for name, value in self.__dict__.items() if name not in self._LEFT_HERE}

    @cached_property
    def _native(self) -> Native | None:
        """The kernel in C, where the accelerator has one."""
        return self._compiled() if is_accelerated() else self._shipped()

    def _shipped(self) -> Native | None:
        """Return the kernel in C, where it was compiled elsewhere, or for another kernel."""
        if is_forbidden() or not (is_shipped() or f"{__package__}.accelerator" in sys.modules) or self._wanted is None:
            return None
        from .accelerator import shipped

        return undisturbed(shipped, self._wanted)

    @cached_property
    def _blocks(self) -> Quickest:
        """The lengths of NumPy's blocks on threads."""
        widest = max(t.lane.itemsize for _, t in (*self._signature.registers, *self._signature.places[0]))
        return Quickest([lanes for lanes in THREADS_BLOCKS if lanes * widest <= THREADS_BYTES])

    @cached_property
    def _meter(self) -> Meter | None:
        """The meter of NumPy's time, after enough of which the kernel is compiled; None where the time does not
        decide."""
        if self.__dict__.get(self._COMPILED) or not is_left_to_time():
            return None
        from .background import Meter

        return Meter(self)

    @property
    def _wanted(self) -> tuple[str, str, Callable[..., Array], Signature] | None:
        """The arguments of accelerator.py's `Wanted`; None for what is not a kernel of an opcode."""
        return self.variant.spelling, self._row.opcode, self._function, self._signature

    def _compiled(self) -> Any:
        """Return the kernel in C, or None where there is none. Raises nothing, and says why there is none."""
        from .accelerator import native

        # What is compiled is held against NumPy's, which the caller's environment must not disturb.
        return undisturbed(native, self._wanted or ())

    def _adopt(self, compiled: Any) -> None:
        """Run in C from now on, if there is any."""
        self.__dict__.update({self._COMPILED: compiled, "_meter": None})
        self.__dict__.pop("_ufunc", None)
        self._forget()

    @property
    def is_in_c(self) -> bool:
        """Return whether it runs in C. Where it is compiled when it is first called on several elements, it is compiled
        now."""
        return self._native is not None

    @cached_property
    def _ufunc(self) -> np.ufunc | None:
        """The kernel in C on bits, which leaves no lane undecided."""
        native, s = self._native, self._signature
        if native is None or native.decides or len(s.places[0]) > 1:
            return None
        return native.ufunc([t.bits for _, t in (*s.registers, *s.places[0])], len(s.registers))

    def _on_threads(self, arrays: list[Array], threads: int | None, results: int) -> None:
        in_c = arrays[-1].size > 1 and self.is_in_c
        blocks = None if in_c else self._blocks
        on_threads(self._run, arrays, self._signature.lanes, threads, self._row, results, blocks)

    def _run(self, arrays: list[Array], block: int) -> None:
        """Fill the last arrays, by C all at once, by NumPy in blocks of so many lanes."""
        meter = self._meter
        start = time.perf_counter()
        undisturbed(self._run_on, (arrays, block))
        if meter is not None:
            meter.add(time.perf_counter() - start)

    def _run_on(self, arrays: list[Array], block: int) -> None:
        s, filled = self._signature, len(arrays) - self.operands
        at_once, results = (s.lanes if s.flat else 1), (1 if filled == len(s.places[0]) else 2)
        # One element is not worth a compiler.
        native = self._native if arrays[-1].size > 1 else None
        if native is not None and filled == 1 and self._ufunc is not None:
            self._ufunc(*arrays[:-1], out=arrays[-1])
            return
        if native is not None and takes(arrays, filled):
            native(arrays, at_once, results)
            return
        contiguous = s.lanes > 1 or not s.flat or native is not None
        with in_blocks(arrays, block // s.lanes, contiguous, filled) as blocks:
            for views in blocks if blocks.itersize else ():
                if native is not None:
                    native(views, at_once, results)
                else:
                    self._fill(views, filled)

    def _fill(self, arrays: Sequence[Array], filled: int) -> None:
        """Fill the last arrays by NumPy: all are of one dimension."""
        s = self._signature
        operands = [truths(x) if t.sort == "bool" else x for x, (_, t) in zip(arrays, s.registers, strict=False)]
        registers = arrays[-filled:]
        if not s.flat:
            found: Any = s.apply(self._function, *operands)
        else:
            if s.lanes > 1:
                operands = [x.view(t.lane) for x, (_, t) in zip(operands, s.registers, strict=True)]
                registers = [x.view(o.type.lane) for x, o in zip(registers, s.results, strict=False)]
            found = self._function(*operands)
            found = found if isinstance(found, tuple) else (found,)
        # A second result that nobody asked for has no registers.
        for register, x in zip(registers, found, strict=False):
            register[...] = x

    def _registered(self, types: quick.Types, made: quick.Types, results: int) -> quick.Registered | None:
        """Return how C takes arrays of these types; None where there is no C for them."""
        native: Native | None = self.__dict__.get("_native")
        if native is None:
            return None
        ufunc = native.ufunc((*types, *made), len(types), results)
        if ufunc is None:
            return None
        most = BLOCK if native.decides else WORTH_THREADS // self._signature.lanes
        return quick.Registered(types, ufunc, made, most, native.undecided)

    def _planned(
        self, types: quick.Types, operands: Sequence[Array], bits: Sequence[Array], made: quick.Types
    ) -> quick.Plan:
        """Return how NumPy takes arrays of these types: a single element, unless it is settled whether C takes more."""
        s = self._signature
        function, wanted = self._of_few()
        read, lanes = tuple(x.dtype for x in operands), tuple(x.dtype for x in bits)
        if wanted is not None:
            read, lanes = wanted[: len(read)], wanted[len(read) :][: len(bits)]
        truths = [i for i, (_, t) in enumerate(s.registers) if t.sort == "bool"]
        read = tuple(_BYTE if t == _BOOL else t for t in read)
        gaps, at_once = s.flat and s.lanes == 1, 1 if s.flat else s.lanes
        most = BLOCK // at_once if self._is_settled() else s.lanes // at_once
        return quick.Plan(types, function, read, truths, gaps, most, lanes, made, self._meter)

    def _is_settled(self) -> bool:
        """Return whether it is known if C does the work."""
        return self.__dict__.get("_native", not is_accelerated()) is not False

    def _of_few(self) -> tuple[Callable[..., Any], quick.Types | None]:
        """Return a function that makes the results of one block of operands at most, and the types of operands and
        results that it takes and gives (None: those of the registers)."""
        s = self._signature
        if s.flat:
            return self._function, (*(t.lane for _, t in s.registers), *(o.type.lane for o in s.results))
        return partial(s.apply, self._function), None
