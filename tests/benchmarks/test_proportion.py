"""Time and memory against the size of what is asked: eight times as much takes eight times as long, or 64 times where
the time is quadratic. This alone among benchmarks fails."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import ptxemu
import pytest
from helpers.fuzzing import recordings, specifications, texts
from helpers.repository import database
from ptxspec.diagnostics import PtxspecError

MORE = 8
# Between 8 and 64, as far from the one as from the other.
LIMIT = 23.0
ATTEMPTS = 3
LINE = "ptxas a{n}.ptx, line {n}; error   : Feature '.NaN' requires .target sm_8{n} or higher\n"
PLACE = "ptxas a.ptx, line {n}; error   : Illegal modifier '.foo' for instruction 'cvt'\n"
MAX = "opcode: max\nsummary: A trial.\nsyntax:\n  - max.f32  d, a, b\nrequires:\n  - ptx: 1.0\nsemantics: |\n"
HELPER = "def f{n}(x):\n    return x\n\n"
STATEMENT = 'asm("max.NaN.f64 %0, %1, %2;");'
CALL = STATEMENT.removesuffix(";")
IGNORE = "// ptxspec: ignore[illegal-modifier]"
HASH = IGNORE.replace("//", "#")


def repeated(text: str, count: int) -> str:
    return "".join(text.replace("{n}", str(i)) for i in range(count))


def in_a_file(text: str) -> bytes:
    return f"spec/instructions/max.yaml\n{text}".encode()


def refused(text: str) -> None:
    with pytest.raises(LookupError):
        ptxemu.compile(text)


def unread(text: str) -> None:
    with pytest.raises(PtxspecError):
        texts.parse_operand(text, texts.specification().types["f32"])


# What is asked, and of how much at first.
ENTRIES: dict[str, tuple[Callable[[int], object], int]] = {
    "explain, one complaint": (lambda n: texts.explained(repeated(PLACE, n).encode()), 250),
    "explain, many files": (lambda n: texts.explained(repeated(LINE, n).encode()), 60),
    "explain, a long line": (lambda n: texts.explained(("ptxas " + "error : " * n).encode()), 4000),
    "explain, no complaint": (lambda n: texts.explained(b"In file included from a.cu:3:\n" * n), 2000),
    "query, names": (lambda n: texts.spelling(("add" + ".rn" * n + ".f32").encode()), 1000),
    "query, no names": (lambda n: texts.spelling(("add" + "." * n).encode()), 1000),
    "query, one name": (lambda n: texts.spelling(b"x" * n), 4000),
    "query, other names": (lambda n: texts.spelling(repeated(".m{n}", n).encode()), 300),
    "compile": (lambda n: refused("add" + ".ftz" * n), 2000),
    "a piece": (lambda n: texts.piece(b"add.f32 d, d, a;\n" * n), 60),
    "a piece that cannot be run": (lambda n: texts.piece(b"add.foo.f32 d, d, a;\n" * n), 60),
    "a piece of registers": (lambda n: texts.piece(repeated("add.f32 d{n}, a{n}, 1.0;\n", n).encode()), 60),
    "a kernel of tables": (
        lambda n: texts.kernel(repeated(".const .u8 t{n}[2] = {{1, 2}};\n", n).encode() + b".entry k() { ret; }"),
        100,
    ),
    "a kernel of a table": (
        lambda n: texts.kernel(
            b".const .u8 t[9] = {" + b"1," * n + b"1}; .entry k() { .reg .b64 d; mov.u64 d, t; ret; }"
        ),
        1000,
    ),
    "an operand without an end": (lambda n: unread("1" * n + "x"), 40_000),
    "an operand of lanes": (lambda n: unread("1," * n), 20_000),
    "lines of operands": (lambda n: texts.operand(b"1.5 -2 true\n" * n), 400),
    "YAML, rows": (lambda n: specifications.yaml(in_a_file("a:\n" + "  - {b: c, d: [1, 2]}\n" * n)), 400),
    "YAML, keys": (lambda n: specifications.yaml(in_a_file(repeated("k{n}: 1\n", n))), 400),
    "YAML, the same key": (lambda n: specifications.yaml(in_a_file("k: 1\n" * n)), 400),
    "YAML, a long line": (lambda n: specifications.yaml(in_a_file("a: " + "b" * n)), 40_000),
    "YAML, a syntax line": (lambda n: specifications.yaml(in_a_file(MAX.replace("d, a, b", "d, " + "a, " * n))), 2000),
    "semantics, statements": (lambda n: specifications.semantics(b"\nx = a + b\n" + b"x = x + a\n" * n + b"d = x"), 60),
    "semantics, what is wrong": (lambda n: specifications.semantics(b"\n" + b"y = foo(x)\n" * n), 200),
    "semantics, helpers": (lambda n: specifications.semantics(f"\n{repeated(HELPER, n)}d = a".encode()), 60),
    "semantics, an expression": (lambda n: specifications.semantics(b"\nd = " + b"a & " * n + b"b"), 1000),
    "a recording of lines": (
        lambda n: recordings.recorded(recordings.recorded_seeds()[0] + b"\n" + b"[" * n + b"\n" * n),
        4000,
    ),
    "a recording of parts": (lambda n: recordings.recorded(_parts(n)), 100),
    "a recording's head": (lambda n: recordings.recorded(b'{"recorder": "' + b"x" * n + b'"}\n'), 100_000),
}  # fmt: skip


def _parts(count: int) -> bytes:
    about, blob, part = recordings.recorded_seeds()[0].split(b"\n")[:3]
    return b"\n".join([about, blob, *[part] * count])


def _linted(language: str, text: Callable[[int], str], size: int) -> tuple[Callable[[int], object], int]:
    return lambda n: database().lint(text(n), language=language), size


def _spelled(unit: str) -> Callable[[int], str]:
    return lambda n: f"add{repeated(unit, n)}.f32 %f0, %f1, %f2;"


def _times(unit: str, frame: str = "{}") -> Callable[[int], str]:
    return lambda n: frame.format(unit * n)


def _of_lint() -> Iterator[tuple[str, tuple[Callable[[int], object], int]]]:
    for unit in ("add.f32 a\n", ".reg a\n", ".target ", "@p\n", "a[", "asm", "add.f32 {", '" '):
        size = (1 << 15) // len(unit)
        yield f"lint, {unit!r}", _linted("ptx", _times(unit), size)
        yield f"lint, {unit!r} in a string", _linted("python", _times(unit, "f('''.version {}''')"), size)
    for unit in (".rn", ".foo", ".rn.rz", ".f32", ".sat", ".wide", ".cc", "."):
        yield f"lint, add{unit}", _linted("ptx", _spelled(unit), 1000)
    yield "lint, names that nothing has", _linted("ptx", _spelled(".m{n}"), 100)
    for unit in ("# asm\n", "asm(\n", "x(asm = (\n", "( ", "asm(r", '"\\\n'):
        yield f"lint of Python, {unit!r}", _linted("python", _times(unit), (1 << 17) // len(unit))
    both, alone = f"{STATEMENT} {IGNORE}\n", f"{IGNORE}\n"
    for unit in (both, f"{STATEMENT}\n{alone}\n", alone, f"{alone}void f() {{}}\n", f"{alone}/* ' */\n"):
        yield f"lint of C++, {unit!r}", _linted("c++", _times(unit), 200)
    for unit in (f"{CALL}\n{HASH}\n\n", f"{HASH}\ndef f():\n", f"{HASH}\n'''\n", f"{HASH}\n@f\n", f"f( {HASH}\n"):
        yield f"lint of Python, {unit!r}", _linted("python", _times(unit), 200)


ENTRIES |= dict(_of_lint())


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    work(size)
    return time.process_time() - start


def _peak(work: Callable[[int], object], size: int) -> int:
    tracemalloc.start()
    try:
        work(size)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("entry", ENTRIES)
def test_time(entry: str, proportion: Callable[[str, float], None]) -> None:
    work, size = ENTRIES[entry]
    work(MORE)
    gc.disable()
    try:
        # Another program on the machine can only lengthen a measurement, so that the shortest of several counts.
        small = min(_seconds(work, size) for _ in range(ATTEMPTS))
        ratio = min(_seconds(work, MORE * size) for _ in range(ATTEMPTS)) / small
    finally:
        gc.enable()
    proportion(entry, ratio)
    assert ratio < LIMIT


@pytest.mark.parametrize("entry", ENTRIES)
def test_memory(entry: str) -> None:
    work, size = ENTRIES[entry]
    # What is read twice is remembered.
    work(size // 2)

    # What does not grow counts as well, and lists have room to spare.
    assert _peak(work, MORE * size) < 3 * MORE * max(_peak(work, size), 50_000)


@pytest.mark.parametrize("spelling", ["fma.rm.f64", "div.rp.f64", "sqrt.rn.f64"])
def test_memory_beyond_operands_and_result(spelling: str) -> None:
    """However many elements there are, it is bounded: kernels compute a piece at a time."""
    kernel = ptxemu.compile(spelling)
    ones = np.ones(1 << 21)
    operands, out = [ones, ones, np.zeros_like(ones)][: kernel.operands], np.empty_like(ones)
    assert _peak(lambda n: kernel(*(x[:n] for x in operands), out=out[:n]), len(ones)) < 24 << 20
