"""Sparse matrices A, which store half of each group of elements; the places of stored elements in their groups, as
numbers and as the bits of metadata."""

from __future__ import annotations

from typing import Any

import numpy as np

from .binary import Array
from .layouts import Integers
from .matrices.forms import Form
from .operands import OperandError

# The parts of a group, of which two are stored: halves of elements in groups of two, pairs in groups of eight.
_PARTS = 4


class Stored:
    """The storage of A of a sparse form. A place is the number of an element in its group of `of` elements, from 0 on.
    `size` are the rows and columns as stored; `each` elements of a group are stored."""

    def __init__(self, form: Form, of: int) -> None:
        self._form, self._of = form, of
        self._together = of // _PARTS
        self.each = of // 2
        _, self.size, _, _ = form.sizes

    def places(self, metadata: Any) -> Integers:
        """Return the given places of stored elements, checked. Raises OperandError."""
        wanted = f"for each stored element of A its index in its group of {self._of}, from 0 on"
        if metadata is None:
            raise OperandError(f"{self._form} requires metadata: an array {self.size} of integers, {wanted}")
        if not isinstance(metadata, np.ndarray) or metadata.dtype.kind not in "iu":
            kind = metadata.dtype if isinstance(metadata, np.ndarray) else f"a {type(metadata).__name__}"
            raise OperandError(f"metadata must be an array of integers, {wanted}, not {kind}")
        if metadata.shape[-2:] != self.size:
            raise OperandError(f"metadata must have the shape {self.size}, {wanted}, not {metadata.shape}")
        groups = self._grouped(metadata.astype(np.int64))
        wrong = self._are_wrong(groups, self._parts(groups))
        if wrong.any():
            first = tuple(np.argwhere(wrong)[0])
            raise self._error(first, str(groups[first].tolist()))
        return groups.reshape(metadata.shape)

    def codes(self, places: Integers) -> Integers:
        """Return the four bits of metadata of each group."""
        parts = self._parts(self._grouped(places))
        return np.asarray(parts[..., 0] | parts[..., 1] << 2)

    def of_codes(self, codes: Integers) -> Integers:
        """Return the places of stored elements from the four bits of metadata of each group. Raises OperandError."""
        parts = np.stack([codes & 3, codes >> 2], -1)
        groups = self._elements(parts)
        wrong = self._are_wrong(groups, parts)
        if wrong.any():
            first = tuple(np.argwhere(wrong)[0])
            raise self._error(first, f"{codes[first]:#06b}")
        return groups.reshape(*codes.shape[:-1], -1)

    def dense(self, a: Array, places: Integers) -> Array:
        """Return A with zeros for the elements that are not stored."""
        columns = np.arange(self.size[1]) // self.each * self._of + places
        a, columns = np.broadcast_arrays(a, columns)
        found = np.zeros((*a.shape[:-1], 2 * self.size[1]), a.dtype)
        np.put_along_axis(found, columns, a, -1)
        return found

    def _grouped(self, places: Integers) -> Integers:
        return places.reshape(*places.shape[:-1], -1, self.each)

    def _parts(self, groups: Integers) -> Integers:
        """Return the numbers of the two parts of groups that contain the stored elements."""
        if not self._together:
            return np.concatenate([2 * groups, 2 * groups + 1], -1)
        return groups[..., :: self._together] // self._together

    def _elements(self, parts: Integers) -> Integers:
        """Return the places of the elements of two parts."""
        if not self._together:
            return parts[..., :1] // 2
        every = parts[..., None] * self._together + np.arange(self._together)
        return every.reshape(*parts.shape[:-1], -1)

    def _are_wrong(self, groups: Integers, parts: Integers) -> Any:
        """Return for each group whether it is invalid: not two of the four parts, or in the wrong order."""
        first, second = parts[..., 0], parts[..., 1]
        right = ((groups >= 0) & (groups < self._of) & (groups == self._elements(parts))).all(-1)
        right &= (parts == self._parts(groups)).all(-1) & (first < second if self._form.is_ordered else first != second)
        return ~right

    def _error(self, at: tuple[int, ...], given: str) -> OperandError:
        *_, row, group = at
        places = {
            2: "place 0 or 1",
            4: "two of the places 0 to 3",
            8: "two of the pairs [0, 1], [2, 3], [4, 5], [6, 7]",
        }
        order = "the lower one first, and A's elements likewise" if self._form.is_ordered else "different ones"
        said = f"{places[self._of]}{f', {order}' if self._together else ''}"
        return OperandError(
            f"metadata of row {row}, group {group} is {given}; of {self._of} elements {self.each} "
            f"{'is' if self.each == 1 else 'are'} stored: write {said}"
        )
