"""Files of a specification that a stranger wrote: YAML, the little language, the tables of a unit."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from textwrap import dedent, indent

from ptxspec.check.checking import check
from ptxspec.diagnostics import Diagnostic
from ptxspec.specification import read_all

from helpers import ROOT
from helpers.project import bring, copied

# Other folders have nothing that is read.
FILES = re.compile(
    r"spec/(instructions/max|units/\w{1,20}|observed/(judged/max|speed)|published|types|modifiers|units)\.yaml"
)
INSTRUCTION = """\
opcode: max
summary: A trial.
syntax:
{syntax}
requires:
  - ptx: 1.0
semantics: |
{semantics}
"""


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = copied(folder / "project", ("max",))
    bring(root, "spec/observed/speed.yaml")
    # They belong to opcodes that are not here, and are long.
    for name in ("functions", "words"):
        (root / f"spec/{name}.yaml").unlink()
    return root


@contextmanager
def _with(path: str, data: bytes) -> Iterator[Path]:
    """The project with a file that says something else."""
    file = _folder() / path
    before = file.read_bytes() if file.exists() else None
    file.write_bytes(data)
    try:
        yield _folder()
    finally:
        if before is None:
            file.unlink()
        else:
            file.write_bytes(before)


def validated(root: Path) -> list[Diagnostic]:
    """As `ptxspec validate` has it."""
    reading = read_all(root)
    found = [*reading.diagnostics, *(check(reading.spec)[1] if reading.spec else [])]
    for d in found:
        str(d).encode()
        assert d.mark.line >= 1 and d.mark.column >= 1 and d.message, d
    return found


def yaml(data: bytes) -> None:
    """The first line is the file's name."""
    name, _, text = data.partition(b"\n")
    path = name.decode("utf-8", "replace")
    if FILES.fullmatch(path):
        with _with(path, text) as root:
            validated(root)


def yaml_seeds() -> list[bytes]:
    project = _folder()
    names = ["instructions/max", "types", "modifiers", "units", "published", "observed/speed", "observed/judged/max"]
    found = [f"spec/{n}.yaml\n{(project / f'spec/{n}.yaml').read_text('utf-8')}" for n in names]
    found += [f"spec/units/{p.name}\n{p.read_text('utf-8')}" for p in sorted((ROOT / "spec/units").glob("*.yaml"))]
    small = [p for p in sorted((ROOT / "spec/instructions").glob("*.yaml")) if p.stat().st_size < 6000]
    found += [f"spec/instructions/max.yaml\n{p.read_text('utf-8').replace(p.stem, 'max')}" for p in small]
    return [f.encode() for f in found]


def semantics(data: bytes) -> None:
    """The first line says how many operands there are, and of which type."""
    syntax, _, text = data.decode("utf-8", "replace").partition("\n")
    line = syntax if re.fullmatch(r"max[\w.{},]{1,60}  d(, [abc])*", syntax) else "max.f32  d, a, b"
    written = INSTRUCTION.format(syntax=f"  - {line}", semantics=indent(text, "  "))
    with _with("spec/instructions/max.yaml", written.encode()) as root:
        validated(root)


def semantics_seeds() -> list[bytes]:
    own = (
        "d = convert(a + 1, f16, roundTowardZero) if isNaN(a) else float_of(bits(b) ^ 0x80000000)",
        """
        def larger(x, y):
            if isNaN(x) or x < y <= 0x1.8p-3:
                return y
            return x
        m = larger(magnitude(a), 2**-14)  # why
        d = fusedMultiplyAdd(m, b, -0) if not m == b else a - b
        """,
        "if a > 0 and (b < 0 or a == b):\n    d = a\nelif operands == 2:\n    d = b\nelse:\n    d = quietNaN\n",
        "x = bits(a) & 0xff | bits(b) << 3\nd = float_of(~x >> 1)",
    )
    found = [f"max{{.ftz}}{{.NaN}}.f32  d, a, b\n{dedent(s)}" for s in own]
    for path in sorted((ROOT / "spec/instructions").glob("*.yaml")):
        text = path.read_text("utf-8")
        block = re.search(r"^semantics: \|\n((?:  .*\n|\n)*)", text, re.MULTILINE)
        if block and len(block[1]) < 3000:
            found.append(f"max.f32  d, a, b, c\n{dedent(block[1])}")
    return [f.encode() for f in found]
