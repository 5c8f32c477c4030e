"""The facts about an instruction, in a few lines of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..lint.languages import CPP, MLIR, PYTHON
from ..lint.linter import Met
from ..query import calls, functions
from ..query.answers import told
from ..query.database import Database
from ..query.show import section
from ..query.verdicts import query
from .judged import CheckedText

# The characters with a meaning in Markdown.
_MARKS = re.compile(r"([\\`*_\[\]<>#|])")
# A special register, which inline assembly writes with two %.
_SPECIAL = re.compile(r"%%?([a-z]\w*)", re.ASCII)
# The name of a called function, one of an operation of MLIR or an instruction of LLVM, and the most characters in it.
_CALL = re.compile(r"(?<![\w.>])([A-Za-z_][\w.]*)\s*\(")
_OPERATION = re.compile(r"(?<![\w.%])([a-z][\w.]*)")
_LONGEST = 80
# The most lines of what a function compiles to.
_MOST = 24


def hover(db: Database, judged: CheckedText, offset: int, manual: Path) -> tuple[int, int, str] | None:
    """Return the part of a text that is an instruction's spelling, or the name of a called function of CUDA C++ or
    Triton, of an intrinsic or instruction of LLVM or of an operation of MLIR, and the facts about it; None if there is
    none. `manual` is the folder of the manual."""
    if found := judged.at(offset):
        return found[0].start, found[0].end, "\n".join(_lines(db, found, manual))
    if register := _register(db, judged, offset):
        return register
    if judged.language not in (CPP, MLIR, PYTHON):
        return None
    line = judged.text.rfind("\n", 0, offset) + 1
    names = _OPERATION if judged.language == MLIR else _CALL
    here = (m for m in names.finditer(judged.text, line, offset + _LONGEST) if m.start() <= offset <= m.end(1))
    name = next(here, None)
    known = [c for c in calls.named(db, f"{name[1]}()") if _is_of(db, c, name[1], judged.language)] if name else []
    if name is None or not known:
        return None
    targets = dict.fromkeys(target for target, _ in judged.places(offset))
    return name.start(), name.end(1), "\n".join(part for t in targets for part in _called(db, name[1], known, t))


def _is_of(db: Database, call: calls.FunctionCall, name: str, language: str) -> bool:
    """Return whether programs in a language can call a function by a name. Another language may have the same name:
    `math.exp` is an operation of MLIR, and in Python it is computed by the CPU."""
    if language == PYTHON:
        return call.name.partition(".")[0] in calls.TRITON
    is_of_nvcc = calls.compiler(db, call) == db.calls["compiler"]
    return is_of_nvcc and "." not in name if language == CPP else "." in name or not is_of_nvcc


def _register(db: Database, judged: CheckedText, offset: int) -> tuple[int, int, str] | None:
    """Return the part of a text that is the name of a special register, and the facts about it."""
    line = judged.text.rfind("\n", 0, offset) + 1
    here = (m for m in _SPECIAL.finditer(judged.text, line, offset + _LONGEST) if m.start() <= offset <= m.end())
    name = next(here, None)
    if name is None or f"%{name[1]}" not in db.special_registers:
        return None
    said: dict[str, None] = {}
    for target, ptx in judged.places(offset):
        answer = told(db, query(db, f"%{name[1]}", None, target, ptx), target, ptx)
        said |= dict.fromkeys((f"**{_plain(answer.head)}**", *(f"- {_plain(r)}" for r in answer.reasons)))
        said |= dict.fromkeys(f"- {fact}: {_plain(text)}" for fact, text in answer.facts)
    return name.start(), name.end(), "\n".join(said)


def _called(db: Database, name: str, found: list[calls.FunctionCall], target: str | None) -> Iterator[str]:
    head, *rest = functions.as_text(db, calls.name(db, name, found), found, target).split("\n")
    left = [f"  ... {len(rest) - _MOST} more lines"] * (len(rest) > _MOST)
    yield f"**{_plain(head)}**"
    if rest:
        yield from ("", "```text", *rest[:_MOST], *left, "```", "")


def _lines(db: Database, found: list[Met], manual: Path) -> Iterator[str]:
    v = found[0].variant
    assert v is not None
    yield from (f"**{v}**: {_plain(db.opcodes[v.opcode].summary)}", "")
    meanings = {**db.modifiers, **{name: about["summary"] for name, about in db.data["types"].items()}}
    yield from (f"- `.{n}` {_plain(meanings[n])}" for n in v.spelling.split(".")[1:] if n in meanings)
    yield ""
    said: dict[str, None] = {}
    for m in found:
        if m.variant is None:
            continue
        answer = told(db, query(db, m.variant.spelling, m.variant.operands, m.target, m.ptx), m.target, m.ptx)
        said |= dict.fromkeys((f"- **{_plain(answer.head)}**", *(f"  - {_plain(r)}" for r in answer.reasons)))
        said |= dict.fromkeys(f"- {name}: {_plain(fact)}" for name, fact in answer.facts if name != "help")
        if answer.recipe:
            title, recipe = answer.recipe
            said |= dict.fromkeys((f"- {_plain(title)}\n  ```ptx\n  " + recipe.ptx.replace("\n", "\n  ") + "\n  ```",))
    yield from said
    page, _, anchor = section(v, v.operands).partition("#")
    if (manual / page).is_file():
        yield from ("", f"[The manual]({(manual / page).as_uri()}#{anchor})")


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)
