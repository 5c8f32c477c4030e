"""Functions of other languages: what a standard defines, what a compiler makes PTX of, what is executed as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .code import Code
from .formats import Type
from .requirements import Form


@dataclass(frozen=True)
class Reference:
    """A source that says what a function does."""

    name: str
    title: str
    url: str


@dataclass(frozen=True)
class Opening:
    """A matter that a function leaves open: `why` names it, and `when` is true of the operands that it is about."""

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
    and with -ftz=true to `ftz`, if that is something else. Where `target` is not empty, only from there on."""

    name: str
    reference: Reference
    ptx: tuple[str, ...]
    ftz: tuple[str, ...]
    target: str = ""


@dataclass(frozen=True)
class Intrinsic:
    """An expression of CUDA C++ in the names of a variant's operands, of which the compiler makes that variant; where
    `target` is not empty, only from there on. `written` are spelling and expression as they stand in the file, where
    they may have choices in them that several have in common."""

    form: Form
    call: str
    target: str
    written: tuple[str, str]


@dataclass(frozen=True)
class Executed:
    """A function that is run as it is, with what it leaves open."""

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

    @cached_property
    def becoming(self) -> Mapping[str, tuple[Compiled, ...]]:
        """The functions that are compiled to one instruction, by its spelling."""
        found: dict[str, tuple[Compiled, ...]] = {}
        for f in self.compiled:
            for spelling in f.ptx:
                found[spelling] = (*found.get(spelling, ()), f)
        return found

    @property
    def names(self) -> list[str]:
        every: tuple[Defined | Compiled | Executed, ...] = (*self.defined, *self.compiled, *self.executed)
        return list(dict.fromkeys(f.name for f in every))
