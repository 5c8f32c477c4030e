"""Arguments of the command -> sides: a variant, a piece of PTX or a file of it, a function of C, CUDA or NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...catalog.likeness import nearest
from ...check.claims import basis_on
from ...diagnostics import PtxspecError, SpecError
from ...evaluate import emulator, refuse_stale
from ...model import BOOL, Compiled, Spec, Variant
from ...query.database import Database
from ...roots import Root
from ...specification import read_all
from ..gpu import registers
from . import mpfr
from .functions import NUMPY, EmulatedFunctions
from .pieces import SURE, named, piece
from .sides import CORRECTLY, FOLLOWING, VARIANT, Face, Misfit, Origin, Side, common_face

Array = NDArray[Any]
# A side that adapts to the types of the other side, if that has some of its own.
Adapting = Callable[[Side | None], Side]


class Reader:
    """A reader of sides for a root, with the behaviour of a target if one is given. It reads the part of the
    specification that each side requires, unless all of it is given. `threads` limits the threads of a side; by default
    there are as many as are quickest."""

    def __init__(self, root: Root, target: str | None, spec: Spec | None = None, threads: int | None = None) -> None:
        self.root, self.target, self.whole, self.threads = root, target, spec, threads
        self.emulator: ModuleType = emulator(root)
        self._specs: dict[str, Spec] = {}

    def both(self, a: str, b: str) -> tuple[Side, Side]:
        """Return two sides that can be compared. Raises PtxspecError."""
        misfit: Misfit | None = None
        for x in self.sides(a):
            for y in self.sides(b):
                try:
                    first, second = _adapted(x, y)
                    common_face(first, second)
                except Misfit as e:
                    misfit = misfit or e
                else:
                    return first, second
        assert misfit is not None
        raise misfit

    def sides(self, text: str, target: str | None = None) -> list[Side | Adapting]:
        """Return the sides that a text can mean: one for each number of operands and each type of a name, on the target
        in the text, or else on `target`."""
        text, target = text.strip(), target or self.target
        if _is_file(path := Path(text)):
            return [self._piece(_contents(path), text, target)]
        if on := re.fullmatch(r"(.*\S)\s*@\s*(\w+)", text, re.DOTALL):
            if (
                on[1].startswith(NUMPY)
                or on[1] == mpfr.NAME
                or any(f.name == on[1] for f in self._shared.functions.defined)
            ):
                raise PtxspecError(f"{on[1]} is the same on all targets; remove @{on[2]}")
            return self.sides(on[1], Database.read(self.root.data).target(on[2]))
        if text.startswith(NUMPY):
            return [lambda other: self._functions.numpy(text, other)]
        if text == mpfr.NAME:
            return [mpfr.side]
        known = self._shared.functions
        if found := [f for f in known.defined if f.name == text]:
            return [self._functions.defined(f) for f in found]
        if compiled := next((f for f in known.compiled if f.name == text), None):
            return [side for place in range(len(compiled.ptx)) for side in self._compiled(compiled, place, target)]
        if not text:
            raise PtxspecError("one of the sides is empty; there is nothing to compare")
        if text.endswith(".ptx") or "/" in text.split()[0]:
            raise PtxspecError(f"{text}: there is no such file")
        if re.search(r"[\s;]", text):
            return [self._piece(text, named(text), target)]
        return [*self._variants(text, target)]

    def _piece(self, text: str, name: str, target: str | None) -> Adapting:
        def adapted(other: Side | None) -> Side:
            face = other.face if other else None
            return piece(self.emulator, self._shared, text, name, target, face, self.threads)

        return adapted

    def _compiled(self, f: Compiled, place: int, target: str | None) -> list[Side | Adapting]:
        ptx = f.ptx[place]
        about = [f"{f.reference.title}: {ptx}"]
        if f.ftz:
            about.append(f"with -ftz=true: {f.ftz[place]}")

        def told(side: Side) -> Side:
            return replace(side, name=f.name, about=(*about, *side.about))

        def told_later(adapting: Adapting) -> Adapting:
            return lambda other: told(adapting(other))

        return [told(s) if isinstance(s, Side) else told_later(s) for s in self.sides(ptx, target)]

    def _variants(self, spelling: str, target: str | None) -> list[Side]:
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
            sides += [self._variant(spec, v, n, target) for n in range(len(v.results), 0, -1)]
        return sides

    def _variant(self, spec: Spec, v: Variant, results: int, target: str | None) -> Side:
        """Return the side of a variant with this number of results: both of p|q, or p."""
        kernel = self.emulator.compile(v.spelling, v.operands, target)
        claim = spec.claim(v, target)
        about = [claim if claim in ("exact", "measured") else f"{claim}: {basis_on(spec, v, target)}"]
        computed = FOLLOWING if spec.follows(v, target) else CORRECTLY
        if claim not in SURE:
            about.append(f"the emulator {computed}{'; hardware may not' * (computed == CORRECTLY)}")
        hazard = spec.catalog.hazard_text(v, target)
        about += [hazard] if hazard else []

        def run(face: Face, columns: Sequence[Array]) -> list[Array]:
            types = [t for _, t in registers.places(v.sources)]
            given = [x.astype(np.bool_) if t.kind == BOOL else x for t, x in zip(types, columns, strict=True)]
            found = kernel(*given, results=results, threads=self.threads)
            made = found if isinstance(found, tuple) else (found,)
            return [np.asarray(x if x.dtype == np.bool_ else x.view(f"u{x.itemsize}")) for x in made]

        name = f"{v.spelling}{' on ' + target if target else ''}"
        face, origin = Face(v.sources, v.results[:results]), Origin(spec, v, target)
        return Side(name, tuple(about), face, VARIANT, run, loose=claim not in SURE, computed=computed, origin=origin)

    @property
    def _shared(self) -> Spec:
        """The part of the specification that all opcodes share, without their instructions."""
        return self._spec("")

    @cached_property
    def _functions(self) -> EmulatedFunctions:
        return EmulatedFunctions(self.root, self._shared, self.emulator)

    def _spec(self, spelling: str) -> Spec:
        """Return the part of the specification that a spelling requires. Raises SpecError with all errors in that part,
        and PtxspecError where the emulator was generated from another one."""
        if self.whole is not None:
            return self.whole
        if spelling not in self._specs:
            reading = read_all(self.root.path, spelling)
            if reading.spec is None or reading.diagnostics:
                raise SpecError(reading.diagnostics)
            refuse_stale(self.root, reading.spec)
            self._specs[spelling] = reading.spec
        return self._specs[spelling]


def _adapted(x: Side | Adapting, y: Side | Adapting) -> tuple[Side, Side]:
    """Return both as sides; one that adapts gets the types of the other. Raises Misfit."""
    if isinstance(x, Side):
        return x, y if isinstance(y, Side) else y(x)
    if isinstance(y, Side):
        return x(y), y
    try:
        first = x(None)
    except Misfit:
        second = y(None)
        return x(second), second
    return first, y(first)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # a text too long for a file name


def _contents(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise PtxspecError(f"{path}: not UTF-8") from None
