"""A row of the table of functions."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    """One row. `parameters` and `result` are of "float", "integer", "bits", "bool" or "any". Parameters that must be
    known when the code is read are a "format", "rounding", "unit" or "count". "number" is a float or an integer of a
    format of its own, "whole" an integer or bits. A result that is known when the code is read is a "format", "literal"
    or "fact". `needs` is what a format must have for the function to make sense in it: "sign", "quiet bit", or "IEEE"
    if it must be declared like a format of IEEE 754. `nan` is the NaN that it returns: one of `NANS`, or empty if the
    result is no float."""

    name: str
    names: tuple[str, ...]
    parameters: tuple[str, ...]
    result: str
    doc: str
    optional: int = 0
    operator: str = ""
    rounds: bool = False
    bitwise: bool = False
    nan: str = ""
    clause: str = ""
    needs: str = ""

    @property
    def is_static(self) -> bool:
        """Return whether it asks about a format. Such calls are answered when the code is read and reach no back
        end."""
        return self.result in ("format", "literal", "fact")

    @property
    def operands(self) -> tuple[str, ...]:
        """The parameters that are values when the program runs."""
        return tuple(p for p in self.parameters if p not in _KNOWN)


# Parameters that are known when the code is read.
_KNOWN = ("format", "rounding", "unit", "count")
# The sorts of a parameter that may have several.
SORTS = {"number": ("float", "integer"), "whole": ("integer", "bits")}
NANS = ("canonical", "operand", "sign", "quiet", "bits")
# The functions of the language, those that rewriting puts in place of several calls, and both.
TABLE: dict[str, Function] = {}
COMBINED: dict[str, Function] = {}
ALL = ChainMap(COMBINED, TABLE)


def row(signature: str, table: dict[str, Function] = TABLE, **said: Any) -> Any:
    """Add a row to a table: its kinds, such as "float, float -> float", and the other fields."""

    def add(f: Callable[..., None]) -> Callable[..., None]:
        left, result = (part.strip() for part in signature.split("->"))
        parameters = tuple(p.strip() for p in left.split(",") if p.strip())
        names, doc = tuple(inspect.signature(f).parameters), inspect.getdoc(f) or ""
        found = table[f.__name__] = Function(f.__name__, names, parameters, result, doc, **said)
        assert found.nan in NANS if result in ("float", "number", "any") else not found.nan, f.__name__
        return f

    return add
