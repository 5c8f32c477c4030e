"""`ptxspec eval --batch`: a variant on many sets of operands, a line for each."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.commands import Run


def test_a_line_has_the_bits_of_operands_and_result(run: Run, tmp_path: Path) -> None:
    bits = np.random.default_rng(1).integers(0, 1 << 32, (300, 3), np.uint64).astype(np.uint32)
    results = ptxemu.execute("fma.rn.ftz.f32", *np.ascontiguousarray(bits.T))
    file = tmp_path / "rows.txt"
    file.write_text("".join(" ".join(f"0x{x:08x}" for x in row) + "\n" for row in bits), "utf-8")
    code, out, _ = run("eval", "fma.rn.ftz.f32", "--batch", str(file))
    assert code == 0
    wanted = [f"0x{a:08x} 0x{b:08x} 0x{c:08x} 0x{d:08x}" for (a, b, c), d in zip(bits, results, strict=True)]
    assert out.splitlines() == wanted


def test_operands_are_written_as_for_one_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given: Any = io.TextIOWrapper(io.BytesIO(b"1.5 nan true\n\n 0x1p-3\t0x40000000 true"))
    monkeypatch.setattr("sys.stdin", given)
    code, out, _ = run("eval", "setp.lt.and.f32", "--batch", "-", "--format", "json")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [
        {"operands": ["0x3fc00000", "0x7fffffff", True], "result": [False, True]},
        {"operands": ["0x3e000000", "0x40000000", True], "result": [True, False]},
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0x3f800000", "rows.txt:2: error: add.f32 takes 2 operands, not 1"),
        ("0x3f800000 0x3f80_000", "rows.txt:2: error: operand '0x3f80_000'"),
        ("0x3f800000 one", "rows.txt:2: error: operand 'one' is not a number"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(line: str, said: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text(f"0x3f800000 0x3f800000\n{line}\n", "utf-8")
    code, out, err = run("eval", "add.f32", "--batch", str(tmp_path / "rows.txt"))
    assert (code, out) == (2, "") and said in err


def test_what_does_not_go_together(run: Run) -> None:
    for arguments in (["--batch", "-"], ["add.f32", "1", "--batch", "-"], ["add.f32", "--batch", "-", "--trace"]):
        assert run("eval", *arguments)[0] == 2
