"""Kernels in C: the folder native/ holds the C of every function that has one, compiling.py makes libraries of it.

Before it is used, a kernel must agree with NumPy's on a thousand operands. Whatever goes wrong is said in one line on
stderr, and NumPy goes on.

switch.py says whether and when kernels are compiled.
"""

from __future__ import annotations

import ctypes
import os
from _thread import RLock
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from . import environment, shipping
from .binary import Array, Format
from .compiling import Failure, given_up, library, say, source
from .declared import Declared
from .loops import loop
from .signature import Signature, Type
from .ufuncs import registered

# Elements for which a list of undecided lanes is held at a time.
_SLICE: Final = 1 << 18
_lock = RLock()
# By the C of its loops, which names the function.
_kernels: dict[str, Native | None] = {}
# Of each library with wrong kernels the first of these.
_wrong: list[str] = []
# The number of kernels compiled in one go: each takes a compiler some 0.1 s.
_AT_ONCE: Final = 100
# Functions by name, each with the signature of its operands and results.
Functions: TypeAlias = "Mapping[str, tuple[Callable[..., Array], Signature]]"


def _after_fork() -> None:
    """Replace the lock, which a thread of the other process may hold."""
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Native(NamedTuple):
    """A kernel in C. Its arrays are contiguous, aligned and of one size; the last receive the results, and each may be
    one of the others but overlap none otherwise. `both` fills those of p|q. `decides`: it lists the lanes that it
    leaves to `function`. `loops` are what ufuncs call that make the first result, and those of p|q, each with the
    widths of its elements; `undecided` grows by the number of lanes that the first leaves so."""

    run: Callable[..., int | None]
    both: Callable[..., int | None] | None
    decides: bool
    function: Callable[..., Array]
    loops: tuple[tuple[Any, tuple[int, ...]], ...] = ()
    undecided: ctypes.c_size_t | None = None

    def ufunc(self, types: Sequence[np.dtype[Any]], sources: int, results: int = 1) -> np.ufunc | None:
        """Return the ufunc that takes and gives these types, with this number of results; None where there is none."""
        loop, widths = self.loops[results - 1] if results <= len(self.loops) else (None, ())
        if tuple(t.itemsize for t in types) != widths:
            return None
        return registered(loop, types, sources, self.function.__name__)

    def __call__(self, arrays: Sequence[Array], lanes: int = 1, results: int = 1) -> None:
        """Fill the last arrays, computing one of `lanes` values in each element at a time."""
        if self.decides:
            self._decide(arrays, lanes)
        else:
            self._run(arrays, arrays[0].size * lanes, self.run if results == 1 else self.both)

    def _run(self, arrays: Sequence[Array], size: int, run: Callable[..., int | None] | None = None) -> int | None:
        return (run or self.run)(ctypes.c_size_t(size), *(ctypes.c_void_p(x.ctypes.data) for x in arrays))

    def left(self, arrays: Sequence[Array], lanes: int = 1) -> Array:
        """Fill the last array, and return the places of the lanes that are left undecided, if the kernel decides."""
        places = np.empty(arrays[-1].size * lanes, np.uintp)
        return places[: self._run([*arrays, places], places.size)]

    def _decide(self, arrays: Sequence[Array], lanes: int) -> None:
        flat = [x.reshape(-1) for x in arrays]
        for start in range(0, flat[0].size, _SLICE):
            *operands, result = (x[start : start + _SLICE] for x in flat)
            # An operand in the result's place is gone when it is asked for again.
            operands = [x.copy() if np.may_share_memory(x, result) else x for x in operands]
            places = self.left([*operands, result], lanes)
            if places.size:
                with np.errstate(all="ignore"):
                    found = self.function(*(x.view(f"u{x.itemsize // lanes}")[places] for x in operands))
                result.view(found.dtype)[places] = found


class Wanted(NamedTuple):
    """A kernel to be made in C: `function`, applied to the lanes of a signature's registers."""

    spelling: str
    opcode: str
    function: Callable[..., Array]
    signature: Signature

    @property
    def loops(self) -> str:
        return _loops(self.opcode, self.function.__name__, self.signature)


def native(*wanted: Any) -> Native | None:
    """Return a kernel in C; None where there is none, or no compiler, or it fails. The arguments are those of
    `Wanted`."""
    return natives([Wanted(*wanted)])[0]


def shipped(*wanted: Any) -> Native | None:
    """Return a kernel that was compiled already, here or elsewhere; None where there is none. The arguments are those
    of `Wanted`."""
    w = Wanted(*wanted)
    # A thread that compiles another kernel holds the lock meanwhile.
    if w.loops in _kernels or not shipping.is_there():
        return _kernels.get(w.loops)
    with _lock:
        return _kernels[w.loops] if w.loops and (w.loops in _kernels or _is_shipped(w)) else None


