"""The manual in the terminal: a whole page, or the part of it that is about one variant."""

from __future__ import annotations

from typing import Any

from ..diagnostics import PtxspecError
from ..roots import Root
from . import database
from .answers import requirement
from .database import Database, Variant

STANDINGS = {"equal": "every bit equal", "inside": "inside of the bound", "unequal": "not equal"}


def page(root: Root, name: str, operands: int | None = None) -> str:
    """Markdown about an opcode or a variant. Raises PtxspecError for one that does not exist."""
    db = database.read(root.data)
    if name in db.opcodes:
        path = root.generated / "manual" / f"{name}.md"
        try:
            return path.read_text("utf-8").partition("\n\n")[2]
        except OSError as e:
            raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    first = db.variant(name, operands)
    same = [v for v in db.opcodes[first.opcode].variants if v.names == first.names]
    entries = dict(zip(db.variants, db.data["variants"], strict=True))
    return "\n".join(_variant(db, v, entries[v]) for v in same if operands in (None, v.operands))


def _variant(db: Database, v: Variant, entry: dict[str, Any]) -> str:
    """`entry` is what ptxspec.json has of the variant."""
    data, names = db.data, v.spelling.split(".")[1:]
    lines = [f"# {v.spelling}, {v.operands} operand{'s' * (v.operands != 1)}", "", db.opcodes[v.opcode].summary, ""]
    lines += [f"- `.{n}`: {data['modifiers'][n]['summary']}" for n in names if n in data["modifiers"]]
    lines += [f"- `.{n}`: {data['types'][n]['summary']}" for n in names if n in data["types"]]
    lines += ["", f"- requires: {requirement(db, v.requires)}"]
    if v.manual is None:
        lines.append("- the manual does not list this spelling; the assembler takes it")
    elif v.manual != v.requires:
        lines.append(f"- the manual says: {requirement(db, v.manual)}")
    if v.means:
        lines.append(f"- stands for `{v.means}`")
    for a in entry["accuracy"]:
        lines.append(f"- error: at most {a['bound']} {a['kind']} for {a['range'] or 'all'} operands ({a['section']})")
    lines += [f"- claim: {v.claim}", f"- it rests on: {v.rests_on}"]
    lines += [f"- recorded: {r}: {STANDINGS[found]}" for r, found in v.recorded] or ["- recorded: on no GPU yet"]
    if entry["nan"]:
        rule = data["nan_rules"][entry["nan"]]
        rests_on = entry.get("nan_rests_on", rule["rests_on"])["text"]
        lines.append(f"- NaN results: {rule['summary']} ({rests_on}) {rule['unspecified'] or ''}".rstrip())
    notes = data["opcodes"][v.opcode]["notes"]
    said = [f"- {n['text']} ({n['rests_on']['text']})" for n in map(notes.__getitem__, entry["notes"])]
    lines += ["", *said] if said else []
    lines += ["", f"`ptxspec show {v.opcode}` has the semantics and the corner cases.", ""]
    return "\n".join(lines)
