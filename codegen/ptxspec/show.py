"""The manual in the terminal: a whole page, or the part of it that is about one variant."""

from __future__ import annotations

import json
from typing import Any

from .diagnostics import PtxspecError, suggest
from .roots import Root


def page(root: Root, name: str, operands: int | None = None) -> str:
    """Markdown about an opcode or a variant. Raises PtxspecError with the nearest names for one that does not exist."""
    data = _data(root)
    if name in data["opcodes"]:
        path = root.generated / "manual" / f"{name}.md"
        try:
            return path.read_text("utf-8").partition("\n\n")[2]
        except OSError as e:
            raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    opcode, *names = name.split(".")
    if opcode not in data["opcodes"]:
        raise PtxspecError(f"unknown opcode '{opcode}'; {suggest(opcode, data['opcodes'])}")
    same = [v for v in data["variants"] if _key(v["variant"]) == (opcode, frozenset(names))]
    found = [v for v in same if operands in (None, v["operands"])]
    if not found:
        known = [v["variant"] for v in data["variants"] if _key(v["variant"])[0] == opcode]
        more = f" with {operands} operands" if same else ""
        raise PtxspecError(f"{name}{more} does not exist; {suggest(name, known)}")
    return "\n".join(_variant(data, v) for v in found)


def _key(spelling: str) -> tuple[str, frozenset[str]]:
    opcode, *names = spelling.split(".")
    return opcode, frozenset(names)


def _data(root: Root) -> dict[str, Any]:
    path = root.generated / "data" / "ptxspec.json"
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    except ValueError as e:
        raise PtxspecError(f"{path}: not readable: {e}; run `ptxspec generate`") from None
    return data


def _variant(data: dict[str, Any], v: dict[str, Any]) -> str:
    opcode, *names = v["variant"].split(".")
    about = data["opcodes"][opcode]
    lines = [f"# {v['variant']}, {v['operands']} operand{'s' * (v['operands'] != 1)}", "", about["summary"], ""]
    lines += [f"- `.{n}`: {data['modifiers'][n]['summary']}" for n in names if n in data["modifiers"]]
    lines += [f"- `.{n}`: {data['types'][n]['summary']}" for n in names if n in data["types"]]
    lines += ["", f"- requires: {_requirement(v['requires'], data)}"]
    if v["manual"] is None:
        lines.append("- the manual does not list this spelling; the assembler takes it")
    elif v["manual"] != v["requires"]:
        lines.append(f"- the manual says: {_requirement(v['manual'], data)}")
    rule = data["nan_rules"][v["nan"]]
    if v["means"]:
        lines.append(f"- stands for `{v['means']}`")
    for a in v["accuracy"]:
        lines.append(
            f"- error: at most {a['bound']} ({a['kind']}), {a['range'] or 'for all operands'} ({a['section']})"
        )
    lines += [f"- claim: {v['claim']}", f"- NaN results: {rule['summary']} {rule['unspecified'] or ''}".rstrip()]
    lines += ["", f"`ptxspec show {opcode}` has the semantics and the corner cases.", ""]
    return "\n".join(lines)


def _requirement(r: dict[str, Any], data: dict[str, Any]) -> str:
    cuda = {p["version"]: p["cuda"] for p in data["ptx"]}
    release = f" (CUDA {cuda[r['ptx']]})" if cuda.get(r["ptx"]) else ""
    text = f"{r['target']} or newer, PTX {r['ptx']} or newer{release}"
    return text + (f", until PTX {r['until']}" if r["until"] else "")
