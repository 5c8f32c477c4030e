"""spec/tensor/arithmetic.yaml -> what tensor cores do with the formats of mma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.tensor import TensorRow
from .context import Context
from .positioned import Document

_NUMBERS = ("bytes", "bits", "kept")


def read_arithmetic(doc: Document | None, context: Context) -> tuple[TensorRow, ...]:
    """Return the rows of which the targets exist; complain about the others."""
    found = []
    if doc is None:
        return ()
    for i, row in enumerate(doc.data["rows"]):
        targets = row.get("targets", ())
        known = [context.known(doc, ("rows", i, "targets", n), t, context.targets, "target")
                 for n, t in enumerate(targets)]  # fmt: skip
        if all(known):
            found.append(_row(row))
    return tuple(found)


def _row(row: Mapping[str, Any]) -> TensorRow:
    found: dict[str, Any] = {**row, "zero": {name: int(x) for name, x in row.get("zero", {}).items()}}
    found |= {key: tuple(row[key]) for key in ("targets", "shapes", "inputs") if key in row}
    return TensorRow(**found | {key: int(row[key]) for key in _NUMBERS if key in row})
