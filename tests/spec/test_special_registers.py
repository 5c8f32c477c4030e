"""Special registers: ptxas reads each as the specification says, exactly where it says."""

from __future__ import annotations

from pathlib import Path

from helpers.sizes import each_size, spread
from ptxspec.catalog.special import FIELDS, SpecialRegister
from ptxspec.model import Spec
from ptxspec.proving.ptxas.asking import Sheet, unexpected
from ptxspec.proving.ptxas.verify import pairs

# By the bits of an operand: the types that mov reads it by, and a register.
_READ = {1: (["pred"], "%p1"), 16: (["b16", "u16", "s16"], "%h1"), 32: (["b32", "u32", "s32"], "%r1"),
         64: (["b64", "u64", "s64"], "%b1")}  # fmt: skip


def _reads(r: SpecialRegister, name: str) -> list[tuple[str, bool]]:
    """Return statements that read a register, and whether they read it as the specification has it."""
    whole = [name, *(f"{name}.{f}" for f in FIELDS)]
    found = [
        (f"mov.{t} {register}, {text};", bits in r.bits and r.has(text) and (text != name or not r.fields))
        for bits, (types, register) in _READ.items() for t in types for text in whole
    ]  # fmt: skip
    for bits in (16, 32):
        register = _READ[bits][1][:-1]
        four = ", ".join(f"{register}{i}" for i in range(1, 5))
        # One that has no fields is given to all four.
        found.append((f"mov.v4.u{bits} {{{four}}}, {name};", bits in r.bits))
    return found


@each_size
def test_each_is_read_exactly_where_it_is_said_to_be(spec: Spec, ptxas: Path, whole: bool) -> None:
    """Some pairs, or all; every type and every field of it."""
    every = pairs(spec)
    named = [(r, name) for r in spec.special_registers for name in (r.names if whole else [*r.names][-1:])]
    reads = [(r, *read) for r, name in named for read in _reads(r, name)]
    taken = {
        pair: {i for i, (r, _, right) in enumerate(reads) if right and spec.catalog.takes(r.requires, *pair)}
        for pair in (every if whole else spread(every, 24))
    }
    assert any(taken.values())
    assert list(unexpected(ptxas, Sheet([text for _, text, _ in reads]), taken)) == []


def test_the_name_behind_the_last_is_none(spec: Spec, ptxas: Path) -> None:
    """There is no %pm8 and no %envreg32."""
    beyond = []
    for r in spec.special_registers:
        names = [*r.names]
        if len(names) > 1:
            number = len(names) + int(r.text.partition("{")[2].partition("..")[0])
            beyond.append(names[-1].replace(str(number - 1), str(number), 1))
    known = {name for r in spec.special_registers for name in r.names}
    statements = Sheet([f"mov.b{bits} {_READ[bits][1]}, {name};" for name in beyond if name not in known
                        for bits in (32, 64)])  # fmt: skip
    assert statements.count >= 4
    assert list(unexpected(ptxas, statements, {("sm_121a", "9.5"): set()})) == []
