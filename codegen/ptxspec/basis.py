"""The basis of statements in the specification. This module needs the standard library only."""

from __future__ import annotations

from dataclasses import dataclass

MANUAL, DERIVED, VERDICTS, READING = "manual", "derived", "ptxas verdicts", "our reading"
CODE, FOLDING = "ptxas machine code", "ptxas folding"
# Every kind of basis, with its meaning.
KINDS = {
    MANUAL: "NVIDIA's PTX ISA manual says it, in the section named",
    DERIVED: "it follows from a section of NVIDIA's manual, from IEEE 754-2019, or from both",
    FOLDING: "ptxas folds the instruction to this if its operands are constants",
    CODE: "the machine code to which ptxas compiles the instruction",
    VERDICTS: "what ptxas accepts and rejects",
    "NVIDIA host code": "the results of the headers of CUDA's runtime when they are compiled for a CPU",
    "published model": "a published model of the hardware, which its author compared with GPUs",
    READING: "no source says it clearly; this is how we read the section, if one is named",
}


@dataclass(frozen=True)
class Basis:
    """The basis of a statement. One that states no basis is our reading.

    `section` is where NVIDIA's manual states it, states what it is derived from, or leaves it open. `ieee754` is the
    clause of IEEE 754-2019 that it is derived from."""

    kinds: tuple[str, ...] = (READING,)
    section: str = ""
    ieee754: str = ""

    @property
    def text(self) -> str:
        """The basis in words: "derived from PTX ISA 9.7.3.3 and IEEE 754 6.3; ptxas folding"."""
        return "; ".join(map(self._words, self.kinds))

    def _words(self, kind: str) -> str:
        manual = f"PTX ISA {self.section}" if self.section else ""
        if kind == MANUAL:
            return manual
        if kind == DERIVED:
            standard = f"IEEE 754 {self.ieee754}" if self.ieee754 else ""
            named = "" if MANUAL in self.kinds and standard else manual
            return "derived from " + " and ".join(filter(None, (named, standard)))
        if kind == READING and manual and not {MANUAL, DERIVED} & {*self.kinds}:
            return f"{kind} of {manual}"
        return kind
