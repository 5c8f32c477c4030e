"""Pieces of PTX as sides."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...model import BOOL, Operand, Spec
from .sides import AS_KNOWN, CORRECTLY, PIECE, Face, Side

Array = NDArray[Any]

# The longest name of a side.
_LONGEST = 48
# Claims by which hardware has the emulator's results.
SURE = ("exact", "measured", "reported", "unjudged")


def piece(
    emulator: ModuleType, spec: Spec, text: str, name: str, target: str | None, other: Face | None,
    threads: int | None = None,
) -> Side:  # fmt: skip
    """Return a side that runs a piece of PTX, for comparison with a side of face `other`: registers of the same names
    correspond, else registers in the same order. Raises PtxspecError for PTX that cannot be run."""
    results = [n for n, _ in other.result_registers()] if other else []
    f = _function(emulator, text, name, target, results)
    sources, given = (tuple(Operand(n, spec.types[f.types[n]]) for n in names) for names in (f.inputs, f.results))
    names = [n for n, _ in other.registers()] if other else []
    order, taken = [*range(len(sources))], list(f.inputs)
    if {*names} == {*f.inputs}:
        order = [names.index(n) for n in f.inputs]
        sources = tuple(sources[f.inputs.index(n)] for n in names)
    elif len(names) == len(sources):
        taken = [f"{n} for {m}" for n, m in zip(f.inputs, names, strict=True)]
    about = [f"takes {', '.join(taken) or 'nothing'}, returns {', '.join(f.results)}"]
    about += [f"on {target}"] * (target is not None)
    about.append(f.claim)
    computed = CORRECTLY if target is None else AS_KNOWN
    if loose := not {*f.claim.split(", ")} <= {*SURE}:
        about.append(f"the emulator {computed}; hardware may not")

    def run(asked: Face, columns: Sequence[Array]) -> list[Array]:
        given = (columns[i].astype(np.bool_) if sources[i].kind == BOOL else columns[i] for i in order)
        found = f(*given, threads=threads)
        made = found if isinstance(found, tuple) else (found,)
        return [np.asarray(x if x.dtype == np.bool_ else x.view(f"u{x.itemsize}")) for x in made]

    return Side(name, tuple(about), Face(sources, given), PIECE, run, loose=loose, computed=computed)


def named(text: str) -> str:
    """Return the name of a piece of PTX: its text on one line, truncated if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 4].rstrip() + " ..."


def _function(emulator: ModuleType, text: str, name: str, target: str | None, results: Sequence[str]) -> Any:
    """Return the piece as a function, with the required results if it has registers of their names, or with its own."""
    try:
        f = emulator.function(text, target)
        if results and {*f.results} > {*results}:
            return emulator.function(text, target, results)
    except ValueError as e:
        raise PtxspecError(f"{name} cannot be run\n{e}") from None
    if not f.results:
        raise PtxspecError(f"{name} has no result: every register that it writes is read again")
    return f
