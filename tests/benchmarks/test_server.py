"""The times that an editor waits for answers of the language server, on files of 5,000 lines, each behind a change."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import ptxspec
import pytest
from helpers import ROOT
from helpers.linting import written
from ptxspec.proving.ptxas.asking import REGISTERS
from ptxspec.server.completion import complete
from ptxspec.server.hints import hints
from ptxspec.server.hover import hover
from ptxspec.server.judged import TextChecker
from ptxspec.server.positions import TextDocument
from timing import in_turn

LINES = 5_000
HEADER = f"""\
.version 9.5
.target sm_90
.entry k() {{
{" ".join(f".reg .{type} {name}<8>;" for type, name in REGISTERS.items())}
"""
FUNCTION = """\
__device__ float f{}(float a, float b) {{
  float d = a * b, e = d + {};
  for (int i = 0; i < 8; ++i)
    d += e * i;
  e = d * d + a;
  d = e > b ? d - e : e;
  if (d > a)
    d = e * {};
  asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(e));
  return d;
}}
"""


@pytest.mark.parametrize("language", ["ptx", "c++"])
def test_answers_behind_a_change(around: Callable[..., None], tmp_path: Path, language: str) -> None:
    db = ptxspec.load(ROOT)
    some = db.available(target="sm_90", ptx="9.5")
    if language == "ptx":
        path, text = tmp_path / "a.ptx", HEADER + "\n".join(written(db, v.spelling, v.operands) for v in some[:LINES])
    else:
        path, text = tmp_path / "a.cu", "".join(FUNCTION.format(i, i, i) for i in range(LINES // 11))
    text += "\n" * (LINES - text.count("\n"))
    judge, number = TextChecker(db, print), 0
    document = TextDocument(text, version=0)
    last = judge.judge(text, str(path), language)
    place = text.index("add.")

    def judged() -> None:
        nonlocal document, last, number
        number += 1
        document = document.changed((LINES // 2, 0), (LINES // 2, 0), f"// {number}\n", number)
        last = judge.judge(document.text, str(path), language)

    asked = {
        "what is found": judged,
        "hover": lambda: hover(db, last, place + 1, ROOT / "generated" / "manual"),
        "completion": lambda: complete(db, last, place + 4),
        "hints": lambda: list(hints(db, last, 0, len(text))),
    }
    times = in_turn(*asked.values(), rounds=15, clock=time.thread_time)
    for name, taken in zip(asked, times, strict=True):
        around(f"in an editor, {LINES} lines of {language}: {name}", f"{median(taken) * 1e3:.0f} ms", at_most="100 ms")
