"""A piece of PTX run on registers given as text, with the emulator of a root, statement by statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .catalog.likeness import suggest
from .diagnostics import Diagnostic, Mark, PtxspecError
from .evaluate import emulator, parse_operand
from .model import BOOL, Spec, Type
from .roots import Root
from .specification import read_all


class RefusedError(PtxspecError):
    """An error that contains all statements that cannot be run."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        super().__init__("\n".join(map(str, diagnostics)))


@dataclass(frozen=True)
class Register:
    name: str
    type: Type
    bits: int


@dataclass(frozen=True)
class Written:
    """The effect of a statement on a register; `before` is None if the register had no value."""

    line: int
    text: str
    register: str
    type: Type
    before: int | None
    after: int


@dataclass(frozen=True)
class Piece:
    target: str | None
    claim: str
    inputs: list[Register]
    results: list[Register]
    trace: list[Written]


def run(root: Root, text: str, file: str, given: Sequence[str], target: str | None = None) -> Piece:
    """Run a text on registers given as NAME=VALUE, each value as `eval` accepts it. Raises RefusedError with the
    statements that cannot be run, and PtxspecError for registers that are unknown or missing, or whose value cannot be
    read."""
    emu = emulator(root)
    try:
        function = emu.function(text, target)
    except emu.StatementError as e:
        refused = [Diagnostic(file, Mark(r.line, r.column), r.message, "", r.source) for r in e.refused]
        raise RefusedError(refused) from None
    except ValueError as e:
        raise PtxspecError(f"{file}: {e}") from None
    # "-" is no opcode: only the types are read.
    reading = read_all(root.path, "-")
    if reading.spec is None:
        raise PtxspecError(f"{root.path / 'spec'}: cannot be read; run `ptxspec validate`")
    inputs = [Register(name, type_, bits) for name, type_, bits in _inputs(reading.spec, function, file, _pairs(given))]
    arrays = [_array(r) for r in inputs]
    found = function(*arrays)
    results = found if len(function.results) > 1 else (found,)
    types = {name: reading.spec.types[t] for name, t in function.types.items()}
    return Piece(
        target=function.target,
        claim=function.claim,
        inputs=inputs,
        results=[Register(name, types[name], _bits(x)) for name, x in zip(function.results, results, strict=True)],
        trace=[
            Written(
                line=t.line,
                text=t.text,
                register=t.register,
                type=reading.spec.types[t.type],
                before=None if t.before is None else _bits(t.before),
                after=_bits(t.after),
            )
            for t in function.trace(*arrays)
        ],
    )


def _pairs(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().lstrip("%")
        if not equals:
            raise PtxspecError(f"'{text}' does not have the form NAME=VALUE, as in a=1.5")
        if name in found:
            raise PtxspecError(f"register {name} was given twice")
        found[name] = value
    return found


def _inputs(spec: Spec, function: Any, file: str, given: dict[str, str]) -> list[tuple[str, Type, int]]:
    takes = f"{file} takes {', '.join(function.inputs) or 'no registers'}"
    for name in given:
        if name not in function.inputs:
            raise PtxspecError(f"{takes}, not {name}; {suggest(name, function.inputs)}".rstrip("; "))
    missing = [name for name in function.inputs if name not in given]
    if missing:
        raise PtxspecError(f"{takes}; {', '.join(missing)} missing: add {missing[0]}=1.5")
    types = {name: spec.types[function.types[name]] for name in function.inputs}
    return [(name, t, parse_operand(given[name], t)) for name, t in types.items()]


def _array(r: Register) -> Any:
    import numpy as np

    return np.bool_(r.bits) if r.type.kind == BOOL else np.dtype(f"u{r.type.width // 8}").type(r.bits)


def _bits(x: Any) -> int:
    return int(x if x.dtype == bool else x.view(f"u{x.itemsize}"))
