"""Kernels in C: those of the extension `ptxemu_native`, where it is installed.

They are NumPy ufuncs, found by the spelling of a variant. The extension has a module for each opcode, with the digest
of the C that it was built from. Only a package with the same digest uses it: kernels of an older specification never
run for a newer one. Whatever the extension does not have runs in NumPy. matrices_in_c.py finds its module of
matrices."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from .binary import Array

if TYPE_CHECKING:
    from .signature import Signature, Type

PACKAGE = "ptxemu_native"
COMMAND = "pip install ./generated/native"
# The number of lanes that justifies a thread: starting one takes as long as some ten thousand lanes.
WORTH_A_THREAD = 1 << 18

if "PTXEMU_ACCELERATOR" in os.environ:
    print(
        f"ptxemu: PTXEMU_ACCELERATOR is no longer asked: `{COMMAND}` builds the kernels in C, and they run where they "
        "are installed",
        file=sys.stderr,
    )


@cache
def _module(opcode: str) -> Any:
    """Return the extension's module of an opcode; None where there is none, or one built from other C."""
    try:
        found = importlib.import_module(f"{PACKAGE}.{opcode}")
    except ModuleNotFoundError as e:
        if e.name not in (PACKAGE, f"{PACKAGE}.{opcode}"):
            _say(f"cannot be loaded ({e})")
        return None
    except ImportError as e:
        _say(f"cannot be loaded ({e})")
        return None
    digest = importlib.import_module(f".instructions.{opcode}", __package__).NATIVE
    if found.digest != digest:
        _say("was built from another specification")
        return None
    found.resolve_with(_resolved)
    return found


@cache
def _say(why: str) -> None:
    print(f"ptxemu: {PACKAGE} {why} and is not used; `{COMMAND}` rebuilds it", file=sys.stderr)


# The functions for NumPy, by opcode and kernel, where a kernel in C cannot decide how a result is rounded.
_functions: dict[tuple[str, str], Callable[..., Array]] = {}


def _resolved(opcode: str, name: str, operands: Sequence[bytes], widths: Sequence[int]) -> bytes:
    """Return the results of some lanes of a kernel, one for each pattern of the operands; `widths` are their bytes."""
    with np.errstate(all="ignore"):
        columns = [np.frombuffer(x, f"u{width}") for x, width in zip(operands, widths, strict=True)]
        return np.ascontiguousarray(_functions[opcode, name](*columns)).tobytes()


def ufunc(opcode: str, name: str, s: Signature, results: int, function: Callable[..., Array]) -> np.ufunc | None:
    """Return the kernel of that name as a ufunc with this number of results; None where there is none. `function`
    computes the lanes that it leaves undecided.

    Operands and results are bits, or NumPy's own types of the signature's numbers, as `Kernel` describes."""
    module = _module(opcode)
    if module is None:
        return None
    _functions[opcode, name] = function
    types = [t for _, t in (*s.registers, *s.places[results - 1])]
    codes = b"".join(bytes(d.num for d in row) for row in dict.fromkeys(_dtypes(s, types)))
    found: np.ufunc | None = module.ufunc(name, len(s.registers), len(types) - len(s.registers), codes)
    return found


def _dtypes(s: Signature, types: Sequence[Type]) -> Iterator[tuple[np.dtype[Any], ...]]:
    """Yield the matching dtypes of operands and results, those of bits first."""
    distinct = list(dict.fromkeys(t for _, t in s.registers))
    for chosen in product(*([t.bits, *([t.native] if t.native and not t.is_extension else [])] for t in distinct)):
        of = dict(zip(distinct, chosen, strict=True))
        operands = tuple(of[t] for _, t in s.registers)
        yield (*operands, *(s.representation(t, operands) for t in types[len(operands) :]))


def on_threads(run: Callable[[list[Array]], None], arrays: list[Array], results: int, lanes: int, most: int) -> None:
    """Run a function that fills the last `results` arrays, on as many threads as pay off, at most `most`. Each thread
    gets a part of all arrays; an element has `lanes` lanes."""
    filled = arrays[-results:]
    worth = min(most, filled[0].size * lanes // WORTH_A_THREAD)
    if worth < 2:
        run(arrays)
        return
    from threading import Thread  # few calls use threads

    # No thread may write what another one reads: only an operand in exactly the place of the result may share it.
    for r in filled:
        arrays[:-results] = [
            x.copy() if np.may_share_memory(x, r) and not _is_same(x, r) else x for x in arrays[:-results]
        ]
    axis = int(np.argmax(filled[0].shape))
    whole = [np.moveaxis(np.broadcast_to(x, filled[0].shape), axis, 0) for x in arrays[:-results]]
    whole += [np.moveaxis(x, axis, 0) for x in filled]
    ends = np.linspace(0, whole[-1].shape[0], worth + 1).astype(int)
    parts = [[x[start:stop] for x in whole] for start, stop in pairwise(ends)]
    failed: list[BaseException] = []

    def work(part: list[Array]) -> None:
        try:
            run(part)
        except BaseException as e:
            failed.append(e)

    started = []
    for part in parts[1:]:
        thread = Thread(target=work, args=(part,))
        try:
            thread.start()
        except RuntimeError:  # no further thread can be started
            work(part)
        else:
            started.append(thread)
    work(parts[0])
    for thread in started:
        thread.join()
    if failed:
        raise failed[0]


def _is_same(x: Array, y: Array) -> bool:
    """Return whether two arrays have the same elements at the same addresses."""
    return (
        x.__array_interface__["data"] == y.__array_interface__["data"] and x.shape == y.shape and x.strides == y.strides
    )


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
