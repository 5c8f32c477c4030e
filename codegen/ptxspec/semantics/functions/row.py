"""A row of the table of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    """One row. `parameters` and `result` are of "float", "integer", "bits", "bool", "any", or, for parameters that
    must be known when the code is read, "format", "rounding", "unit" and "count"; "number" is a float or an integer
    of a format of its own, "whole" an integer or bits. A result that is known when the code is read is a "format", a
    "literal" or a "fact". `needs` is what a format must have for the function to make sense in it: "sign", "quiet bit",
    or "IEEE" where it must be declared like a format of IEEE 754. `nan` says which NaN it returns: one of `NANS`, or
    nothing where the result is no float."""

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
        """It asks about a format, and is answered when the code is read: no back end has it."""
        return self.result in ("format", "literal", "fact")

    @property
    def operands(self) -> tuple[str, ...]:
        """The parameters that are values."""
        return tuple(p for p in self.parameters if p not in _KNOWN)


# Parameters that are known when the code is read.
_KNOWN = ("format", "rounding", "unit", "count")
# What a parameter of several sorts may be.
SORTS = {"number": ("float", "integer"), "whole": ("integer", "bits")}
NANS = ("canonical", "operand", "sign", "quiet", "bits")
TABLE: dict[str, Function] = {}


def row(signature: str, **said: Any) -> Any:
    """Add a row: of kinds "float, float -> float", and what else is said of the function."""

    def add(f: Callable[..., None]) -> Callable[..., None]:
        left, result = (part.strip() for part in signature.split("->"))
        parameters = tuple(p.strip() for p in left.split(",") if p.strip())
        names, doc = tuple(inspect.signature(f).parameters), inspect.getdoc(f) or ""
        found = TABLE[f.__name__] = Function(f.__name__, names, parameters, result, doc, **said)
        assert found.nan in NANS if result in ("float", "number", "any") else not found.nan, f.__name__
        return f

    return add
