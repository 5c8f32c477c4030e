"""Which instructions have the name of an opcode of the database, and are others, of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any


def is_elsewhere(
    names: Sequence[str], assembler: Mapping[str, Any], is_type: Callable[[str], bool], own: Collection[tuple[str, ...]]
) -> bool:
    """Whether other instructions of an opcode have these names: those that its file lists (`elsewhere`, `empty_types`
    and `other_modifiers` of `assembler`), or where it lists none, all that it does not describe. `own` are the
    sequences of types of its variants."""
    types = tuple(filter(is_type, names))
    empty = {*assembler["empty_types"]}
    # By themselves empty types are none.
    if not ({*assembler["other_modifiers"]}.isdisjoint(names) and (empty.isdisjoint(names) or empty.issuperset(types))):
        return True
    if not types:
        return False
    if assembler["elsewhere"] is None:
        return types not in own
    # A form may name modifiers that only other instructions have, as in .cc.u32.
    forms: Iterable[tuple[str, ...]] = (tuple(form.split(".")) for form in assembler["elsewhere"])
    more = {*names}.difference(types)
    return any(form[-len(types) :] == types and more.issuperset(form[: -len(types)]) for form in forms)
