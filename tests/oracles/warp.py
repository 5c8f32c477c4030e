"""A warp that runs machine code as ptxas writes it around instructions that multiply matrices: integers, bits and
shuffles on the registers of 32 lanes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from helpers.machine_code import Instruction
from numpy.typing import NDArray

Lanes = NDArray[np.uint32]
LANES = 32
_OFFSET = re.compile(r"\+0x([0-9a-f]+)\]$")
# What concerns addresses, which are known here, and the program's frame.
_FRAME = ("LDC", "ULDC", "UIADD3", "NOP", "IMAD.WIDE")


class Warp:
    """The registers and predicates of 32 lanes. `memory` are the words of each lane by their offsets, also those that
    are stored; `multiply` gets the opcode and the operands of an instruction that multiplies matrices."""

    def __init__(self, memory: Mapping[int, Lanes], multiply: Callable[[Warp, str, Sequence[str]], None]) -> None:
        self.memory, self._multiply = dict(memory), multiply
        self._registers: dict[str, Lanes] = {}
        self._predicates: dict[str, NDArray[np.bool_]] = {}

    def run(self, code: Sequence[Instruction]) -> None:
        """Run a kernel to its end. The one subroutine that it calls stands behind that."""
        ends = next(n for n, i in enumerate(code) if i["opcode"] == "EXIT")
        at, back = 0, 0
        while at != ends:
            opcode = code[at]["opcode"]
            at += 1
            if opcode.startswith("CALL"):
                at, back = ends + 1, at
            elif opcode.startswith("RET"):
                at = back
            elif not opcode.startswith(_FRAME):
                self._step(
                    opcode, code[at - 1]["operands"].split(","), self._truth(code[at - 1].get("predicate", "PT"))
                )

    def several(self, first: str, count: int) -> Lanes:
        """Return so many registers from one on, as (32, count)."""
        name = first.partition(".")[0]
        names = [name if name == "RZ" else f"R{int(name[1:]) + i}" for i in range(count)]
        return np.stack([self._value(n) for n in names], -1)

    def write(self, first: str, values: Lanes) -> None:
        """Write (32, count) to registers from one on."""
        for i, column in enumerate(values.T):
            self._registers[f"R{int(first[1:]) + i}"] = column.astype(np.uint32)

    def _step(self, opcode: str, operands: Sequence[str], on: NDArray[np.bool_]) -> None:
        if ".SP." in opcode:
            self._multiply(self, opcode, operands)
        elif opcode.startswith("STG"):
            self.memory[_offset(operands[0])] = self._value(operands[1])
        elif opcode.startswith("LOP3") and operands[0].startswith("P"):
            predicate, _, *rest = operands
            self._predicates[predicate] = self._computed(opcode, rest) != 0
        else:
            operands = operands[1:] if operands[0] == "PT" else operands
            value = self._computed(opcode, operands[1:])
            self._registers[operands[0]] = np.where(on, value, self._registers.get(operands[0], np.uint32(0)))

    def _computed(self, opcode: str, operands: Sequence[str]) -> Lanes:
        name, *modifiers = opcode.split(".")
        if name == "S2R":
            return np.arange(LANES, dtype=np.uint32)
        if name == "LDG":
            return self.memory[_offset(operands[-1])]
        if name == "SEL":
            return np.where(self._truth(operands[2]), self._value(operands[0]), self._value(operands[1]))
        x = [self._value(o) for o in operands if "P" not in o]
        if name == "MOV":
            return x[0]
        if name == "IMAD":
            return x[0] * x[1] + x[2]
        if name == "IADD3":
            return x[0] + x[1] + x[2]
        if name == "SHF" and modifiers == ["R", "U32", "HI"]:
            return x[2] >> x[1]
        if name == "SHF" and modifiers == ["R", "S32", "HI"]:
            return (x[2].view(np.int32) >> x[1].view(np.int32)).view(np.uint32)
        if name == "LOP3":
            a, b, c, table = (*x[:3], int(x[3][0]))
            terms = (
                (a if n & 4 else ~a) & (b if n & 2 else ~b) & (c if n & 1 else ~c) for n in range(8) if table >> n & 1
            )
            return np.bitwise_or.reduce([np.zeros(LANES, np.uint32), *terms])
        if name == "PRMT":
            every = np.stack(
                [x[0] >> np.uint32(8 * n) for n in range(4)] + [x[2] >> np.uint32(8 * n) for n in range(4)]
            )
            chosen = [every[int(x[1][0]) >> 4 * n & 7] & np.uint32(0xFF) for n in range(4)]
            return np.bitwise_or.reduce([byte << np.uint32(8 * n) for n, byte in enumerate(chosen)])
        assert opcode == "SHFL.IDX" and int(x[2][0]) == 0x1C03, f"{opcode} {operands}"
        return x[0][np.arange(LANES) & 0x1C | x[1] & 3]

    def _value(self, operand: str) -> Lanes:
        operand = operand.strip().partition(".")[0]
        if operand.startswith("0x"):
            return np.full(LANES, int(operand, 16), np.uint32)
        return np.zeros(LANES, np.uint32) if operand == "RZ" else self._registers[operand]

    def _truth(self, predicate: str) -> NDArray[np.bool_]:
        name = predicate.lstrip("@!")
        found = np.ones(LANES, np.bool_) if name == "PT" else self._predicates[name]
        return ~found if "!" in predicate else found


def _offset(address: str) -> int:
    found = _OFFSET.search(address)
    return int(found[1], 16) if found else 0
