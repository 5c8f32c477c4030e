"""How lanes of a warp hold the elements of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class Given(NamedTuple):
    """A register that some of each four lanes give: the rows and columns of what stands in it, of the lane and of its
    number there, and the constant that chooses a lane."""

    of: Callable[[Integers, Integers], tuple[Integers, Integers]]
    chosen: Callable[[Integers], Integers | int]
    shapes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