def natives(wanted: Sequence[Wanted]) -> list[Native | None]:
    """Return several kernels. Those of one opcode are in a few libraries, each compiled in one go."""
    with _lock:
        opcodes: dict[str, dict[str, Wanted]] = {}
        for w in wanted:
            if w.loops and w.loops not in _kernels and not _is_shipped(w):
                opcodes.setdefault(w.opcode, {})[w.loops] = w
        for opcode, missing in opcodes.items():
            rest = list(missing.values())
            while rest:
                some, rest = rest[:_AT_ONCE], rest[_AT_ONCE:]
                what = some[0].spelling if len(some) == 1 else f"{len(some)} kernels of {opcode}"
                _kernels.update(_compiled(opcode, some, what))
        return [_kernels.get(w.loops) for w in wanted]


def _is_shipped(w: Wanted) -> bool:
    """Return whether a kernel was compiled elsewhere, and is right."""
    kernel = shipping.found(w.opcode, w.function, w.signature, w.loops)
    if kernel is not None and _agrees(kernel, w.function, w.signature):
        _kernels[w.loops] = kernel
    return _kernels.get(w.loops) is not None


def _compiled(opcode: str, wanted: Sequence[Wanted], what: str) -> dict[str, Native | None]:
    """Return the kernels by the C of their loops; where one is missing or wrong, say why."""
    symbols = symbols_of(wanted)
    found: dict[str, Native | None] = dict.fromkeys([w.loops for w in wanted])
    try:
        kernels = load(opcode, {s: (w.function, w.signature) for s, w in zip(symbols, wanted, strict=True)}, what)
    except Failure as e:
        say(f"{e}; NumPy goes on")
        return found
    for symbol, w in zip(symbols, wanted, strict=True):
        if _agrees(kernels[symbol], w.function, w.signature):
            found[w.loops] = kernels[symbol]
    wrong = [w.spelling for w in wanted if found[w.loops] is None]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        say(f"the compiled {wrong[0]}{more} disagrees with NumPy's and is not used; NumPy goes on")
        # Once it may be the kernel's fault.
        _wrong.append(wrong[0])
        if len(_wrong) > 1:
            given_up(f"what is compiled is wrong, as {' and '.join(_wrong)} were")
    return found


def symbols_of(wanted: Sequence[Wanted]) -> list[str]:
    """Return the names of kernels in one library. Several signatures may have the same function."""
    names = [w.function.__name__ for w in wanted]
    return [f"{name}__{i}" if name in names[:i] else name for i, name in enumerate(names)]


def _agrees(kernel: Native, function: Callable[..., Array], s: Signature) -> bool:
    """Return whether a kernel gives what NumPy gives."""
    operands = trial([t for _, t in s.registers])
    with np.errstate(all="ignore"):
        due = s.apply(function, *operands)
        for count in range(1, len(s.results) + 1):
            registers = [np.empty(operands[0].shape, t.bits) for _, t in s.places[count - 1]]
            kernel([*operands, *registers], s.lanes if s.flat else 1, count)
            ufunc = kernel.ufunc([x.dtype for x in (*operands, *registers)], len(operands), count)
            again = [registers] if ufunc is None else [registers, _again(kernel, ufunc, operands, registers)]
            if not all(np.array_equal(x, y) for made in again for x, y in zip(made, due, strict=False)):
                return False
    return True


def _again(kernel: Native, ufunc: np.ufunc, operands: Sequence[Array], registers: Sequence[Array]) -> list[Array]:
    """Return the results of a ufunc on every second element, and on the others. Lanes that it leaves undecided get the
    results that are due; if it has not counted them, all results are made wrong."""
    found = [np.empty_like(x) for x in registers]
    counted = kernel.undecided
    before = 0 if counted is None else counted.value
    for half in (slice(None, None, 2), slice(1, None, 2)):
        made = ufunc(*(x[half] for x in operands))
        for x, result in zip(found, made if isinstance(made, tuple) else (made,), strict=False):
            x[half] = result
    if counted is not None:
        [x], [due] = found, registers
        places = kernel.left([*operands, np.empty_like(x)])
        x[places] = due[places]
        if counted.value - before < places.size:
            x[...] = ~due
    return found


def trial(types: Sequence[Type], size: int = 1280) -> list[Array]:
    """Return registers on which a kernel proves itself: combinations of values at the edges of formats, any patterns,
    and as many more of moderate size, for which it may have other code."""
    columns = []
    for i, t in enumerate(types):
        # Counted numbers, scattered by multiplication and folding.
        noise = np.arange(size * t.lanes, dtype=np.uint64) + np.uint64(size * i + 1)
        noise *= np.uint64(0x9E3779B97F4A7C15)
        noise ^= noise >> np.uint64(29)
        noise *= np.uint64(0xBF58476D1CE4E5B9)
        noise ^= noise >> np.uint64(32)
        patterns = np.array(_edges(t), np.uint64)
        noise = noise.reshape(t.lanes, size)
        any_from, moderate_from = size // 5 * 3, size // 5 * 4
        edges, rest, last = np.split(noise, [any_from, moderate_from], axis=1)
        lanes = np.concatenate([patterns[edges % np.uint64(patterns.size)], rest, _moderate(last, t)], axis=1)
        lanes &= np.uint64((1 << t.width) - 1)
        columns.append(t.pack(list(lanes.astype(t.lane))))
    return columns


