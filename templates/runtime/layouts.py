"""How lanes of a warp hold the elements of matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .matrices.forms import Form

Integers = NDArray[np.int64]


class Element(NamedTuple):
    """How an element stands in its share of a register: its bits, and how far above the lowest of them it begins."""

    bits: int
    shift: int


class Place(NamedTuple):
    """The rows and columns of elements, of the lane, the element's number in it, the elements of a register and the
    rows of registers of A; and how many elements a lane has, 0 where the shape decides."""

    of: Callable[[Integers, Integers, int, int], tuple[Integers, Integers]]
    elements: int


class Layout(NamedTuple):
    """The places of the elements of some forms: by matrix, and by matrix and what sets it apart, as in a_col."""

    places: Mapping[str, Place]
    shapes: tuple[str, ...]
    inputs: tuple[str, ...]
    products: int
    product: Callable[[Integers], Integers] | None


def layout_of(form: Form, layouts: Iterable[Layout]) -> Layout:
    """Return the layout of a form: the first that has its shape and its type of A."""
    return next(
        x for x in layouts if (not x.shapes or form.shape in x.shapes) and (not x.inputs or form.types[1] in x.inputs)
    )
