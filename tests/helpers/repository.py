"""The repository's own specification: read and checked once for all tests of a process that leave it as it is."""

from __future__ import annotations

from functools import cache

from ptxspec import Database
from ptxspec.check.checking import Checked
from ptxspec.emit.products.data import as_data
from ptxspec.model import Spec, Variant
from ptxspec.semantics.program import Program
from ptxspec.specification import Specification, load

from helpers import ROOT
from helpers.sizes import spread


@cache
def _loaded() -> Specification:
    found = load(ROOT)
    assert not found.diagnostics
    return found


def specification() -> Spec:
    return _loaded().right()


@cache
def checked() -> dict[str, Checked]:
    """The checked programs, by opcode."""
    return {c.instruction.opcode: c for c in _loaded().checked}


@cache
def database() -> Database:
    """As `ptxspec.load(ROOT)` has it."""
    data = as_data(specification())
    return Database(data.shared, data.opcodes.__getitem__, data.other)


def every_program(count: int | None) -> list[tuple[Variant, str | None, Program]]:
    """Each variant's programs with their targets, or so many of them all."""
    found = [
        (v, target, program)
        for c in checked().values()
        for v, programs in c.programs.items()
        for target, program in programs.items()
    ]
    return found if count is None else spread(found, count)
