"""The constants of an mma statement, which select the lanes that supply some of its registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .forms import Form

# The basis for which lanes supply a register, in words.
BASES = {"manual": "NVIDIA's manual", "machine code": "the machine code", "CUTLASS": "CUTLASS", "guess": "a guess"}


class Choices(NamedTuple):
    """The values that the constants may have: the number of selectors, by the type of A and the shape, or one;
    byte-ids, by the number of scales of a row; thread-ids of A and of B."""

    selectors: Mapping[str, Mapping[str, int]]
    bytes: Mapping[int, tuple[int, ...]]
    threads: Mapping[str, tuple[int, ...]]

    def of(self, f: Form) -> dict[str, tuple[int, ...]]:
        """Return the constants that a form takes, by NVIDIA's names for them and in the order of the statement."""
        found: dict[str, tuple[int, ...]] = {}
        if f.is_sparse:
            found["selector"] = tuple(range(self.selectors.get(f.types[1], {}).get(f.shape, 1)))
        for matrix in "ab" if f.is_scaled else "":
            found[f"byte-id-{matrix}"] = self.bytes[f.scales]
            found[f"thread-id-{matrix}"] = self.threads[matrix]
        return found


def choices_of(data: Mapping[str, Any]) -> Choices:
    """Return the choices in tensor.json, whose keys are text."""
    return Choices(
        data["selectors"],
        {int(scales): tuple(ids) for scales, ids in data["bytes"].items()},
        {matrix: tuple(ids) for matrix, ids in data["threads"].items()},
    )
