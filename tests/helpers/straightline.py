"""Straight-line PTX made up of variants, and what it must give: each statement executed by itself."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import ptxemu
from ptxemu.assembler import ASSEMBLER
from ptxemu.lookup import find
from ptxemu.signature import Type, signature, type_named


@dataclass
class MadeUp:
    """A text of random statements, with what its registers hold after each of them."""

    chance: random.Random
    size: int
    lines: list[str] = field(default_factory=list)
    inputs: dict[str, Any] = field(default_factory=dict)
    registers: dict[str, Any] = field(default_factory=dict)
    # Registers that were written, in the order of their last writing, each with whether it was read since.
    read: dict[str, bool] = field(default_factory=dict)
    count: int = 0

    def add(self, variant: ptxemu.Variant) -> None:
        s = signature(find(variant.spelling, variant.operands, None).signature)
        if any(o.implicit or not ASSEMBLER["registers"][o.type.name] for o in (*s.results, *s.sources)):
            return  # links of a chain and constants are written by hand
        guard = self.chance.random() < 0.25
        texts, arrays = [], []
        for o in s.sources:
            names = []
            for _ in o.registers:
                name, array = self._operand(o.type)
                if o.negatable and self.chance.random() < 0.3:
                    name, array = f"!{name}", ~array
                names.append(name)
                arrays.append(array)
            texts.append(f"{{{', '.join(names)}}}" if o.braced else ", ".join(names))
        condition, is_wanted = self._operand(_PREDICATE) if guard else ("", None)
        results = len(s.results) if self.chance.random() < 0.5 else 1
        places = s.places[results - 1]
        made = ptxemu.execute(variant.spelling, *arrays, results=results)
        names = self._destinations([t for _, t in places], guard)
        for name, x in zip(names, made if isinstance(made, tuple) else (made,), strict=True):
            bits = x if x.dtype == bool else x.view(f"u{x.itemsize}")
            self.registers[name] = np.where(is_wanted, bits, self.registers[name]) if guard else bits
            self.read.pop(name, None)
            self.read[name] = False
        head = f"@{condition} " if guard else ""
        self.lines.append(f"{head}{variant.spelling} {', '.join(['|'.join(names), *texts])};")

    def _operand(self, t: Type) -> tuple[str, Any]:
        """A register of a type's width: one there is, or a new input."""
        known = [name for name in self.registers if name.startswith(_prefix(t))]
        if known and (len(known) > 3 or self.chance.random() < 0.7):
            name = self.chance.choice(known)
        else:
            name = self._fresh(t)
            noise = np.frombuffer(self.chance.randbytes(self.size * 8), np.uint64)
            array = noise & 1 == 1 if t.sort == "bool" else noise.astype(t.bits)
            # Numbers of ordinary size, too.
            if t.bits.itemsize == 4 and self.chance.random() < 0.5:
                array = (noise >> 40).astype(np.float32).view(np.uint32)
            self.registers[name] = self.inputs[name] = array
        if name in self.read:
            self.read[name] = True
        return name, self.registers[name]

    def _destinations(self, types: list[Type], guard: bool) -> list[str]:
        found: list[str] = []
        for t in types:
            known = [n for n in self.registers if n.startswith(_prefix(t)) and n not in found]
            if known and (guard or self.chance.random() < 0.4):
                found.append(self.chance.choice(known))
            else:
                name = self._fresh(t)
                if guard:
                    # Written under a guard only: what it was before comes in.
                    noise = np.frombuffer(self.chance.randbytes(self.size * 8), np.uint64)
                    before = noise & 1 == 1 if t.sort == "bool" else noise.astype(t.bits)
                    self.inputs[name] = self.registers[name] = before
                found.append(name)
        return found

    def _fresh(self, t: Type) -> str:
        self.count += 1
        return f"{_prefix(t)}{self.count}"

    @property
    def results(self) -> dict[str, Any]:
        return {name: self.registers[name] for name, was_read in self.read.items() if not was_read}


def _prefix(t: Type) -> str:
    return "p_" if t.sort == "bool" else f"r{8 * t.bits.itemsize}_"


_PREDICATE = type_named("pred")


def made_up(seed: int, statements: int = 12, size: int = 300) -> MadeUp:
    chance = random.Random(seed)
    found = MadeUp(chance, size)
    some = [v for v in ptxemu.variants() if v.claim != "unspecified"]
    by_opcode: dict[str, list[ptxemu.Variant]] = {}
    for v in some:
        by_opcode.setdefault(v.spelling.partition(".")[0], []).append(v)
    for _ in range(statements):
        found.add(chance.choice(by_opcode[chance.choice(list(by_opcode))]))
    return found


def bits(x: Any) -> Any:
    return x if x.dtype == bool else x.view(f"u{x.itemsize}")
