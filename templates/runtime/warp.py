"""Fragments of matrices: the lane of a warp and the register that contain an element of an operand of mma."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from . import tensor
from .binary import Array
from .chosen import LANES, BlockScales, Metadata
from .layouts import Element, Layout, Place
from .matrices.forms import Form, first_about, form_named
from .operands import OperandError
from .tensor_cores import ELEMENTS, FORMS, LAYOUTS, LOADS, METADATA, SCALES


class Fragment:
    """The fragment of a matrix. `rows` and `columns` are those of an element by lane and by its number in the lane,
    both of shape (32, elements). `registers` is the number of registers of a lane, which have 32 bits, or 64 for
    elements of 64 bits."""

    def __init__(self, name: str, size: tuple[int, int], of: str, element: Element, place: Place, layout: Layout,
                 is_a: bool) -> None:  # fmt: skip
        self.name, self.size, self.type = name, size, of
        self._element = element
        self._width = max(32, element.bits)
        count = place.elements or size[0] * size[1] // LANES
        lane, i = np.meshgrid(np.arange(LANES), np.arange(count), indexing="ij")
        self.rows, self.columns = place.of(lane, i, self._width // element.bits, size[0] // 8 if is_a else 1)
        self.rows, self.columns = (np.broadcast_to(x, lane.shape) for x in (self.rows, self.columns))
        self.registers = max(1, count * element.bits // self._width)
        self.products = layout.products
        self._product = layout.product(lane) if layout.product else np.zeros_like(lane)

    def pack(self, matrix: Any) -> Array:
        """Return the registers of 32 lanes, as (..., 32, registers) of bits, from a matrix (..., rows, columns) of
        elements; for a form with several products at once, from (..., products, rows, columns). Raises OperandError."""
        x = tensor.bits_of(matrix, self.name, self.type)
        expected = (self.products, *self.size) if self.products > 1 else self.size
        if x.shape[-len(expected) :] != expected:
            raise OperandError(f"{self.name} must have the shape {expected}, not {np.shape(matrix)}")
        found = x[
            (..., self._product, self.rows, self.columns) if self.products > 1 else (..., self.rows, self.columns)
        ]
        unsigned = np.dtype(f"u{self._width // 8}")
        found = found.view(f"u{found.dtype.itemsize}").astype(unsigned) & unsigned.type((1 << self._element.bits) - 1)
        parts = (found << unsigned.type(self._element.shift)).reshape(*found.shape[:-1], self.registers, -1)
        parts <<= self._shifts
        return np.asarray(np.bitwise_or.reduce(parts, axis=-1))

    def unpack(self, registers: Any) -> Array:
        """Return the matrix in the registers of 32 lanes. Elements are of their type in NumPy or ml_dtypes, or bits.
        Raises OperandError."""
        unsigned = np.dtype(f"u{self._width // 8}")
        given = np.asarray(registers)
        if given.dtype.kind not in "uif" or given.dtype.itemsize != unsigned.itemsize:
            raise OperandError(f"registers of {self.name} must be {unsigned}, not {given.dtype}")
        if given.shape[-2:] != (LANES, self.registers):
            raise OperandError(
                f"{self.name} has 32 lanes of {self.registers} registers, but these have the shape {given.shape}"
            )
        parts = given.view(unsigned)[..., None] >> self._shifts & unsigned.type((1 << self._element.bits) - 1)
        elements = parts.reshape(*given.shape[:-1], -1)[..., : self.rows.shape[1]]
        size = (self.products, *self.size) if self.products > 1 else self.size
        found = np.zeros((*given.shape[:-2], *size), unsigned)
        at = (self._product, self.rows, self.columns) if self.products > 1 else (self.rows, self.columns)
        found[(..., *at)] = elements
        return tensor.elements_of(found >> unsigned.type(self._element.shift), self.type)

    def where(self, row: int, column: int) -> tuple[tuple[int, int, int], ...]:
        """Return the lane, the register and the lowest bit of an element, one for each product of the form. Raises
        IndexError."""
        if not (0 <= row < self.size[0] and 0 <= column < self.size[1]):
            raise IndexError(f"{self.name} has {self.size[0]} rows of {self.size[1]}, and no element {row}, {column}")
        per = self._width // self._element.bits
        found = np.argwhere((self.rows == row) & (self.columns == column))
        return tuple(
            (int(lane), int(i) // per, int(i) % per * self._element.bits + self._element.shift) for lane, i in found
        )

    def held(self, lane: int) -> list[tuple[int, int]]:
        """Return the row and the column of each element of a lane, in their order."""
        return [(int(r), int(c)) for r, c in zip(self.rows[lane], self.columns[lane], strict=True)]

    @cached_property
    def _shifts(self) -> Array:
        unsigned = np.dtype(f"u{self._width // 8}")
        per = min(self._width // self._element.bits, self.rows.shape[1])
        found: Array = np.arange(per).astype(unsigned) * unsigned.type(self._element.bits)
        return found


class Fragments:
    """The fragments of a form of mma: `d`, `a`, `b` and `c`, and the effect of the instruction on their registers. A
    sparse form has `metadata` too, and one with scales of blocks has `scale_a` and `scale_b`.

    >>> f = ptxemu.fragments("m16n8k16.f32.f16")
    >>> f.a.where(3, 5)
    ((14, 0, 16),)
    >>> A, B, C = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16), np.zeros((16, 8), np.float32)
    >>> f.mma(f.a.pack(A), f.b.pack(B), f.c.pack(C), target="A100").shape
    (32, 4)
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        layout = first_about(form, LAYOUTS)
        apart = (f"c_{form.types[0]}", *(f"{x}_{order}" for x, order in zip("ab", form.orders, strict=True)))
        self.d, self.a, self.b, self.c = (
            self._fragment(name, size, of, layout, place)
            for name, size, of, place in zip(
                "DABC", form.sizes, form.types, (*apart, f"c_{form.types[3]}"), strict=True
            )
        )

    @cached_property
    def metadata(self) -> Metadata:
        """The fragment of metadata. Raises ValueError where the form is not sparse."""
        if not self.form.is_sparse:
            raise ValueError(f"{self.form} takes no metadata; only sparse forms do")
        return Metadata(self.form, first_about(self.form, METADATA))

    @cached_property
    def scale_a(self) -> BlockScales:
        """The fragment of the scales of rows of A. Raises ValueError where the form has none."""
        return self._scales("a", (self.form.size[0], self.form.scales))

    @cached_property
    def scale_b(self) -> BlockScales:
        """The fragment of the scales of columns of B. Raises ValueError where the form has none."""
        return self._scales("b", (self.form.scales, self.form.size[1]))

    def _scales(self, matrix: str, size: tuple[int, int]) -> BlockScales:
        if not self.form.is_scaled:
            raise ValueError(f"{self.form} takes no scales; only forms with .block_scale do")
        return BlockScales(self.form, matrix, size, SCALES[matrix])

    def _fragment(self, name: str, size: tuple[int, int], of: str, layout: Layout, apart: str) -> Fragment:
        place = layout.places.get(apart) or layout.places[apart[0]]
        return Fragment(name, size, of, tensor.element_of(self.form, of), place, layout, name == "A")

    def mma(
        self, a: Any, b: Any, c: Any, *, target: str, metadata: Any = None, selector: int = 0,
        scale_a: Any = None, ids_a: tuple[int, int] = (0, 0), scale_b: Any = None, ids_b: tuple[int, int] = (0, 0),
    ) -> Array:  # fmt: skip
        """Return the registers of D, as (..., 32, registers) of bits, that a target computes from those of A, B and C.
        A sparse form needs the registers of metadata too, and one with scales those of both scales. `ids_a` and `ids_b`
        are the byte-id and the thread-id of scales. Raises what ptxemu.mma raises."""
        matrices = (x.unpack(given) for x, given in ((self.a, a), (self.b, b), (self.c, c)))
        besides = {
            "metadata": None if metadata is None else self.metadata.unpack(metadata, selector),
            "scale_a": None if scale_a is None else self.scale_a.unpack(scale_a, *ids_a),
            "scale_b": None if scale_b is None else self.scale_b.unpack(scale_b, *ids_b),
        }
        return self.d.pack(tensor.mma(self.form.spelling, *matrices, target=target, **besides))


