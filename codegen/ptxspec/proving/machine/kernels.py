"""Kernels of one instruction, and the machine code that ptxas generates for them.

Operands are loaded from memory and results stored there, all volatile: ptxas cannot fold, omit or predicate anything.
An operand that is a predicate comes from a shuffle, and a result that is one goes into a vote: ptxas would merge a
comparison or selection of the kernel with the instruction, or invert it."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...model import Spec, Variant
from ..ptxas.asking import REGISTERS, PtxasError
from ..ptxas.statements import StatementWriter, signature

HEADER = ".version {ptx}\n.target {target}\n.address_size 64\n"
# A machine instruction as nvdisasm lists it: opcode, operands, predicate.
Listed = dict[str, Any]

_REGISTER = re.compile(r"%[a-z]+\d+")
_TYPES = {name: type for type, name in REGISTERS.items()}
# Seconds after which a tool counts as hung.
_LIMIT = 600
_DECLARED = " ".join(f".reg .{type} {name}<16>;" for type, name in REGISTERS.items())
# Bytes between the words that are loaded, and those that are stored.
STEP = 16


def kernel(name: str, spec: Spec, v: Variant) -> str:
    """Return a kernel that loads the operands from memory in their order, `STEP` bytes apart, and stores the results
    behind them."""
    instruction, own = spec.instructions[v.opcode], [o.type.name for o in (*v.needed, *v.written)]
    taken = {t: spec.registers(instruction, v, t) for t in own}
    # Few instructions accept registers of eight bits; wider ones serve instead.
    writer = StatementWriter(
        {t: [r for r in found if r in REGISTERS and r != "b8"] or found for t, found in taken.items()}
    )
    # The q of p|q may be omitted; the lanes of p0|p1 are one result.
    result, *sources = writer.operands(signature(v), second=sum(len(r.places) for r in v.needed) > 1)
    results, loaded = result.split("|"), _REGISTER.findall(", ".join(sources))
    lines = [f".visible .entry {name}(.param .u64 p) {{", f".reg .u64 %at; .reg .b32 %word<32>; {_DECLARED}"]
    lines.append("ld.param.u64 %at, [p];")
    for i, register in enumerate(loaded):
        if (type := register_type(register)) == "pred":
            lines.append(f"ld.volatile.global.b32 %word{i}, [%at+{i * STEP}];")
            lines.append(f"shfl.sync.up.b32 %word{i}|{register}, %word{i}, %word{i}, %word{i}, -1;")
        else:
            lines.append(f"ld.volatile.global.{type} {register}, [%at+{i * STEP}];")
    lines.append(f"{v.spelling} {', '.join((result, *sources))};")
    for i, register in enumerate(results, len(loaded)):
        if (type := register_type(register)) == "pred":
            lines.append(f"vote.sync.ballot.b32 %word{i}, {register}, -1;")
            lines.append(f"st.volatile.global.b32 [%at+{i * STEP}], %word{i};")
        else:
            lines.append(f"st.volatile.global.{type} [%at+{i * STEP}], {register};")
    return "\n".join([*lines, "ret; }"])


def register_type(register: str) -> str:
    """Return the type of a kernel's register."""
    return _TYPES[register.rstrip("0123456789")]


def listed(ptxas: Path, nvdisasm: Path, kernels: Iterable[str], target: str, ptx: str) -> dict[str, list[Listed]]:
    """Return the machine code of kernels, by their names. Raises PtxasError."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        Path(folder, "k.ptx").write_text(HEADER.format(ptx=ptx, target=target) + "\n".join(kernels), "utf-8")
        asked(folder, [str(ptxas.absolute()), "-arch", target, "k.ptx", "-o", "k.cubin"])
        said = asked(folder, [str(nvdisasm.absolute()), "-json", "k.cubin"])
    return {f["function-name"]: f["sass-instructions"] for f in json.loads(said)[1]}


def asked(folder: Path, command: Sequence[str]) -> str:
    """Return the output of a tool, run in a folder. Raises PtxasError."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        raise PtxasError(f"{' '.join(command)}: no end after {_LIMIT} seconds") from None
    except OSError as error:
        raise PtxasError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode:
        raise PtxasError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout
