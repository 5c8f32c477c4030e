"""The answers to messages of compilers, linkers and the driver: those of the specification, and those computed from the
targets and PTX versions that a message or its log names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ..catalog import Requirement, names
from ..query import calls
from ..query.database import Database, Variant
from . import meanings
from .features import meant
from .hardware import of_all, of_one
from .meanings import Meaning, compilers
from .rows import MessageRow, fitting
from .surroundings import Surroundings

# The parts of the message, the database, the tool if that is known, and the rest of the log's context.
Compute = Callable[[Mapping[str, str], Database, str, Surroundings], Meaning | None]
# Modifiers that all forms of an instruction have.
_EVERYWHERE = ("sync", "aligned", "row", "col")


def meaning(db: Database, text: str, tool: str, around: Surroundings) -> Meaning | None:
    """Return the meaning of a message that the specification answers, or None."""
    answers = (_answer(db, row, m, tool, around) for row, m in fitting(db, text))
    return next((a for a in answers if a is not None), None)


def _answer(db: Database, row: MessageRow, m: re.Match[str], tool: str, around: Surroundings) -> Meaning | None:
    """Return the answer of a row; None if it is about something that the database does not have."""
    parts, why = row.parts(m), row.why
    if row.computed:
        return _COMPUTED[row.computed](parts, db, tool, around)
    if row.feature:
        variants = meant(db, row.feature.format_map(parts))
        if not variants:
            return None
        target, ptx = _least(db, variants)
        parts |= {"target": target, "ptx": str(db.versions[ptx])}
        older = [g for g in around.gpus if db.targets[g].order < db.targets[target].order]
        why = (*([f"the log's GPU is {of_all(older)}"] if older else ()), *why)
    return Meaning(
        row.change.format_map(parts),
        tuple(text.format_map(parts) for text in why),
        tuple(text.format_map(parts) for text in row.others),
    )


def _least(db: Database, variants: Sequence[Variant]) -> tuple[str, str]:
    """Return the first target that has some of the variants, and the PTX version; a message seldom names all."""
    floors = {(v.requires.target, db.catalog.window(v.requires, v.requires.target)[0]) for v in variants}
    return min(floors, key=lambda floor: (db.targets[floor[0]].order, db.versions[floor[1]].order))


def _version(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    return meanings.version_too_new(db, m["version"], m["known"] or db.catalog.newest_version, tool, around)


def _target(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    name = re.sub("^compute_", "sm_", m["target"])
    what = "a clang compatible with" if tool == "clang" else "a compiler"
    if f"sm_{name}" in db.targets:
        return Meaning(f"write sm_{name}", (f"a target's name begins with sm_ or compute_, and {name} is none",))
    found = meanings.compiler_for(db, name, "clang" if tool == "clang" else tool or "compiler")
    if tool == "clang" and name in db.targets:
        since = db.versions[db.targets[name].ptx]
        why = f"{name} was introduced in PTX {since}: this clang is older or no longer supports it"
        return found._replace(change=f"use {what} {compilers(db, name)}", why=(why, *found.why[1:]), others=())
    if around.triton and name in db.targets:
        return found._replace(why=(*found.why, meanings.TRITON))
    return found


def _nvrtc(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    """Return the meaning of NVRTC's complaint about a target. It does not name the target; the log has it in the
    options, or as the GPU that it compiles for."""
    named = around.targets or around.gpus
    if named:
        return meanings.compiler_for(db, named[-1], "NVRTC")
    return Meaning(
        "use the NVRTC of a CUDA release that compiles for the GPU; `ptxspec targets` lists the releases",
        ("NVRTC does not support the target of -arch: it is older than the GPU or no longer supports it",),
    )


def _clang_window(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    found = f", and finds CUDA {m['installed']}" if m["installed"] else ""
    return Meaning(
        f"set --cuda-path to a CUDA release from {m['first']} to {m['last']}",
        (f"clang compiles for {m['target']} only with these releases{found}",),
        ("choose a newer GPU with --cuda-gpu-arch",),
    )


def _feature(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    version = f"{m['ptx'][:-1]}.{m['ptx'][-1]}"
    named = db.versions.get(version, version)
    return Meaning(f"use an LLVM that supports PTX {named}, or request an older version", ("this LLVM is older",))


def _target_feature(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning | None:
    """Return the meaning of a builtin function that clang has from a target and a PTX version on, as it lists them."""
    targets = sorted((t for n in re.findall(r"sm_\w+", m["list"]) if (t := db.targets.get(n))), key=lambda t: t.order)
    named = (f"{n[:-1]}.{n[-1]}" for n in re.findall(r"ptx(\d+)", m["list"]))
    versions = sorted((v for n in named if (v := db.versions.get(n))), key=lambda v: v.order)
    if not targets and not versions:
        return None
    first = f"compile for {targets[0].name} or newer (--offload-arch={targets[0].name})" if targets else "compile"
    # clang takes the version from the CUDA release that it finds.
    release = versions[0].cuda or f"that supports PTX {versions[0].version}" if versions else ""
    ptx = f" with --cuda-path of CUDA {release} or newer, for PTX {versions[0].version}" if versions else ""
    return Meaning(
        first + ptx,
        (f"clang has {m['name']} only for these targets and PTX versions: {m['list'].strip()}",),
        ("with clang -cc1 or llc, write -target-feature +ptx or -mattr=+ptx and the version",) if versions else (),
    )


def _llvm_target(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning | None:
    """Return the meaning of a PTX version that LLVM was told to write, and that does not have the target."""
    target = db.targets.get(m["target"])
    if target is None:
        return None
    feature = f"+ptx{target.ptx.replace('.', '')}"
    return Meaning(
        f"write PTX {db.versions[target.ptx]} or newer (-mattr={feature}), or request no PTX version",
        (
            f"{target.name} was introduced in PTX {target.ptx}, and PTX {m['ptx']} is older",
            f"clang, XLA and TensorFlow take the version from their CUDA release: use {compilers(db, target.name)}",
        ),
    )


def _xla(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    """Return the meaning of a ptxas that XLA found and that is older than the GPU."""
    name = f"sm_{m['capability'].replace('.', '')}"
    found = meanings.compiler_for(db, name, "ptxas")
    if name not in db.targets:
        return found
    where = "XLA takes the first ptxas in PATH; the log names it behind 'Used ptxas at'"
    return found._replace(
        change=f"{found.change}, and put it first in PATH",
        why=(*found.why, where, "until then the driver compiles the PTX, which works if the driver is new enough"),
        others=(),
    )


def _host_assembly(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning | None:
    """Return the meaning of a complaint of the host's assembler about an instruction of PTX."""
    name = m.get("name")
    if name is not None and name.lower() not in {*db.opcodes, *db.outside}:
        return None
    return Meaning(
        "compile inline PTX for the device only: put it under #ifdef __CUDA_ARCH__, or make the function __device__",
        (
            "the host's assembler got the assembly, and does not know PTX",
            "a function that is __host__ __device__, a template or a lambda may be compiled for both",
            "in Rust, compile the crate for nvptx64-nvidia-cuda",
        ),
    )


