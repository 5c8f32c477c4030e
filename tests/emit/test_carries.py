"""Links of chains, which read and set the condition code, against Python's integers and what ptxas folds."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.integers import rows_of
from helpers.judging import Judged
from helpers.machine_code import machine_code
from helpers.repository import database, specification
from helpers.sizes import each_size
from oracles import integers
from oracles.folding import folded
from ptxspec import Variant

pytestmark = pytest.mark.inputs(
    *(f"emulator:{opcode}" for opcode in ("add", "addc", "mad", "madc", "sub", "subc")), "codegen/ptxspec/proving/ptxas"
)
_CODES = {
    (v.spelling, v.operands): (any(s.implicit for s in v.sources), bool(v.second))
    for i in specification().instructions.values()
    for v in i.variants
    if v.has_implicit
}
LINKS = [v for i in database().opcodes.values() for v in i.variants if (v.spelling, v.operands) in _CODES]


def reads(v: Variant) -> bool:
    return _CODES[v.spelling, v.operands][0]


def sets(v: Variant) -> bool:
    return _CODES[v.spelling, v.operands][1]


@each_size
@pytest.mark.parametrize("v", LINKS, ids=str)
def test_results_are_those_of_integers(v: Variant, whole: bool, judged: Judged) -> None:
    rows = rows_of(v, 10_000 if whole else 300)
    rng = random.Random(str(v))
    codes = [reads(v) and rng.random() < 0.5 for _ in rows]
    operands = [np.array(x, f"u{integers.width(v.result) // 8}") for x in zip(*rows, strict=True)]
    more = [np.array(codes)] if reads(v) else []
    found = ptxemu.execute(v.spelling, *operands, *more, results=2 if sets(v) else 1)
    d, q = found if sets(v) else (found, None)
    want = [integers.with_code(v.spelling, row, code) for row, code in zip(rows, codes, strict=True)]
    assert d.view(f"u{d.itemsize}").tolist() == [w for w, _ in want]
    assert q is None or q.tolist() == [c for _, c in want]
    if whole:
        judged("definition", [(v.spelling, v.operands)])


def test_a_long_sum_carries_from_word_to_word() -> None:
    text = "add.cc.u32 a0, b0, c0; addc.cc.u32 a1, b1, c1; addc.cc.u32 a2, b2, c2; addc.u32 a3, b3, c3;"
    f = ptxemu.function(text)
    rng = random.Random(5)
    for _ in range(50):
        b, c = rng.getrandbits(128), rng.getrandbits(128) | (1 << 96) - 1
        words = {f"{n}{i}": np.uint32(x >> 32 * i & 0xFFFFFFFF) for n, x in (("b", b), ("c", c)) for i in range(4)}
        found = f(*(words[name] for name in f.inputs))
        assert sum(int(x) << 32 * i for i, x in enumerate(found)) == (b + c) % 2**128


def test_a_carry_that_no_statement_sets_is_an_input() -> None:
    f = ptxemu.function("addc.cc.u32 %0, %1, %2;", constraints="=r,r,r")
    assert f.inputs == ("_1", "_2", "carry") and f(np.uint32(1), np.uint32(2), True) == 4
    guarded = ptxemu.function("@p add.cc.u32 t, b, c; addc.u32 d, b, 0;", results=["d"])
    b, c = np.uint32(0xFFFFFFFF), np.uint32(1)
    given = {"b": b, "c": c, "carry": False}
    assert [int(guarded(p=p, **given)) for p in (np.array(True), np.array(False))] == [0, 0xFFFFFFFF]


def test_a_borrow_is_no_carry() -> None:
    with pytest.raises(ptxemu.StatementError, match="reads a carry, but the statements before produce a borrow"):
        ptxemu.function("sub.cc.u32 a, b, c; addc.u32 d, e, f;")


@pytest.mark.exhaustive
def test_ptxas_folds_them_to_the_same(ptxas: Path, nvdisasm: Path, tmp_path: Path, judged: Judged) -> None:
    links = [v for v in LINKS if v.result[1:] != "16"]
    rows = {f"k{i}": rows_of(v, 40) for i, v in enumerate(links)}
    code = machine_code(ptxas, nvdisasm, tmp_path, [_kernel(v, k, rows[k]) for v, k in zip(links, rows, strict=True)])
    for v, k in zip(links, rows, strict=True):
        size = integers.width(v.result) // 8
        found = folded(code[k], size, 16)
        for row, bits in found.items():
            assert integers.with_code(v.spelling, rows[k][row], reads(v) and row % 2 == 1)[0] == bits, (v, rows[k][row])
        if found:
            judged("ptxas folding", [(v.spelling, v.operands)])


def _kernel(v: Variant, name: str, rows: list[tuple[int, ...]]) -> str:
    """A kernel of chains of constants: every second one brings a carry or a borrow."""
    bits = integers.width(v.result)
    lines = [f".visible .entry {name}(.param .u64 a) {{", ".reg .b64 %a; .reg .b32 %c;", "ld.param.u64 %a, [a];"]
    lines.append(f".reg .b{bits} %r<{4 * len(rows)}>;")
    for i, row in enumerate(rows):
        registers = [f"%r{4 * i + k}" for k in range(len(row) + 1)]
        if reads(v):
            opcode = "sub" if v.opcode.startswith("sub") else "add"
            first, second = (0, i % 2) if opcode == "sub" else (0xFFFFFFFF, i % 2)
            lines.append(f"{opcode}.cc.u32 %c, {first}, {second};")
        lines += [f"mov.b{bits} {r}, {x};" for r, x in zip(registers[1:], row, strict=True)]
        lines.append(f"{v.spelling} {', '.join(registers)};")
        lines.append(f"st.global.b{bits} [%a+{16 * i}], {registers[0]};")
    return "\n".join([*lines, "ret; }"])
