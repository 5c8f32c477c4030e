"""The distribution of the elements of matrices over the lanes of a warp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Element(NamedTuple):
    """The position of an element in its share of a register: its number of bits, and its offset from the lowest bit."""

    bits: int
    shift: int


class Place(NamedTuple):
    """The function `of` gives the rows and columns of elements; its arguments are the lane, the element's number in it,
    the elements of a register and the rows of registers of A. `elements` is how many a lane has, 0 where the shape
    decides."""

    of: Callable[[Integers, Integers, int, int], tuple[Integers, Integers]]
    elements: int


class Layout(NamedTuple):
    """The places of the elements of some forms: by matrix, or by matrix and its variety, such as a_col."""

    places: Mapping[str, Place]
    shapes: tuple[str, ...]
    inputs: tuple[str, ...]
    products: int
    product: Callable[[Integers], Integers] | None


class Given(NamedTuple):
    """A register that some of each four lanes provide. `of` gives the rows and columns of its contents, from the lane
    and the number there; `chosen` gives the constant that chooses a lane."""

    of: Callable[[Integers, Integers], tuple[Integers, Integers]]
    chosen: Callable[[Integers], Integers | int]
    shapes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
