"""The functions of CUDA C++, libdevice, LLVM, MLIR and Triton as data for the manual's search, with the PTX that
compilers generate for each in few words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ....model import Becomes, CallEvidence, Lowered

# The most instructions of a call whose spellings are listed, and the most calls of a function.
_TOLD, _CALLS = 2, 4
_SPELLING = re.compile(r"(?:@!?\S+ )?(\S+)")
_SOFTWARE = "software"
_NOT_TRIED = -1


def functions(found: CallEvidence, others: Sequence[CallEvidence], lowered: Lowered | None) -> dict[str, Any]:
    """Return the functions with plain names, without constructors, and those with names of several parts. All are told
    for the targets of the first evidence. `compilers` are those of the others, by the first part of their names.

    A name has the place of a history. If the PTX depends on the types of arguments, it has the number of calls left
    out, and then several such places, each with the types. A history is, for each run of targets, the place of a text
    and the number of these targets; a text is empty if a call does not compile, and its place is -1 for targets that
    were not tried."""
    texts: dict[str, int] = {}
    histories: dict[tuple[int, ...], int] = {}
    names: dict[str, dict[tuple[int, ...], str]] = {}
    ops = lowered.ops if lowered else {}
    for evidence, call in ((e, c) for e in (found, *others) for c in e.calls):
        name, _, takes = call.call.partition("(")
        if all(map(str.isidentifier, name.split("."))) and name != call.gives:
            on = {target: _told(b) for b in call.becomes for target in b.targets}
            each = (on.get(target, "") if target in evidence.targets else None for target in found.targets)
            runs = (
                (_NOT_TRIED if text is None else texts.setdefault(text, len(texts)), len([*alike]))
                for text, alike in groupby(each)
            )
            history = tuple(n for run in runs for n in run)
            for own in (name, *(op for op, some in ops.items() if name in some)):
                names.setdefault(own, {}).setdefault(history, takes.rstrip(")"))
    short = {texts.get(_SOFTWARE), _NOT_TRIED}

    def row(own: dict[tuple[int, ...], str]) -> Any:
        kept = [h for h in own if not short.issuperset(h[::2])][:_CALLS] or [*own][:1]
        rows = [(histories.setdefault(h, len(histories)), own[h]) for h in kept]
        return rows[0][0] if len(own) == 1 else [len(own) - len(rows), *rows]

    rows = {name: row(own) for name, own in names.items()}
    parts = {name.partition(".")[0] for name in rows if "." in name}
    compilers = {p: e.compiler for e in others for c in e.calls if (p := c.call.partition(".")[0]) in parts}
    return {
        "compiler": found.compiler, "compilers": compilers, "targets": found.targets, "texts": [*texts],
        "histories": [*histories], "names": rows,
    }  # fmt: skip


def _told(became: Becomes) -> str:
    """Return the PTX of a call in short: the spellings of its instructions, or the longest spelling if there are
    many."""
    if not became.ptx:
        return _SOFTWARE if became.count else "no instruction"
    statements = (s.strip() for s in became.ptx.split(";"))
    spellings = [m[1] for s in statements if s and s[0] != "." and (m := _SPELLING.match(s))]
    if became.count <= _TOLD:
        return ", ".join(spellings)
    return f"several instructions with {max(spellings, key=len)}"