def _moderate(noise: Array, t: Type) -> Array:
    """Return patterns whose exponents are at most half as far from zero as they may be; any patterns of what is no
    float."""
    f = t.number
    if not isinstance(f, Format):
        return noise
    exponents = (noise >> np.uint64(f.fraction_bits)) % np.uint64(f.bias - 1) + np.uint64(f.bias - f.bias // 2)
    places = np.uint64(f.infinity)
    return (noise & ~places) | (exponents << np.uint64(f.fraction_bits))


def _edges(t: Type) -> list[int]:
    """Return encodings at which a type's numbers change their kind."""
    f, top = t.number, 1 << (t.width - 1)
    if isinstance(f, Format):
        one, last, least = f.bias << f.fraction_bits, int(f.infinity), int(f.smallest_normal)
        half = int(f.quiet_mask)
        edges = [0, 1, least - 1, least, least + 1, one // 2, one - 1, one, one + 1, one + half]
        edges += [last // 2, last - least, last - 1, last, last + 1, last + half]
    elif isinstance(f, Declared):
        one, least, top = f.bias << f.fraction_bits, f.least_normal, int(f.sign)
        edges = [0, 1, least, least + 1, one - 1, one, one + 1, f.largest - 1, f.largest, f.first_nan, f.magnitudes - 1]
    else:
        edges = [0, 1, 2, 3, top // 2, top - 1, top // 3]
        edges += [(1 << i) - 1 for i in range(8, t.width, 8)]
    return edges + [e | top for e in edges]


@cache
def exported(opcode: str) -> dict[str, str]:
    """Return the functions of an opcode that have C, each with its head there, as kernel.h says."""
    return {name: head for head in ("LANE", "DECIDING") for name in _headed(opcode)[head]}


@cache
def _headed(opcode: str) -> dict[str, list[str]]:
    """Return the names behind each head."""
    # Line by line it takes as long as all else of a first call: an opcode may have ten thousand.
    text = "\n" + source(f"{opcode}.c").decode()
    heads = ("LANE", "DECIDING", "DIRECTLY")
    return {head: [rest[: rest.index(",")] for rest in text.split(f"\n{head}(")[1:]] for head in heads}


# A kernel that is asked for is looked up by them several times.
@lru_cache(maxsize=1024)
def _loops(opcode: str, name: str, s: Signature, symbol: str = "") -> str:
    """Return the C of a function's kernels, under a symbol or its own name; empty where it has none."""
    head = exported(opcode).get(name)
    decides = head == "DECIDING"
    # Whoever asks again for the lanes left undecided must find them.
    if head is None or (decides and not (s.flat and len(s.results) == 1)):
        return ""
    symbols = [f"{symbol or name}{'_both' * n}" for n in range(len(s.results))]
    eases = name in _headed(opcode)["DIRECTLY"]
    return "\n".join(loop(name, each, s, n, decides, eases) for n, each in enumerate(symbols, 1))


def load(opcode: str, functions: Functions, what: str) -> dict[str, Native]:
    """Return functions of an opcode as kernels, by the names that they have there, in one library. Raises Failure."""
    name, text = next(iter(functions)), text_of(opcode, functions)
    return library(name, text, [f"{opcode}.c"], what, lambda path: kernels_of(path, functions))


def text_of(opcode: str, functions: Functions) -> str:
    """Return the C of a library."""
    kernels = [_loops(opcode, f.__name__, s, name) for name, (f, s) in functions.items()]
    return "\n".join([f'#include "{opcode}.c"', *kernels, ""])


def kernels_of(path: str, functions: Functions) -> dict[str, Native]:
    # What options of $CC link to a library may set the thread's flushing or precision as it is loaded.
    with environment.ordinary():
        library = ctypes.CDLL(path)
    found = {}
    for name, (function, s) in functions.items():
        decides = hasattr(library, f"{name}_decide")
        run = getattr(library, f"{name}_decide" if decides else f"{name}_run")
        run.restype = ctypes.c_size_t if decides else None
        both = None
        if len(s.results) > 1:
            both = getattr(library, f"{name}_both_run")
            both.restype = None
        loops = []
        for places, symbol in zip(s.places, (name, f"{name}_both"), strict=False):
            widths = tuple(t.bits.itemsize for _, t in (*s.registers, *places))
            loops.append((getattr(library, f"{symbol}_loop", None), widths))
        # A library has a loop of it where a register has one lane.
        counts = decides and loops[0][0] is not None
        undecided = ctypes.c_size_t.in_dll(library, f"{name}_undecided") if counts else None
        found[name] = Native(run, both, decides, function, tuple(loops), undecided)
    return found
