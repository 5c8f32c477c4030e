"""What a statement of the specification rests on. Needs the standard library only."""

from __future__ import annotations

from dataclasses import dataclass

MANUAL, DERIVED, READING, VERDICTS = "manual", "derived", "our reading", "ptxas verdicts"


@dataclass(frozen=True)
class Grounds:
    """The kinds of ground that a statement has; one that states none is our reading.

    `section` is where NVIDIA's manual says it, says what it is derived from, or leaves it open. `ieee754` is the clause
    of IEEE 754-2019 that it is derived from."""

    kinds: tuple[str, ...] = (READING,)
    section: str = ""
    ieee754: str = ""

    @property
    def text(self) -> str:
        """As in "derived from manual 9.7.3.3 and IEEE 754 6.3; ptxas folding"."""
        return "; ".join(map(self._words, self.kinds))

    def _words(self, kind: str) -> str:
        manual = f"manual {self.section}" if self.section else ""
        if kind == MANUAL:
            return manual
        if kind == DERIVED:
            standard = f"IEEE 754 {self.ieee754}" if self.ieee754 else ""
            named = "" if MANUAL in self.kinds and standard else manual
            return "derived from " + " and ".join(filter(None, (named, standard)))
        if kind == READING and manual and self.kinds == (READING,):
            return f"{kind} of {manual}"
        return kind
