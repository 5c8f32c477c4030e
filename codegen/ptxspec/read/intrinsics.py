"""The key `intrinsics` of an instruction file: CUDA C++ that the compiler turns into exactly one variant.

An entry is a spelling and an expression in the names of its operands. A choice `{x,y}` in both makes several entries:
the first member of one goes with the first of the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..model import Intrinsic, Variant
from .context import Context, alternatives
from .positioned import Document, Where

# The modifiers of a spelling, in any order, and the types that it ends in.
Names = tuple[frozenset[str], tuple[str, ...]]

_WORD = re.compile(r"\b[a-z]\w*\b")


def read_intrinsics(
    doc: Document, context: Context, entries: Sequence[Mapping[str, str]], opcode: str, variants: Iterable[Variant]
) -> tuple[Intrinsic, ...]:
    by_names: dict[Names, list[Variant]] = {}
    for v in variants if entries else ():
        by_names.setdefault((frozenset(v.modifiers), v.type_names), []).append(v)
    found = []
    for i, entry in enumerate(entries):
        at: Where = ("intrinsics", i)
        spellings, calls = alternatives(entry["for"]), alternatives(entry["call"])
        # An expression without a choice belongs to all spellings.
        calls *= len(spellings) if len(calls) == 1 else 1
        if "target" in entry:
            context.known(doc, (*at, "target"), entry["target"], context.targets, "target")
        if len(spellings) != len(calls):
            message = f"there are {len(spellings)} spellings, and {len(calls)} expressions for them"
            context.errors.append(doc.error((*at, "call"), message, "each spelling has its own: {x,y} with as many"))
            continue
        for spelling, call in zip(spellings, calls, strict=True):
            own, *names = spelling.split(".")
            modifiers, types = context.split(names)
            alike = by_names.get((frozenset(modifiers), types), []) if own == opcode else []
            if not alike:
                message = f"no variant of {opcode} is spelled '{spelling}'"
                context.errors.append(doc.error((*at, "for"), message, "see the syntax lines for what there is"))
                continue
            places = {v: {place for s in v.sources for place in s.places} for v in alike}
            used = set(_WORD.findall(call)) & set().union(*places.values())
            meant = next((v for v in alike if places[v] == used), None)
            if meant is None:
                wanted = " or ".join(", ".join(p for s in v.sources for p in s.places) for v in alike)
                message = f"'{call}' uses {', '.join(sorted(used)) or 'no operand'}"
                context.errors.append(doc.error((*at, "call"), message, f"the operands of {spelling} are {wanted}"))
                continue
            found.append(Intrinsic(meant.form, call, entry.get("target", ""), (entry["for"], entry["call"])))
    return tuple(found)
