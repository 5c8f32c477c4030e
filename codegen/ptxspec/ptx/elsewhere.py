"""Instructions that have the name of an opcode of the database, and are others, of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any


def is_elsewhere(
    names: Sequence[str], assembler: Mapping[str, Any], is_type: Callable[[str], bool], own: Collection[tuple[str, ...]]
) -> bool:
    """Return whether other instructions of an opcode have these names: those that its file lists (`elsewhere`,
    `empty_types` and `other_modifiers` of `assembler`), or where it lists none, all that it does not describe. `own`
    are the sequences of types of its variants."""
    if not {*assembler["other_modifiers"]}.isdisjoint(names):
        return True
    # Empty types do nothing beside others, and by themselves are none.
    spelled = tuple(filter(is_type, names))
    types = tuple(t for t in spelled if t not in assembler["empty_types"])
    if types != spelled and types in own:
        return True
    if not types:
        return False
    if assembler["elsewhere"] is None:
        return types not in own
    # A form may name modifiers that only other instructions have, as in .cc.u32.
    forms: Iterable[tuple[str, ...]] = (tuple(form.split(".")) for form in assembler["elsewhere"])
    more = {*names}.difference(types)
    return any(form[-len(types) :] == types and more.issuperset(form[: -len(types)]) for form in forms)
