"""Functions of other languages: defined by a standard, compiled to PTX, or executed as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .code import Code
from .formats import Type
from .variant import Form


@dataclass(frozen=True)
class Reference:
    """A source that says what a function does."""

    name: str
    title: str
    url: str


@dataclass(frozen=True)
class Opening:
    """A point that a function leaves open: `why` names it, and `when` is true for the operands that it is about."""

    when: Code
    why: str


@dataclass(frozen=True)
class Defined:
    """A function of `operands` operands a, b and c of a type, with a result d. It leaves open which NaN a NaN result
    is, and what `open` lists; if `accuracy` says who leaves the accuracy open, also the errors of numbers."""

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
    """A function that is compiled to `ptx`: for each of its types a variant's spelling or a piece of PTX. `ftz` is the
    same with -ftz=true, if that differs. If `target` is not empty, this holds only from that target on."""

    name: str
    reference: Reference
    ptx: tuple[str, ...]
    ftz: tuple[str, ...]
    target: str = ""


@dataclass(frozen=True)
class Intrinsic:
    """An expression of CUDA C++, in the names of a variant's operands, that the compiler turns into that variant; if
    `target` is not empty, only from that target on. `written` are the spelling and the expression as in the file, where
    both may have a choice that stands for several intrinsics."""

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
    """All functions. A defined one has an entry for each type."""

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
