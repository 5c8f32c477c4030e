"""One module per opcode, imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

# By spelling and operands, then by target: None is for those that are not named.
Kernels: TypeAlias = dict[tuple[str, int], dict[str | None, Callable[..., Any]]]


def kernels(opcode: str, rows: Iterable[tuple[Any, ...]]) -> Kernels:
    """What a module's table says: function, operands, modifiers and types, and targets where it is not for all."""
    found: Kernels = {}
    for function, operands, spelled, *targets in rows:
        for modifiers_and_types in spelled.split(" "):
            choice = found.setdefault((f"{opcode}.{modifiers_and_types}", operands), {})
            choice.update(dict.fromkeys(targets[0].split(" ") if targets else (None,), function))
    return found
