"""The manual in the terminal: a whole page, or all facts about one variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..basis import Basis
from ..catalog.explaining import recipes
from ..diagnostics import PtxspecError
from . import calls, functions, machine_code
from .answers import recipe, requirement, verdict_as_text
from .database import Database, Variant
from .families import family
from .verdicts import query, variant

STANDINGS = {"equal": "equal bit for bit", "inside": "within the bound", "unequal": "not equal"}


def page(db: Database, manual: Path, name: str, operands: int | None = None) -> str:
    """Return Markdown about an opcode or a variant; `manual` is the folder of the manual. Raises PtxspecError for one
    that does not exist."""
    if name in db.opcodes:
        if operands is not None:
            raise PtxspecError(
                f"--operands applies to variants only, such as {db.opcodes[name].variants[0]}; {name} is an opcode"
            )
        path = manual / f"{name}.md"
        try:
            return path.read_text("utf-8").partition("\n\n")[2]
        except OSError as e:
            raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    if found := calls.named(db, name):
        return f"# {found[0].name}\n\n```\n{functions.as_text(db, found[0].name, found, None)}\n```\n"
    if family(db, name, operands):
        return f"# {name}\n\n```\n{verdict_as_text(db, query(db, name, operands), None, None)}\n```\n"
    first = variant(db, name, operands)
    same = db.opcodes[first.opcode].spelled(first.modifiers, first.types)
    return "\n".join(_variant(db, v) for v in same if operands in (None, v.operands))


def section(v: Variant, operands: int | None = None) -> str:
    """Return the manual's page with the anchor of a variant; `operands` distinguishes variants of the same spelling."""
    return f"{v.opcode}.html#{quote(v.spelling, safe='.:')}{f'-{operands}' if operands else ''}"


def _variant(db: Database, v: Variant) -> str:
    data, about, names = db.data, db.opcodes[v.opcode].data, v.spelling.split(".")[1:]
    known, longer = db.opcodes[v.opcode].known_of(v), db.stands_for(v)
    lines = [f"# {v.spelling}, {v.operands} operand{'s' * (v.operands != 1)}", "", db.opcodes[v.opcode].summary, ""]
    lines += [f"- `.{n}`: {data['modifiers'][n]['summary']}" for n in names if n in data["modifiers"]]
    lines += [f"- `.{n}`: {data['types'][n]['summary']}" for n in names if n in data["types"]]
    lines += ["", f"- requires: {requirement(db, v.requires)}"]
    lines += [f"- available on no target: {v.crash}"] if v.crash else []
    if v.manual is None:
        lines.append("- NVIDIA's manual does not list this spelling; the assembler accepts it")
    elif v.manual != v.requires:
        lines.append(f"- NVIDIA's manual says: {requirement(db, v.manual)}")
    if longer:
        lines.append(f"- stands for `{longer.spelling}`")
    for a in (about["accuracy"][i] for i in known.get("accuracy", ())):
        lines.append(f"- error: at most {a['bound']} {a['kind']} for {a.get('range', 'all')} operands ({a['section']})")
        if "exceeded" in a:
            lines.append(f"  - the hardware exceeds this bound on {a['exceeded']}: NVIDIA's manual is wrong here")
    lines += [f"- claim: {v.claim}", f"- basis of the claim: {v.basis}"]
    lines += [f"- recorded: {r}: {STANDINGS[found]}" for r, found in v.recorded] or ["- recorded: on no GPU yet"]
    for on, claim, told in data["followed"].get(f"{v.spelling} {v.operands}", ()):
        where = ", ".join(on)
        lines.append(f"- claim on {where}: {claim}: {told}" if claim else f"- on {where}: {told}")
    if known["nan"] is not None:
        rule = data["nan_rules"][known["nan"]]
        own = known.get("nan_basis")
        basis = rule["basis"] if own is None else about["bases"][own]
        lines.append(f"- NaN results: {rule['summary']} ({_told(basis)}) {rule['unspecified'] or ''}".rstrip())
    if v.hazards:
        basis = dict.fromkeys(_told(about["bases"][about["hazards"][i]["basis"]]) for i in known["hazards"])
        lines.append(f"- hazard: {db.catalog.hazard_text(v)} ({'; '.join(basis)})")
    for _, text, shown in (about["folding"][i] for i in known.get("folding", ())):
        *operands, result = shown[0]
        lines.append(f"- constant folding gives other results: {text} {', '.join(operands)} give {result}")
    lines += machine_code.lines(db, v)
    lines += _functions(db, v)
    lines += [f"- {about['compared'][i][1]}" for i in known.get("compared", ())]
    notes = [about["notes"][i] for i in known.get("notes", ())]
    lines += ["", *(f"- {text} ({_told(about['bases'][basis])})" for text, _, basis, *_ in notes)] if notes else []
    for found in recipes(db, v, None, None):
        lines += ["", *_with_fences(recipe(db, found, ""))]
    if reason := db.opcodes[v.opcode].why_no_recipe(v):
        lines += ["", f"Where it is not available: {reason}"]
    lines += ["", f"`ptxspec show {v.opcode}` shows the semantics and the corner cases.", ""]
    return "\n".join(lines)


def _functions(db: Database, v: Variant) -> Iterator[str]:
    """Yield lines with the functions of CUDA C++ and intrinsics that compile to this variant alone."""
    where: dict[tuple[str, str], list[str]] = {}
    for call, became in calls.becoming(db, v):
        key = calls.compiler(db, call), functions.places(db, became.on)
        where.setdefault(key, []).append(f"`{call.text}`")
    for (compiler, on), some in where.items():
        yield f"- compiled from these functions by {compiler}, {on}: {', '.join(some)}"


def _with_fences(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, with each run of indented lines as a code block."""
    for is_code, block in groupby(lines, lambda line: line.startswith("  ")):
        found = list(block)
        yield from ["", "```", *(line[2:] for line in found), "```", ""] if is_code else found


def _told(basis: Sequence[Any]) -> str:
    """Return a basis in words."""
    kinds, *where = basis
    return Basis(tuple(kinds), *where).text
