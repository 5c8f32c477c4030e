"""Time and memory are in proportion to the size of what is asked: eight times as much takes eight times as long."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import ptxemu
import pytest
from helpers.doubling import MORE, grows_linearly
from helpers.fuzzing import recordings, specifications, texts
from ptxspec.diagnostics import PtxspecError

LINE = "ptxas a{n}.ptx, line {n}; error   : Feature '.NaN' requires .target sm_8{n} or higher\n"
PLACE = "ptxas a.ptx, line {n}; error   : Illegal modifier '.foo' for instruction 'cvt'\n"
MAX = "opcode: max\nsummary: A trial.\nsyntax:\n  - max.f32  d, a, b\nrequires:\n  - ptx: 1.0\nsemantics: |\n"
HELPER = "def f{n}(x):\n    return x\n\n"


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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("entry", ENTRIES)
def test_time_is_in_proportion(entry: str) -> None:
    work, size = ENTRIES[entry]
    assert grows_linearly(work, size)


@pytest.mark.exhaustive
@pytest.mark.parametrize("entry", ENTRIES)
def test_memory_is_in_proportion(entry: str) -> None:
    work, size = ENTRIES[entry]
    # What is read twice is remembered.
    work(size // 2)

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            work(count)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # What does not grow counts as well, and lists have room to spare.
    assert peak(MORE * size) < 3 * MORE * max(peak(size), 50_000)
