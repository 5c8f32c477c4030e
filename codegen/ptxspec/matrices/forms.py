"""The forms of mma, by their whole spellings or in short."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from ..catalog import Requirement, requirement_of
from ..catalog.likeness import suggest

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
# The beginning of a whole spelling, and the orders of A's and of B's elements, which a short one may leave out.
_START = ("mma", "sync", "aligned")
_ORDERS = ("row", "col")


class Form(NamedTuple):
    """A form of mma: its shape, the types of the elements of D, A, B and C, and the other names of its spelling.
    `registers` are the numbers of registers of these four. `listed`: NVIDIA's manual has the form. `computes`: the
    assembler generates an operation for it."""

    spelling: str
    shape: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    registers: tuple[int, int, int, int]
    requires: Requirement
    listed: bool
    computes: bool

    @property
    def size(self) -> tuple[int, int, int]:
        """M, N and K."""
        m = _SHAPE.fullmatch(self.shape)
        assert m
        return int(m[1]), int(m[2]), int(m[3])

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The rows and columns of D, A, B and C. Of a sparse A half of each row is stored."""
        m, n, k = self.size
        return (m, n), (m, k // 2 if self.is_sparse else k), (k, n), (m, n)

    @property
    def is_sparse(self) -> bool:
        return are_sparse(self.names)

    @property
    def is_ordered(self) -> bool:
        """Return whether the stored elements of a sparse A are in the order of their places."""
        return any(name.partition("::")[2] == "ordered_metadata" for name in self.names)

    @property
    def kind(self) -> str:
        return next((n.partition("::")[2] for n in self.names if n.startswith("kind::")), "")

    @property
    def is_scaled(self) -> bool:
        return "block_scale" in self.names

    @property
    def scales(self) -> int:
        """The number of scales of a row of A; 0 if there are none."""
        named = next((n for n in self.names if n.startswith("scale_vec::")), "")
        # Without a name it is 1X of bytes, and 2X of packed elements.
        return (int(named[len("scale_vec::") : -1]) if named else 2 if self.kind == "mxf4" else 1) * self.is_scaled

    @property
    def scale_type(self) -> str:
        return self.names[-1] if self.is_scaled else ""

    @property
    def orders(self) -> tuple[str, str]:
        """The order of the elements of A and of B: row or col."""
        a, b = (n for n in self.names if n in _ORDERS)
        return a, b

    def __str__(self) -> str:
        return self.spelling


class Taken(NamedTuple):
    """The possible content of the braces of a matrix: registers of some types, or without registers, constants of some
    sorts. It is for elements `of` some types, in forms with A's types `inputs` and of a sort `form`, sparse or scaled;
    for all, if these are empty."""

    registers: tuple[str, ...]
    constants: tuple[str, ...]
    of: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    form: str = ""

    def fits(self, f: Form, of: str) -> bool:
        """Return whether this is about the elements of a type in a form."""
        sort = {"sparse": f.is_sparse, "scaled": f.is_scaled, "": True}[self.form]
        return sort and (not self.of or of in self.of) and (not self.inputs or f.types[1] in self.inputs)


def form_of(
    spelling: str,
    types: Container[str],
    registers: tuple[int, int, int, int],
    requires: Requirement,
    listed: bool = True,
    computes: bool = True,
) -> Form:
    """Return the form of a whole spelling. Raises ValueError where it lacks a shape, the orders or the types."""
    names = spelling.split(".")[1:]
    shapes = [n for n in names if _SHAPE.fullmatch(n)]
    own = tuple(n for n in names if n in types)
    if len(shapes) != 1 or len(own) != 4 or len([n for n in names if n in _ORDERS]) != 2:
        raise ValueError("a form has a shape, the orders of A and B, and the types of the elements of D, A, B and C")
    others = tuple(n for n in names if n != shapes[0] and n not in types)
    return Form(spelling, shapes[0], own, others, registers, requires, listed, computes)


def forms_of(data: Mapping[str, Any]) -> tuple[Form, ...]:
    """Return the forms in tensor.json."""
    needs = [requirement_of(r) for r in data["requirements"]]
    return tuple(
        form_of(spelling, data["elements"], (d, a, b, c), needs[n], listed, computes)
        for spelling, d, a, b, c, n, listed, computes, _ in data["forms"]
    )


def is_shape(name: str) -> bool:
    """Return whether a name is that of a shape, as m16n8k16 is."""
    return _SHAPE.fullmatch(name) is not None


def are_sparse(names: Iterable[str]) -> bool:
    """Return whether names are those of a sparse form."""
    return any(name.partition("::")[0] == "sp" for name in names)


def parts_of(names: Iterable[str], ordered: Iterable[Container[str]]) -> tuple[Collection[str], ...]:
    """Return what sets a form apart: the set of names of its spelling, and for each group of `ordered` its names in
    order."""
    names = tuple(names)
    return frozenset(names), *(tuple(n for n in names if n in group) for group in ordered)


class About(Protocol):
    """A statement about forms of some shapes with some types of A; if it names none, about all."""

    @property
    def shapes(self) -> tuple[str, ...]: ...

    @property
    def inputs(self) -> tuple[str, ...]: ...


T = TypeVar("T", bound=About)


def first_about(f: Form, every: Iterable[T]) -> T:
    """Return the first statement that is about a form."""
    return next(x for x in every if (not x.shapes or f.shape in x.shapes) and (not x.inputs or f.types[1] in x.inputs))


def form_named(text: str, forms: Iterable[Form], types: Iterable[str]) -> Form:
    """Return the form of a whole spelling, or of a short one: its shape, the types of D and A, those of B and C if they
    differ, and the names that set it apart. Raises ValueError."""
    forms, types, text = tuple(forms), frozenset(types), text.strip()
    if whole := next((f for f in forms if f.spelling == text), None):
        return whole
    opcode, *names = text.split(".")
    given = [part for part in (opcode, *names) if part not in _START]
    shape = next((part for part in given if _SHAPE.fullmatch(part)), "")
    wanted = [part for part in given if part in types]
    names = [part for part in given if part != shape and part not in types]
    every = [f for f in forms if f.shape == shape and all(n in f.names for n in names)]
    fitting = [f for f in every if _has(f, wanted) and f.is_scaled <= ("block_scale" in names or f.scale_type in names)]
    fitting = [f for f in fitting if f.is_sparse == are_sparse(names) and [*_ordered(names)] in ([], [*f.orders])]
    # A text that begins like a whole spelling must be one.
    if fitting and wanted and opcode not in _START:
        return min(fitting, key=lambda f: (not f.computes, not f.listed, f.orders != ("row", "col"), len(f.names)))
    raise ValueError(_none(text, shape, wanted, forms, every))


def _ordered(names: Iterable[str]) -> Iterable[str]:
    return (n for n in names if n in _ORDERS)


def _has(f: Form, types: list[str]) -> bool:
    """Return whether a form's types are those of D, A, B and C. The last ones may be left out: then B is like A, and C
    like D; a single type is that of all."""
    d, a, b, c = f.types
    return {
        1: [d, a, b, c] == types * 4,
        2: [d, a, a, d] == [*types, b, c],
        3: [d, a, b, d] == [*types, c],
        4: [d, a, b, c] == types,
    }.get(len(types), False)


def _none(text: str, shape: str, types: list[str], forms: Sequence[Form], named: Sequence[Form]) -> str:
    """Return why a text is not a form, and a form that is like it."""
    said = f"{text!r} is no form of mma"
    if not shape:
        return f"{said}; write its shape and the types of D and A, as in m16n8k16.f32.f16"
    alike = [f for f in named if (_has(f, types) or [*f.types[: len(types)]] == types) and not f.is_sparse]
    if alike and types:
        return f"{said}; there is {alike[0]}"
    return f"{said}: {_like(shape, types, forms)}"


def others_like(names: Sequence[str], forms: Iterable[Form], types: Container[str]) -> str:
    """Return which of some forms is like a spelling with these names, in words."""
    forms, shape = tuple(forms), next((n for n in names if _SHAPE.fullmatch(n)), "")
    own = [n for n in names if n in types]
    same = [f for f in forms if f.shape == shape and [*f.types] == own and f.is_sparse == are_sparse(names)]
    if same:
        return f"there is {min(same, key=lambda f: len({*names}.symmetric_difference(f.spelling.split('.')[1:])))}"
    return _like(shape, own, forms)


def _like(shape: str, types: list[str], forms: Sequence[Form]) -> str:
    shapes = dict.fromkeys(f.shape for f in forms if _has(f, types) and not f.is_sparse and f.computes)
    if shapes and shape not in shapes:
        return f"these types are multiplied in the shapes {', '.join(shapes)}"
    ways = dict.fromkeys(f"{f.types[0]}.{f.types[1]}" for f in forms if f.shape == shape and f.computes)
    if ways:
        return f"of {shape} there are {', '.join(ways)}"
    return suggest(shape, {f.shape for f in forms}, otherwise="there is no such shape")
