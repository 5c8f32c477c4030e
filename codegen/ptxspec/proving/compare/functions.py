"""Functions of other languages as sides: those that a standard defines, and those that NumPy executes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...catalog.likeness import nearest
from ...check.checking import Checked
from ...check.functions import compiled, openings
from ...diagnostics import PtxspecError
from ...emit.products.emulator import module_of
from ...emit.text import Templates
from ...model import Defined, Executed, Instruction, Kind, Spec, Type, Variant
from ...roots import Root
from ...semantics.compile import Compiler
from ...semantics.program import Program
from .sides import FUNCTION, Face, Misfit, Open, Side, of_lanes, which_nan

Array = NDArray[Any]
Programs = Mapping[Variant, Mapping[str | None, Program]]

NUMPY = "numpy."


class EmulatedFunctions:
    """The functions of a specification, run by the emulator of its root."""

    def __init__(self, root: Root, spec: Spec, emulator: ModuleType) -> None:
        self.spec, self.emulator = spec, emulator
        self.templates = Templates(root.path)
        self.compiler = Compiler(spec)

    def defined(self, f: Defined) -> Side:
        made = compiled(self.compiler, f.name, f.semantics, f.type, f.operands, f.type)
        run = self._function(*made)
        (v,) = made[1]
        r = f.reference
        opened = [which_nan(r.name), *self._open(f, f.type)]
        about = [f"{r.title}, {f.clause}"]
        about += [f"{f.accuracy}; here the result is correctly rounded"] if f.accuracy else []
        return Side(
            f.name,
            tuple(about),
            Face(v.sources, (v.result,)),
            FUNCTION,
            of_lanes(lambda *x: [run(*x)]),
            tuple(opened),
            bool(f.accuracy),
        )

    def numpy(self, name: str, other: Side | None) -> Side:
        """Return a function of NumPy on the types of the other side. Raises PtxspecError, and Misfit if the function
        does not support them."""
        function = _attribute(name)
        if other is None:
            raise Misfit(f"{name} takes any type; the other side must have a type of its own, as fmaxf has")
        face = other.face
        if any(o.lane_bits for o in face.sources):
            raise Misfit(f"{other.name} reads its lanes in a special order, which {name} does not support")
        given = [self._native(o.type.kind, name) for o in face.sources]
        results = [self._native(o.type.kind, name) for o in face.results]
        call = _checked(name, function, given, results)

        def run(*columns: Array) -> Sequence[Array]:
            with np.errstate(all="ignore"):
                found = call(*(x.view(t) for x, t in zip(columns, given, strict=True)))
            made = found if isinstance(found, tuple) else (found,)
            return [x if x.dtype == np.bool_ else x.view(f"u{x.itemsize}") for x in made]

        types = ", ".join(map(str, given))
        opened = [which_nan("NumPy")]
        executed = next((e for e in self.spec.functions.executed if e.name == name), None)
        if executed and len({o.type.kind for o in face.sources}) == 1:
            opened += self._open(executed, face.sources[0].type)
        about = f"as NumPy {np.__version__} computes it here, of {types}"
        return Side(name, (about,), face, other.rank, of_lanes(run), tuple(opened))

    def _native(self, kind: Kind, name: str) -> np.dtype[Any]:
        """Return NumPy's type of a kind, or that of ml_dtypes."""
        number = kind.format or kind.fixed
        if kind.sort == "bool":
            return np.dtype(np.bool_)
        if number is None:
            return np.dtype(f"u{kind.storage // 8}")
        signature = importlib.import_module(f"{self.emulator.__name__}.signature")
        if number.name in signature.TYPES:
            found: np.dtype[Any] | None = signature.type_named(number.name).native
            if found is not None:
                return found
        missing = "NumPy has no such type, or ml_dtypes is not installed (pip install ml_dtypes)"
        raise Misfit(f"{name} does not support .{number.name}: {missing}")

    def _open(self, f: Defined | Executed, type: Type) -> list[Open]:
        found = []
        for o, instruction, programs in openings(self.compiler, f, type):
            holds = self._function(instruction, programs)
            found.append(Open(f"{f.reference.name} leaves open {o.why}", _of_operands(holds), of_operands=True))
        return found

    def _function(self, instruction: Instruction, programs: Programs) -> Callable[..., Array]:
        """Return the function that the emulator would have for an instruction, on encodings of lanes."""
        text = module_of(Checked(instruction, programs), self.templates)
        package = f"{self.emulator.__name__}.instructions"
        importlib.import_module(package)
        scope: dict[str, Any] = {"__name__": f"{package}.{instruction.opcode}", "__package__": package}
        exec(compile(text, f"<{instruction.summary}>", "exec"), scope)
        (choice,) = scope["KERNELS"].values()
        function: Callable[..., Array] = choice[None]

        def run(*columns: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.broadcast_to(function(*columns), columns[0].shape)

        return run


def _of_operands(holds: Callable[..., Array]) -> Callable[..., Array]:
    return lambda kinds, columns, *results: np.asarray(holds(*columns), np.bool_)


def _attribute(name: str) -> Any:
    found = getattr(np, name.removeprefix(NUMPY), None)
    is_type = isinstance(found, type) and issubclass(found, np.number)
    if not isinstance(found, np.ufunc) and not is_type:
        known = [n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)]
        near = nearest(name.removeprefix(NUMPY), known)
        help = (
            f"did you mean '{NUMPY}{near[0]}'?" if near else "known: numpy.fmin, numpy.exp2 and all others of that kind"
        )
        what = "is no universal function of NumPy" if found is not None else "is not in NumPy"
        raise PtxspecError(f"{name} {what}; {help}")
    return found


def _checked(
    name: str, function: Any, given: Sequence[np.dtype[Any]], results: Sequence[np.dtype[Any]]
) -> Callable[..., Any]:
    """Return the function, if it has these types. Raises Misfit."""
    if not isinstance(function, np.ufunc):
        if len(given) != 1 or list(results) != [np.dtype(function)]:
            raise Misfit(
                f"{name} makes one {np.dtype(function)} of one number, not {_types(results)} of {_types(given)}"
            )
        return lambda x: x.astype(function)
    if function.nin != len(given) or function.nout != len(results):
        raise Misfit(f"{name} takes {function.nin} and gives {function.nout}, not {len(given)} and {len(results)}")
    # ml_dtypes is needed only for its own types.
    tried = function(*(np.zeros(1, t) for t in given)) if not _is_refused(function, given) else None
    made = [x.dtype for x in (tried if isinstance(tried, tuple) else (tried,)) if x is not None]
    if made != list(results):
        told = f"gives {_types(made)} of {_types(given)}" if made else f"has nothing for {_types(given)}"
        raise Misfit(f"{name} {told}; {_types(results)} is wanted")
    return function


def _is_refused(function: np.ufunc, given: Sequence[np.dtype[Any]]) -> bool:
    try:
        with np.errstate(all="ignore"):
            function(*(np.zeros(1, t) for t in given))
    except TypeError:
        return True
    return False


def _types(found: Sequence[np.dtype[Any]]) -> str:
    return ", ".join(map(str, found))
