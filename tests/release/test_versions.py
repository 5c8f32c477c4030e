"""The lowest versions of the dependencies that pyproject.toml takes do the work, on the lowest Python, and so do the
newest that there are."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.environments import Environment
from helpers.made_up_instructions import operands
from helpers.repository import specification
from helpers.sizes import spread
from helpers.variants import variants

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOWEST = [d.replace(">=", "==") for d in PROJECT["dependencies"]]
NEWEST = [d.partition(">=")[0] for d in PROJECT["dependencies"]]
PYTHON = PROJECT["requires-python"].removeprefix(">=")

# A bar as a terminal would be sent it.
BAR = """\
import io, sys
class Terminal(io.StringIO):
    def isatty(self):
        return True
sys.stderr = Terminal()
from ptxspec.cli import progress_bar
with progress_bar("judging") as progress:
    for i in range(3):
        progress(i, 3)
assert "judging" in sys.stderr.getvalue() and "67%" in sys.stderr.getvalue()
"""
# A table as a terminal would show it.
TABLE = """\
from ptxspec.cli.markdown import print_markdown
print_markdown("| operand | result |\\n| --- | --- |\\n| `+0.0` | -0.0 |", 30)
"""
# Results of another process, computed again.
AGAIN = """\
import sys
import numpy as np, ptxemu
with np.load(sys.argv[1]) as kept:
    rows = zip(kept["spellings"], kept["operands"], kept["counts"], strict=True)
    for i, (spelling, operands, count) in enumerate(rows):
        registers = [kept[f"{i}.{j}"] for j in range(count)]
        result = ptxemu.compile(str(spelling), operands=int(operands))(*registers)
        results = result if isinstance(result, tuple) else (result,)
        assert b"".join(r.tobytes() for r in results) == kept[f"{i}.d"].tobytes(), spelling
    print(len(kept["spellings"]))
"""


def test_every_dependency_has_a_lowest_version() -> None:
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", d) for d in LOWEST)


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Operands and results of many variants."""
    kept: dict[str, object] = {}
    counts = []
    chosen = spread(variants(specification()), 400)
    for i, v in enumerate(chosen):
        # The carry that an instruction reads is none of its operands.
        registers = operands(v, 300, seed=i)
        counts.append(len(registers))
        result = ptxemu.compile(v.spelling, operands=v.operands)(*registers)
        bits = b"".join(r.tobytes() for r in (result if isinstance(result, tuple) else (result,)))
        kept |= {f"{i}.{j}": r for j, r in enumerate(registers)} | {f"{i}.d": np.frombuffer(bits, np.uint8)}
    kept |= {"spellings": np.array([v.spelling for v in chosen]), "operands": np.array([v.operands for v in chosen])}
    kept["counts"] = np.array(counts)
    path = tmp_path_factory.mktemp("computed") / "results.npz"
    np.savez(path, **kept)  # type: ignore[arg-type]
    return path


@pytest.mark.exhaustive
@pytest.mark.parametrize("wanted", [pytest.param(LOWEST, id="lowest"), pytest.param(NEWEST, id="newest")])
def test_other_versions_do_the_work(wanted: list[str], computed: Path, tmp_path: Path) -> None:
    if wanted is LOWEST and not sys.version.startswith(f"{PYTHON}."):
        pytest.skip(f"the lowest versions are those for {PYTHON}")
    environment = Environment(tmp_path / "environment")
    done = environment.pip("install", "--quiet", *wanted)
    if done.returncode != 0 and re.search(r"Retrying|Connection", done.stderr):
        pytest.skip("no package index is reached")
    assert done.returncode == 0, done.stderr
    sources = (ROOT / "codegen", ROOT / "generated/python")
    environment.environment |= {"PYTHONPATH": os.pathsep.join(map(str, sources))}
    root = tmp_path / "project"
    for part in ("spec", "templates"):
        shutil.copytree(ROOT / part, root / part)

    def run(*arguments: object) -> str:
        return environment.run("python", *arguments, cwd=root)

    assert "added" in run("-m", "ptxspec", "generate", "--root", ".")
    for path in (ROOT / "generated").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert (root / path.relative_to(ROOT)).read_bytes() == path.read_bytes(), path
    assert run("-c", AGAIN, computed) == "400\n"
    assert run("-m", "ptxspec", "query", "add.f32").startswith("yes")
    assert "0x40400000" in run("-m", "ptxspec", "eval", "--root", ".", "add.f32", "1", "2", "--trace")
    assert run("-c", BAR) == ""
    assert [line.split() for line in run("-c", TABLE).splitlines() if "0.0" in line] == [["+0.0", "-0.0"]]
    assert "function __fish_ptxspec" in run("-m", "ptxspec", "completion", "fish")
    line = "ptxspec query add.b"
    out = tmp_path / "offered"
    environment.environment |= {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line, "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(out), "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }  # fmt: skip
    run("-m", "ptxspec")
    assert out.read_text().split() == ["add.bf16", "add.bf16x2"]