def _of_outside(db: Database, spelling: str) -> Requirement | None:
    """Return what an instruction outside of the database requires, if all its names are known."""
    opcode, *names = spelling.split(".")
    about = db.outside.get(opcode)
    if about is None or not {*names} <= frozenset(_EVERYWHERE).union(*(f.names for f in about.forms)):
        return None
    return about.requires(names, db.catalog)


def _intrinsic(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning | None:
    """Return the meaning of an intrinsic of LLVM that becomes a single instruction that the database knows, or begins
    with the name of another one."""
    target, ptx = "", ""
    for call in calls.named(db, f"llvm.nvvm.{m['name']}"):
        statements = call.becomes[0].statements if call.becomes else []
        if len(statements) == 1 and (v := calls.variant(db, statements[0])):
            target, ptx = _least(db, [v])
            break
    if not target and (needs := _of_outside(db, m["name"])):
        target, ptx = needs.target, db.catalog.first_version(needs)
    if not target or any(db.targets[t].order >= db.targets[target].order for t in around.targets):
        return None
    newer = "" if db.targets[target].base else " or newer"
    feature = f"-mattr=+ptx{ptx.replace('.', '')}"
    return Meaning(
        f"compile for {target}{newer} (-mcpu={target} {feature} or newer) with an LLVM that supports it",
        (f"llvm.nvvm.{m['name']} requires at least {target} and PTX {db.versions[ptx]}",),
    )


def _node(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning | None:
    """Return the meaning of an operation for which LLVM has no instruction."""
    whole = "{" in m["node"]
    name = m["node"].format(m["type"]) if whole else f"{m['node']}.{m['type']}"
    variants = meant(db, f"'{name}'")
    if not variants:
        return Meaning(
            "call a function of libdevice instead, with types of 16 bits converted to f32 and back; in MLIR, "
            "convert-gpu-to-nvvm does so",
            (f"PTX has no {name}",),
        )
    target, ptx = _least(db, variants)
    what = name if whole else f"{m['node']} of .{m['type']}"
    why = (f"PTX has {what} from {target} and PTX {db.versions[ptx]} on",)
    feature = f"-mattr=+ptx{ptx.replace('.', '')} or newer"
    # No compiler of today is told to compile for a target that CUDA dropped: the target is not at fault.
    here = any(db.targets[t].order >= db.targets[target].order for t in around.targets)
    if here or db.targets[target].gone:
        return Meaning(f"use a newer LLVM, with {feature}, or compute in f32", why)
    change = f"compile for {target} or newer (-mcpu={target} {feature}) with an LLVM that supports it"
    return Meaning(change, why, ("compute in f32 and convert",), target, ptx, tuple(variants))


def _own_kind(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    """Return the meaning of matrix instructions that only an architecture-specific target has, compiled for another
    one."""
    kinds = {t.base: t for t in db.targets.values() if t.kind == "architecture"}
    plain = dict.fromkeys(db.catalog.plain(t) or t for t in (*around.gpus, *around.targets))
    own = [kinds[t].name for t in plain if t in kinds]
    why = (
        "the kernel's matrix instructions exist only on architecture-specific targets, whose names end in a; compiled "
        "for another target, the kernel only stops the program",
    )
    if plain and not own:
        return Meaning(
            f"use a kernel written for {' or '.join(plain)}",
            (*why, f"there is no such target for {' or '.join(plain)}: {next(iter(kinds))} is the first"),
        )
    sold = {t: next(iter(names.products(db, kind.name)), None) for t, kind in kinds.items()}
    every = (f"{kinds[t].name} for {product.name}" for t, product in sold.items() if product)
    number = (own or [next(iter(kinds.values())).name])[0].removeprefix("sm_")
    chosen = of_one(own) or ", ".join(every)
    return Meaning(
        f"compile for the GPU's own target, {chosen}, as in -gencode arch=compute_{number},code=sm_{number}",
        (*why, f"with CMake: -DCUTLASS_NVCC_ARCHS={number}, or CMAKE_CUDA_ARCHITECTURES={number}"),
    )


def _no_binary(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    """Return the meaning of a program without code for the GPU."""
    why = (
        "the program has neither machine code for this GPU nor PTX that the driver could compile for it",
        "PTX runs on its target and newer ones, but PTX for an architecture-specific target (sm_90a) only on that",
    )
    if not around.gpus:
        return Meaning(
            "compile for this machine's GPU, as in -arch=sm_90; `ptxspec targets native` shows its target",
            why,
            ("add PTX for the oldest target on which it should run: -gencode arch=compute_80,code=compute_80",),
        )
    codes = (f"-gencode arch=compute_{n},code=sm_{n}" for n in (g.removeprefix("sm_") for g in around.gpus))
    return Meaning(
        f"compile for {of_one(around.gpus)}, the log's GPU: {' '.join(codes)}",
        (
            *why,
            *(f"{compilers(db, g)} compiles for {g}" for g in around.gpus),
            "a prebuilt package must include this target; for PyTorch, torch.cuda.get_arch_list() lists its targets",
        ),
    )


def _ptx_version(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    return meanings.unsupported_version(db, around)


def _pytorch(m: Mapping[str, str], db: Database, tool: str, around: Surroundings) -> Meaning:
    name = m.get("target") or f"sm_{m['capability'].replace('.', '')}"
    if name not in db.targets:
        return meanings.compiler_for(db, name, "PyTorch")
    return Meaning(
        f"install a PyTorch built for {name}, with {compilers(db, name)}",
        (
            f"this one has no code for {name}: torch.cuda.get_arch_list() lists the targets that it has",
            f"extensions must be rebuilt for it too: TORCH_CUDA_ARCH_LIST={db.targets[name].capability}",
        ),
    )


_COMPUTED: dict[str, Compute] = {
    "version": _version,
    "target": _target,
    "feature": _feature,
    "clang window": _clang_window,
    "target feature": _target_feature,
    "LLVM target": _llvm_target,
    "host assembly": _host_assembly,
    "intrinsic": _intrinsic,
    "XLA": _xla,
    "NVRTC": _nvrtc,
    "node": _node,
    "own kind": _own_kind,
    "no binary": _no_binary,
    "PTX version": _ptx_version,
    "PyTorch": _pytorch,
}
