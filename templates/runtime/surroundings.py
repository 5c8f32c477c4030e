"""The caller's surroundings, set aside while a kernel computes: NumPy's error state and the processor's environment.

`np.errstate` and `environment.ordinary` do the same, and take as long as several operations on few elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from typing import Any, Final, TypeVar

import numpy as np

from . import environment

_Made = TypeVar("_Made")


def _silence() -> tuple[ContextVar[Any], Any] | None:
    """Return the variable that np.errstate sets, and its value where NumPy says nothing; None where np.errstate sets no
    such variable."""
    before = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    found = [(v, x) for v, x in inside.items() if v not in before or before[v] is not x]
    return found[0] if len(found) == 1 and copy_context().run(_is_silent, *found[0]) else None


def _is_silent(variable: ContextVar[Any], silent: Any) -> bool:
    np.seterr(all="raise")
    variable.set(silent)
    return set(np.geterr().values()) == {"ignore"}


_SILENCE: Final = _silence()
_PLAIN: Final = environment.PLAIN
_Stored, _fetch, _put = environment.Stored, environment.fetch, environment.put
# Where control bits cannot be read alone, every environment is taken for a foreign one.
_Modes, (_fetch_modes, _CONTROL, _USUAL) = environment.Modes, environment.MODES or (None, 0, 0)


def undisturbed(run: Callable[..., _Made], arguments: Sequence[Any]) -> _Made:
    """Return the result of a function that runs in the ordinary environment, with NumPy silent. The caller's
    environment is restored; flags may be raised, as after NumPy's own operations."""
    if _SILENCE is None or _PLAIN is None:
        with np.errstate(all="ignore"), environment.ordinary():
            return run(*arguments)
    variable, silent = _SILENCE
    state, before = variable.get(), _Stored()
    _fetch(before)
    try:
        variable.set(silent)
        _put(_PLAIN)
        return run(*arguments)
    finally:
        # An interrupt comes between two calls.
        try:
            _put(before)
        finally:
            variable.set(state)


def as_lines(run: str, arguments: str) -> tuple[list[str], dict[str, Any]]:
    """Return lines that do the same in a written function: they make `found` of what is named, sooner where the
    environment is the ordinary one. Also return the other names that they use."""
    call, otherwise = f"found = {run}({arguments})", f"found = undisturbed({run}, ({arguments}))"
    if _SILENCE is None or _fetch_modes is None:
        return [otherwise], {"undisturbed": undisturbed}
    lines = ["state, modes = get_state(), Modes()", "fetch_modes(modes)", f"if modes[0] & {_CONTROL} == {_USUAL}:"]
    lines += ["    try:", "        set_state(silent)", f"        {call}", "    finally:", "        set_state(state)"]
    lines += ["else:", f"    {otherwise}"]
    variable, silent = _SILENCE
    named = {"get_state": variable.get, "set_state": variable.set, "silent": silent}
    return lines, {**named, "Modes": _Modes, "fetch_modes": _fetch_modes, "undisturbed": undisturbed}
