"""Steps that multiply matrices, on all lanes of a warp at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .binary import Array
from .chosen import LANES
from .index import CATALOG
from .matrices.forms import Form, form_named
from .matrices.rows import claim
from .signature import Type, type_named
from .steps import Effect
from .tensor import row_for
from .tensor_cores import ELEMENTS, FORMS
from .warp import Fragments, fragments

OPCODES = frozenset(f.spelling.partition(".")[0] for f in FORMS)
# The types that undeclared registers may have, by their bits.
TAKEN = {32: (".b32", ".f32", ".u32", ".s32", ".f16x2"), 64: (".b64", ".f64")}
# The operands by the names of the arguments of `Fragments.mma`: matrices, then those of sparse and of scaled forms.
# CONSTANTS gives the number of constants in braces.
MATRICES, SPARSE, SCALED = ("d", "a", "b", "c"), ("metadata", "selector"), ("scale_a", "ids_a", "scale_b", "ids_b")
CONSTANTS = {"selector": 1, "ids_a": 2, "ids_b": 2}


@dataclass(frozen=True, eq=False)
class Multiplying:
    """A form of mma on a target. `operands` are by name, in their order, with the number of registers or constants of
    each and their type."""

    fragments: Fragments
    target: str
    claim: str

    @property
    def form(self) -> Form:
        return self.fragments.form

    @property
    def operands(self) -> dict[str, tuple[int, Type]]:
        f = self.form
        found = {
            name: (count, type_named(of if of in ("f32", "f64") else "b32"))
            for name, count, of in zip(MATRICES, f.registers, f.types, strict=True)
        }
        more = (*SPARSE * f.is_sparse, *SCALED * f.is_scaled)
        return found | {name: (CONSTANTS.get(name, 1), type_named("b32")) for name in more}


def multiplying(spelling: str, target: str | None, ptx: str | None) -> Multiplying:
    """Return the effect of a statement with a spelling on a target. Raises ValueError where there is no such form, or
    the target does not support it, and NoRuleError (a LookupError) where it is unknown what the target computes."""
    f = form_named(spelling, FORMS, ELEMENTS)
    if target is None:
        raise ValueError(f"what {f} computes depends on the target; name one, as in target='sm_90'")
    if any(r.code != "target-unknown" for r in CATALOG.refusals(f.requires, target, ptx)):
        raise ValueError(f"{f} needs {CATALOG.text(f.requires)}")
    found, _ = claim(row_for(f, target), f, CATALOG.targets[target].base or target, ())
    return Multiplying(fragments(f.spelling), target, found)


@dataclass(frozen=True, eq=False)
class MatrixStep:
    """A statement. `sources` are the values of the registers by operand, `constants` the chosen lanes. `results` are
    the values of the registers of D, None for discarded ones, `names` these registers, and `before` their previous
    values, None where they had none."""

    line: int
    text: str
    does: Multiplying
    sources: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Any]
    results: tuple[int | None, ...]
    names: tuple[str, ...]
    before: tuple[int | None, ...]

    is_in_c: bool = False
    is_of_warps: bool = True

    @property
    def claim(self) -> str:
        return self.does.claim

    @property
    def reads(self) -> set[int]:
        return {value for values in self.sources.values() for value in values}

    @property
    def writes(self) -> set[int]:
        return {v for v in self.results if v is not None}

    @property
    def effects(self) -> list[Effect]:
        """The effects on the registers of D."""
        _, t = self.does.operands["d"]
        found = zip(self.names, self.before, self.results, strict=True)
        return [Effect(name, t.name, before, v) for name, before, v in found if v is not None]

    def run(self, values: dict[int, Array], size: int) -> None:
        """Run it on `size` lanes, the lanes of one warp after another, and add its results to the values."""
        given: dict[str, Any] = {
            name: np.stack([values[i].reshape(-1, LANES) for i in registers], -1)
            for name, registers in self.sources.items()
        }
        found = self.does.fragments.mma(**given, **self.constants, target=self.does.target)
        for i, v in enumerate(self.results):
            if v is not None:
                values[v] = np.ascontiguousarray(found[..., i]).reshape(size)
