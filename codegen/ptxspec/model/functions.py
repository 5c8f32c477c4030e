"""Functions of other languages: what a standard defines, what a compiler makes PTX of, what is executed as it is."""

from __future__ import annotations

from dataclasses import dataclass

from .code import Code
from .formats import Type


@dataclass(frozen=True)
class Reference:
    """What says what a function does."""

    name: str
    title: str
    url: str


@dataclass(frozen=True)
class Opening:
    """What `why` names is open for operands of which `when` gives true."""

    when: Code
    why: str


@dataclass(frozen=True)
class Defined:
    """A function of `operands` operands of a type, a, b and c, and a result d of it. Which NaN a NaN is, is open, and
    what else `open` says; where `accuracy` says who leaves it open, so are the errors of numbers."""

    name: str
    type: Type
    operands: int
    reference: Reference
    clause: str
    semantics: Code
    open: tuple[Opening, ...]
    accuracy: str


@dataclass(frozen=True)
class Compiled:
    """A function that is compiled to `ptx`, for each of the types that it takes a variant's spelling or a piece of PTX,
    and with -ftz=true to `ftz`, if that is something else."""

    name: str
    reference: Reference
    ptx: tuple[str, ...]
    ftz: tuple[str, ...]


@dataclass(frozen=True)
class Executed:
    """What is open of a function that is run as it is."""

    name: str
    operands: int
    reference: Reference
    open: tuple[Opening, ...]


@dataclass(frozen=True)
class Functions:
    """All of them, by name; of what is defined, an entry for each type."""

    path: str = ""
    defined: tuple[Defined, ...] = ()
    compiled: tuple[Compiled, ...] = ()
    executed: tuple[Executed, ...] = ()

    @property
    def names(self) -> list[str]:
        every: tuple[Defined | Compiled | Executed, ...] = (*self.defined, *self.compiled, *self.executed)
        return list(dict.fromkeys(f.name for f in every))