def fragments(form: str) -> Fragments:
    """Return the fragments of a form of mma, given its whole spelling or its short form. Raises ValueError."""
    found = form_named(form, FORMS, ELEMENTS)
    if not found.computes:
        raise ValueError(f"{found}: the lanes of its elements are not known")
    return Fragments(found)


def ldmatrix(matrices: Any, trans: bool = False) -> Array:
    """Return the registers, as (..., 32, matrices) of bits, that ldmatrix loads from 1, 2 or 4 matrices of 8 rows of 8
    elements of 16 bits, (..., matrices, 8, 8); transposed with `trans`. Raises OperandError."""
    x = np.asarray(matrices)
    if x.dtype.itemsize != 2 or x.ndim < 3 or x.shape[-2:] != (8, 8) or x.shape[-3] not in (1, 2, 4):
        raise OperandError(f"ldmatrix loads 1, 2 or 4 matrices (8, 8) of 16 bits, not {x.dtype} {x.shape}")
    place = LOADS["ldmatrix.trans" if trans else "ldmatrix"]
    lane, i = np.meshgrid(np.arange(LANES), np.arange(place.elements), indexing="ij")
    rows, columns = place.of(lane, i, 2, 1)
    low, high = np.moveaxis(x.view(np.uint16)[..., rows, columns].astype(np.uint32), -1, 0)
    return np.asarray(np.swapaxes(low | high << np.uint32(16), -1, -2))
