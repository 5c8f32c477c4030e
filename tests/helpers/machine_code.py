"""Machine code of PTX, as nvdisasm lists it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from ptxspec.model import Spec, Variant
from ptxspec.proving.ptxas.asking import REGISTERS
from ptxspec.proving.ptxas.statements import StatementWriter, signature

HEADER = ".version {ptx}\n.target {target}\n.address_size 64\n"

# A machine instruction as nvdisasm has it: opcode, operands, predicate.
Instruction = dict[str, str]

_REGISTER = re.compile(r"%[a-z]+\d+")
_TYPES = {name: type for type, name in REGISTERS.items()}
_DECLARED = " ".join(f".reg .{type} {name}<16>;" for type, name in REGISTERS.items())
# Between what is loaded, and between what is stored.
_STEP = 16


def machine_code(
    ptxas: Path, nvdisasm: Path, folder: Path, kernels: Iterable[str], target: str = "sm_90", ptx: str = "8.8"
) -> dict[str, list[Instruction]]:
    """Return the machine instructions that kernels are compiled to, by the kernels' names."""
    return _listed(nvdisasm, folder, assembled(ptxas, folder, kernels, target, ptx))


def listed(ptxas: Path, nvdisasm: Path, folder: Path, text: str, machine: str = "") -> dict[str, list[Instruction]]:
    """Return the machine instructions of a whole file of PTX, for the target that it names or a newer machine."""
    (folder / "k.ptx").write_text(text, "utf-8")
    target = re.findall(r"^\.target (\w+)", text, re.MULTILINE)[0]
    command = [str(ptxas), "-arch", machine or target, "k.ptx", "-o", "k.cubin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return _listed(nvdisasm, folder, done)


def _listed(nvdisasm: Path, folder: Path, done: subprocess.CompletedProcess[str]) -> dict[str, list[Instruction]]:
    assert done.returncode == 0, done.stderr
    code = subprocess.run([nvdisasm, "-json", "k.cubin"], check=True, cwd=folder, capture_output=True, text=True)
    return {f["function-name"]: f["sass-instructions"] for f in json.loads(code.stdout)[1]}


def assembled(
    ptxas: Path, folder: Path, kernels: Iterable[str], target: str, ptx: str
) -> subprocess.CompletedProcess[str]:
    """Assemble kernels to k.cubin, and return how ptxas ended."""
    (folder / "k.ptx").write_text(HEADER.format(ptx=ptx, target=target) + "\n".join(kernels), "utf-8")
    command = [str(ptxas), "-arch", target, "k.ptx", "-o", "k.cubin"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def kernel(name: str, spec: Spec, v: Variant, constants: Sequence[int] = ()) -> str:
    """A kernel that holds one instruction, with operands that are loaded, or constants, and stores what comes of it."""
    instruction, own = spec.instructions[v.opcode], [o.type.name for o in (*v.results, *v.sources)]
    writer = StatementWriter({t: spec.registers(instruction, v, t) for t in own})
    # Of p|q the q may be left out, where it is not needed; the lanes of p0|p1 are one result.
    result, *sources = writer.operands(signature(v), second=sum(len(r.places) for r in v.needed) > 1)
    results, loaded = result.split("|"), _REGISTER.findall(", ".join(sources))
    lines = [f".visible .entry {name}(.param .u64 p) {{", f".reg .u64 %at; .reg .b32 %word<32>; {_DECLARED}"]
    lines.append("ld.param.u64 %at, [p];")
    for i, register in enumerate(loaded):
        type = _type(register)
        if constants:
            lines.append(f"mov.b{type.lstrip('bf')} {register}, {constants[i]};")
        elif type == "pred":
            lines.append(f"ld.global.b32 %word{i}, [%at+{i * _STEP}]; setp.ne.b32 {register}, %word{i}, 0;")
        else:
            lines.append(f"ld.global.{type} {register}, [%at+{i * _STEP}];")
    lines.append(f"{v.spelling} {', '.join((result, *sources))};")
    for i, register in enumerate(results, 0 if constants else len(loaded)):
        type = _type(register)
        if type == "pred":
            lines.append(f"selp.b32 %word{i}, 1, 0, {register}; st.global.b32 [%at+{i * _STEP}], %word{i};")
        else:
            lines.append(f"st.global.{type} [%at+{i * _STEP}], {register};")
    return "\n".join([*lines, "ret; }"])


def _type(register: str) -> str:
    return _TYPES[register.rstrip("0123456789")]


def comparable(instructions: Iterable[Instruction], name: str) -> tuple[str, ...]:
    """A kernel's machine code without its name and the numbers of what it calls: equal where it is the same."""
    found = []
    for i in instructions:
        text = f"{i.get('predicate', '')} {i['opcode']} {i.get('operands', '')}"
        found.append(re.sub(r"\$__internal_\d+", "$", re.sub(rf"\b{name}\b", "kernel", text)))
    return tuple(found)
