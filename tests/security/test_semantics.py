"""Code in the semantics language is read, never run: what it could do to the reader is refused with its place."""

from __future__ import annotations

import builtins
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from helpers.hostile import CANARY, Stranger
from helpers.project import Project

NEG = "spec/instructions/neg.yaml"
CODE = [
    f"d = open('{CANARY}', 'w')",
    f"d = __import__('os').system('touch {CANARY}')",
    f"import os; os.system('touch {CANARY}')",
    "from os import system",
    f"d = eval(\"open('{CANARY}', 'w')\")",
    f'exec(\'open("{CANARY}", "w")\')',
    "d = a.__class__",
    "d = a.__class__.__mro__[1].__subclasses__()",
    "d = ().__class__",
    "d = magnitude.__globals__",
    "d = a.real",
    "d = a[0]",
    "d = (lambda: a)()",
    "d = [x for x in (a,)][0]",
    "d = {a: a}",
    "d = f'{a}'",
    "d = 'text'",
    "d = b'text'",
    "d = a; del a",
    "d = (yield a)",
    "d = await a",
    "global d",
    "nonlocal d",
    "class d: pass",
    "@magnitude\ndef f(x): return x\nd = f(a)",
    "def f(x=open('CANARY', 'w')): return x\nd = f(a)",
    "def f(x: open('CANARY', 'w')): return x\nd = f(a)",
    "def f(x): return f(x)\nd = f(a)",
    "while True: d = a",
    "for i in a: d = a",
    "try:\n  d = a\nfinally:\n  d = a",
    "with a as d: pass",
    "raise a",
    "assert a",
    "d = a if __debug__ else a",
    "d = print",
    "d = print(a)",
    "d = getattr(a, b)",
    "d = vars()",
    "d = globals",
    "d = __builtins__",
    "d: int = a",
    "d = *a,",
    "d = (d := a)",
    "d, p = a",
    "a = a\nd = breakpoint()",
    "magnitude = a\nd = a",
    "d = magnitude(*a)",
    "d = magnitude(**a)",
    "d = magnitude(x=a)",
    "match a:\n  case d: pass",
    "type d = a",
    "d = ...",
    "d = None",
    "d = 1j",
    "d = a @ a",
    "d = not_there(a)",
    "d = 2**10**10",
    "d = 1 << 10**9",
    "d = 0x1p999999999",
    "d = " + "9" * 10_000,
    "d = " + "(" * 500 + "a" + ")" * 500,
    "d = " + "-" * 5_000 + "a",
    "d = " + "not " * 5_000 + "a",
    "d = a" + " + a" * 20_000,
    "d = a" + ".b" * 5_000,
    "d = " + "f(" * 5_000 + "a" + ")" * 5_000,
    "\n".join(f"x{i + 1} = bits(x{i}) ^ bits(x{i})" for i in range(5_000)),
    "\\",
    "d = a #\\\nimport os",
    "def f0(x): return -x\n" + "".join(f"def f{i + 1}(x): return f{i}(f{i}(x))\n" for i in range(40)) + "d = f40(a)",
]
IDS = [str(i) for i in range(len(CODE))]


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of Python's own that runs code or starts a program is called while a specification is read."""

    def forbidden(*arguments: Any, **_: Any) -> Any:
        pytest.fail(f"called with {arguments[:1]}")

    for home, name in ((builtins, "eval"), (os, "system"), (os, "posix_spawn"), (subprocess, "Popen")):
        monkeypatch.setattr(home, name, forbidden)


@pytest.mark.parametrize("code", CODE, ids=IDS)
@pytest.mark.sampled(6)
def test_code_that_is_none_of_the_language_is_refused_with_its_place(
    strange: Callable[..., Project], code: str
) -> None:
    project = strange()
    head, found, rest = (project.root / NEG).read_text("utf-8").partition("semantics: |\n")
    usual, blank, rest = rest.partition("\n\n")
    assert found and blank
    indented = "".join(f"  {line}\n" for line in code.split("\n"))
    project.write(NEG, f"{head}{found}{usual}\n{indented}\n{rest}")
    for command in ("validate", "generate"):
        result = project.run(command)
        assert result.code == 1 and f"{NEG}:" in result.err, result
    assert not (project.root / "generated").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("code", [CODE[i] for i in (0, 1, 4, 6)])
def test_code_in_any_field_is_not_run(strange: Callable[..., Project], code: str) -> None:
    """Also where stages, NaN rules, hardware, folding and the functions of other languages have their semantics."""
    stranger = Stranger(strange("neg", "ex2", "max").root)
    stranger.keep(2)
    left, said = stranger.put(lambda _: code)
    read_as_code = {
        at[-1] for _, at in stranger.fields if at[-1] in ("semantics", "code", "when", "operands", "result")
    }
    assert {"semantics", "code", "when"} <= read_as_code
    assert not any(at[-1] in ("semantics", "code", "when") for _, at in left)
    assert all(d.path.startswith("spec/") for d in said)
