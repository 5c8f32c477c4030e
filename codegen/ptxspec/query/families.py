"""Spellings with the placeholders of NVIDIA's manual, such as setp.cmp.f32 and fma.rnd.f32, and the variants that they
stand for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..catalog import Requirement
from .database import Database, Variant


class Family(NamedTuple):
    """The variants that a spelling with placeholders stands for. `groups` are the placeholders, each with those of its
    names that some variant has."""

    groups: Mapping[str, tuple[str, ...]]
    variants: tuple[Variant, ...]

    def needs(self) -> dict[Requirement, list[Variant]]:
        """Return the requirements of the variants, each with the variants that have it."""
        found: dict[Requirement, list[Variant]] = {}
        for v in self.variants:
            found.setdefault(v.requires, []).append(v)
        return found

    def question(self, spelling: str) -> str:
        """Return the message that asks for a single variant."""
        some = ", ".join(dict.fromkeys(v.spelling for v in self.variants))
        return f"{spelling} stands for {len(self.variants)} variants; name one of them: {some}"

    def as_json(self, db: Database, target: str | None, ptx: str | None) -> dict[str, Any]:
        return {
            "groups": {name: list(members) for name, members in self.groups.items()},
            "variants": [
                {
                    "variant": v.spelling,
                    "operands": v.operands,
                    "available": db.takes(v, target, ptx),
                    "requires": v.requires.as_json(),
                    "hazard": db.catalog.hazard_text(v, target, ptx),
                }
                for v in self.variants
            ],
        }


def family(db: Database, spelling: str, operands: int | None = None) -> Family | None:
    """Return the variants that a spelling with placeholders stands for; None if it has no placeholders or stands for no
    variant."""
    opcode, *names = spelling.strip().split(".")
    open_names = [n for n in dict.fromkeys(names) if n in db.groups and not db.knows(n)]
    if not open_names or opcode not in db.opcodes:
        return None
    found: dict[Variant, tuple[str, ...]] = {}
    for members in itertools.product(*(db.groups[n] for n in open_names)):
        chosen = dict(zip(open_names, members, strict=True))
        if v := db.find(opcode, [chosen.get(n, n) for n in names], operands):
            found.setdefault(v, members)
    # The placeholders are those of NVIDIA's manual: if it lists some of the variants, only these are meant.
    meant = [v for v in found if v.listed] or list(found)
    used = (tuple(dict.fromkeys(found[v][i] for v in meant)) for i in range(len(open_names)))
    return Family(dict(zip(open_names, used, strict=True)), tuple(meant)) if meant else None
