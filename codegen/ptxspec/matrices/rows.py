"""The sums of products in tensor cores: rows of figures, by target, type and shape, and their basis, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .forms import Form

RECORDED = "recorded"
# The cases that no recording has.
NOT_RECORDED = "no recorded result is a NaN, an infinity, subnormal, or too large for its format"


class Row(NamedTuple):
    """The sums that some targets compute with elements of some types, in some shapes; without targets or shapes, in
    all. It is about forms with block scaling if it has their `kinds`, and otherwise about those without.

    `bytes` of a row of A are summed in one step, with `bits` after the point of the largest term. `zero` are the
    exponents of terms that are zero, by the type of the result, and `kept` the bits of the fraction of an f32 result
    that is cut to fewer. `group` products are added exactly before they are scaled, and are one term. `halves` is the
    type by which two halves are summed; `chain`: by a fused multiply-add for each product; `exact`: integers."""

    inputs: tuple[str, ...]
    basis: str
    targets: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    bytes: int = 0
    bits: int = 0
    kept: int | None = None
    zero: Mapping[str, int] = MappingProxyType({})
    group: int = 1
    halves: str = ""
    chain: bool = False
    exact: bool = False


class Recorded(NamedTuple):
    """The number of results of a GPU's tensor core that were recorded with a form, written in short; the most products
    that each sums, the others being zeros; and the number of equal results."""

    gpu: str
    target: str
    form: str
    products: int
    vectors: int
    equal: int


class Apart(NamedTuple):
    """The distance of a form's results from the exact sums on a target, with the form written in short: how many are
    not the nearest number, and the median and the largest of the errors in units in the last place."""

    form: str
    target: str
    results: int
    not_nearest: int
    median: float
    largest: float


def row_of(f: Form, target: str, rows: Iterable[Row]) -> Row | None:
    """Return the sums that a target, which is neither architecture-specific nor family-specific, computes with a form;
    None if they are unknown, and for roundings that only some machine code shows. For sparse forms only exact rows
    count, whose sums do not depend on the order."""
    if not f.computes or {"rz", "rm", "rp"} & {*f.names}:
        return None
    kind = f.kind if f.is_scaled else ""
    for r in rows:
        fits = (not r.targets or target in r.targets) and (not r.shapes or f.shape in r.shapes)
        told = r.exact or not f.is_sparse
        if fits and told and {f.types[1], f.types[2]} <= {*r.inputs} and (kind in r.kinds if kind else not r.kinds):
            return r
    return None


def in_words(r: Row, f: Form, bits: int) -> str:
    """Return how products are summed, in a sentence. An element of A has `bits` bits in a register."""
    if r.exact:
        end = "clamped to 32 bits" if "satfinite" in f.names else "wraps around at 32 bits"
        return f"all products and C are added exactly, and the sum {end}"
    if r.chain:
        return "a fused multiply-add for each product in the order of k, from C on, rounded to the nearest"
    if r.halves:
        return (
            f"as machine code: elements become {r.halves}; the products of k % 4 < 2 are summed as {r.halves} is, and "
            "the others on top of that; C is added last, rounded to the nearest"
        )
    terms = min(r.bytes * 8 // bits, f.size[2])
    groups = f"{terms // r.group} exact sums of {r.group} products" if r.group > 1 else f"{terms} products"
    kept = f" of {r.kept} bits" if r.kept is not None else ""
    end = (
        "rounded to the nearest f16" if f.types[0] == "f16" else f"cut toward zero to a fraction{kept or ' of 23 bits'}"
    )
    steps = " in each step" if terms < f.size[2] else ""
    return (
        f"{groups} and what was summed before{steps} are aligned to the largest, cut to {r.bits} bits behind its "
        f"point, and added exactly; the sum is {end}"
    )


def in_short(r: Row, f: Form, bits: int) -> str:
    """Return the figures of a sum, in a few words."""
    if r.exact:
        return "exact"
    if r.chain:
        return "a chain of fused multiply-adds from C on"
    if r.halves:
        return f"as machine code: k % 4 < 2 as {r.halves}, then the others, then C"
    terms = min(r.bytes * 8 // bits, f.size[2])
    groups = f"{terms // r.group} sums of {r.group}" if r.group > 1 else str(terms)
    end = "nearest" if f.types[0] == "f16" else f"cut to {23 if r.kept is None else r.kept}"
    return f"{groups} a step, {r.bits} bits, {end}"


def claim(r: Row, f: Form, target: str, recorded: Iterable[Recorded]) -> tuple[str, str]:
    """Return the claim about a form's results on a target, and its basis."""
    sets = [s for s in recorded if s.form.split(".")[1:] == [f.types[0], f.types[1]] and f.types[1] == f.types[2]]
    own = [s for s in sets if s.target == target]
    if own and all(s.equal == s.vectors for s in own):
        gpus = ", ".join(f"{s.vectors:,} of {s.gpu}" for s in own)
        return RECORDED, f"equal to all results, {gpus}, sums of {max(s.products for s in own)} products"
    if r.exact:
        return "exact", "NVIDIA's manual"
    if r.basis in ("recorded", "published model"):
        others = dict.fromkeys(s.target for s in sets if not r.targets or s.target in r.targets)
        elsewhere = f"; recorded on {', '.join(others)}" if others and r.basis == "recorded" else ""
        return "reported", f"a published model of the architecture{elsewhere}"
    return "unspecified", {"machine code": "the machine code that ptxas writes", "guess": "a guess"}[r.basis]
