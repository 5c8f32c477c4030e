"""The repository's own specification: read and checked once for all tests of a process that leave it as it is."""

from __future__ import annotations

from functools import cache

from ptxspec import Database
from ptxspec.check.checking import Checked, check
from ptxspec.emit.products.data import as_data
from ptxspec.model import Spec
from ptxspec.read.link import read

from helpers import ROOT


@cache
def specification() -> Spec:
    return read(ROOT)


@cache
def checked() -> dict[str, Checked]:
    """The checked programs, by opcode."""
    found, errors = check(specification())
    assert not errors
    return {c.instruction.opcode: c for c in found}


@cache
def database() -> Database:
    """As `ptxspec.load(ROOT)` has it."""
    data = as_data(specification())
    return Database(data.shared, data.opcodes.__getitem__)
