"""What the command is told -> sides: a variant, a piece of PTX or a file of it, a function of C, CUDA or NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..check.claims import basis
from ..diagnostics import PtxspecError, nearest
from ..evaluate import emulator
from ..gpu import registers
from ..gpu.export import refuse_stale
from ..model import BOOL, Compiled, Spec, Variant
from ..query.database import Database
from ..read.link import read, read_all
from ..roots import Root
from .functions import NUMPY, Functions
from .sides import Face, Misfit, Side, common_face

Array = NDArray[Any]


class Reader:
    """Reads sides for a root, as they behave on a target where one is given."""

    def __init__(self, root: Root, target: str | None) -> None:
        self.root, self.target = root, target
        self.emulator: ModuleType = emulator(root)
        self._specs: dict[str, Spec] = {}

    def both(self, a: str, b: str) -> tuple[Side, Side]:
        """Two sides that can be compared. Raises PtxspecError."""
        first, second = self.sides(a), self.sides(b)
        misfit: Misfit | None = None
        for x in first or [None]:
            for y in second or [None]:
                try:
                    sides = self._fitted(a, x, b, y)
                    common_face(*sides)
                except Misfit as e:
                    misfit = misfit or e
                else:
                    return sides
        assert misfit is not None
        raise misfit

    def _fitted(self, a: str, x: Side | None, b: str, y: Side | None) -> tuple[Side, Side]:
        """With functions of NumPy, which are None, on the types of the other side."""
        if x is None and y is None:
            raise Misfit(f"{a} and {b} take any type: one of the two must say which, as fmaxf does")
        if x is None and y is not None:
            return self._functions.numpy(a, y), y
        assert x is not None
        return x, y or self._functions.numpy(b, x)

    def sides(self, text: str) -> list[Side]:
        """What the text may mean: one for each number of operands and type that a name has; none for a function of
        NumPy, which takes the other side's."""
        text = text.strip()
        if text.startswith(NUMPY):
            return []
        known = self._shared.functions
        if found := [f for f in known.defined if f.name == text]:
            return [self._functions.defined(f) for f in found]
        if compiled := next((f for f in known.compiled if f.name == text), None):
            return [side for ptx in range(len(compiled.ptx)) for side in self._compiled(compiled, ptx)]
        return self._variants(text)

    def _compiled(self, f: Compiled, place: int) -> list[Side]:
        ptx = f.ptx[place]
        about = [f"{f.reference.title}: {ptx}"]
        if f.ftz:
            about.append(f"with -ftz=true it is {f.ftz[place]}")
        return [replace(s, name=f.name, about=(*about, *s.about)) for s in self.sides(ptx)]

    def _variants(self, text: str) -> list[Side]:
        spelling, _, named = text.partition("@")
        target = Database.read(self.root.data).target(named) if named else self.target
        try:
            kernel = self.emulator.compile(spelling, None, target)
        except LookupError as e:
            known = self._shared.functions.names
            near = nearest(spelling, known) if "." not in spelling or spelling.startswith(("cuda.", "ieee754.")) else []
            help = f"; did you mean the function '{near[0]}'?" if near else ""
            raise PtxspecError(f"{e}{help}") from None
        spelling = kernel.variant.spelling
        spec = self._spec(spelling)
        found = [v for i in spec.instructions.values() for v in i.variants if v.spelling == spelling]
        sides = []
        for v in sorted(found, key=lambda v: v.operands):
            try:
                self.emulator.compile(spelling, v.operands, target)
            except LookupError:
                continue  # not on this target
            sides.append(self._variant(spec, v, target))
        return sides

    def _variant(self, spec: Spec, v: Variant, target: str | None) -> Side:
        kernel = self.emulator.compile(v.spelling, v.operands, target)
        instruction, claim = spec.instructions[v.opcode], spec.claim(v, target)
        about = [claim if claim in ("exact", "measured") else f"{claim}: {basis(instruction, v)}"]
        if claim == "bounded":
            about.append("the emulator rounds correctly, hardware need not")
        about += [n.text for n in instruction.notes if n.hazard and n.selector.matches(v)]

        def run(face: Face, columns: Sequence[Array]) -> list[Array]:
            types = [t for _, t in registers.places(v.sources)]
            given = [x.astype(np.bool_) if t.kind == BOOL else x for t, x in zip(types, columns, strict=True)]
            found = kernel(*given)
            made = found if isinstance(found, tuple) else (found,)
            return [np.asarray(x if x.dtype == np.bool_ else x.view(f"u{x.itemsize}")) for x in made]

        name = f"{v.spelling}{' on ' + target if target else ''}"
        loose = claim not in ("exact", "measured", "unjudged")
        return Side(name, tuple(about), Face(v.sources, (v.result,)), 2, run, loose=loose)

    @property
    def _shared(self) -> Spec:
        """What all opcodes share, without their instructions."""
        return self._spec("")

    @property
    def _functions(self) -> Functions:
        return Functions(self.root, self._shared, self.emulator)

    def _spec(self, spelling: str) -> Spec:
        """The specification as far as it concerns a spelling. Raises SpecError, and PtxspecError where the emulator was
        made from another one."""
        if spelling not in self._specs:
            spec = read_all(self.root.path, spelling).spec or read(self.root.path)
            refuse_stale(self.root, spec)
            self._specs[spelling] = spec
        return self._specs[spelling]


def read_text(text: str) -> str:
    """A text, or what the file of that name holds."""
    path = Path(text)
    try:
        return path.read_text("utf-8") if path.is_file() else text
    except (OSError, UnicodeDecodeError) as e:
        raise PtxspecError(f"{text}: cannot be read: {e}") from None
