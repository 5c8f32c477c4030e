"""One module per opcode, imported when it is first used. Where an opcode has very many functions, they are in further
modules, one for each type of the first operand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeAlias

# By target: None is for those that are not named.
Choice: TypeAlias = "dict[str | None, Callable[..., Any]]"
Rows: TypeAlias = "Sequence[tuple[Any, ...]]"


class Kernels(Mapping["tuple[str, int]", Choice]):
    """The table of a module, by spelling and operands. A row is a function, a number of operands, modifiers and types,
    and targets where it is not for all; behind them are the first arguments of a function that serves a family. Rows
    of functions `elsewhere` are by module, and have the functions' names. Rows are read when they are asked for: a
    process seldom needs more than a few of them."""

    def __init__(self, opcode: str, rows: Rows = (), **elsewhere: Rows) -> None:
        self._opcode, self._rows = opcode, {"": rows, **elsewhere}

    def __getitem__(self, key: tuple[str, int]) -> Choice:
        spelling, wanted = key
        found: Choice = {}
        opcode, _, name = spelling.partition(".")
        for module, rows in self._rows.items():
            for function, operands, spelled, *more in rows:
                if operands == wanted and name in spelled:
                    made = _imported(module, function) if module else function
                    if len(more) > 1:
                        made = partial(made, *more[1])
                    found.update(dict.fromkeys(more[0] if more and more[0] else (None,), made))
        if not found or opcode != self._opcode:
            raise KeyError(key)
        return found

    @cached_property
    def _keys(self) -> dict[tuple[str, int], None]:
        names = ((name, row[1]) for rows in self._rows.values() for row in rows for name in row[2])
        return {(f"{self._opcode}.{name}", operands): None for name, operands in names}

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def _imported(module: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return found
