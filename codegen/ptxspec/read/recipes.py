"""The keys `instead` and `missing` of an instruction file: what to write where variants are missing, and for spellings
that PTX does not have.

A recipe is PTX, one statement after another. `%d` and the names of the sources are the variant's operands; all other
registers are the recipe's own. Its spellings are in a notation that the variant's names fill (recipes/spellings.py).
`%a0` is a register like any other. A statement with `#` stands for one statement for each lane, with the lane's number
in that place: `max.f32 %d#, %a#, %b#;`. An operand `{%c}` is present if the variant has it. `$shift` is the text that
the entry's `where` has for one of the variant's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..basis import Basis
from ..diagnostics import Diagnostic
from ..model import NAN_BITS, Code, RecipeEntry, Selector, WrittenStatement
from .context import Context, words
from .notation import parts
from .positioned import Document, Where

_STATEMENT = re.compile(
    r"\s*(?:@(?P<guard>!?%\w+#?)\s+)?(?P<spelling>[a-z][^\s;]*)\s+(?P<operands>[^;]*[^;\s])\s*;(?P<rest>.*)"
)
_OPERAND = re.compile(r"!?%\w+#?|\w[\w.]*|\$\w+")
_EXAMPLE = "write a statement on each line, as in fma.rn.f32 %d, %a, %t, %b;"


def read_recipes(
    doc: Document,
    context: Context,
    entries: Sequence[dict[str, Any]],
    selector: Callable[[Where, dict[str, Any]], Selector],
    basis: Callable[[Where, dict[str, Any]], Basis],
    under: str = "instead",
) -> tuple[RecipeEntry, ...]:
    found = []
    for i, entry in enumerate(entries):
        at: Where = (under, i)
        key = "none" if "none" in entry else "ptx"
        if "since" in entry:
            context.known(doc, (*at, "since"), entry["since"], context.targets, "target")
        for name, values in entry.get("where", {}).items():
            for of in values:
                known = (*context.types, *context.modifiers)
                context.known(doc, (*at, "where", name, of), of, known, "modifier or type")
        for other in ("ptx", "differs", "since", "where"):
            if key == "none" and other in entry:
                message = f"'none' says why there is no recipe, and '{other}' belongs to one"
                context.errors.append(doc.error((*at, other), message, "remove one of the two", key=True))
        code = Code(entry[key], doc.name, doc.blocks.get((*at, key)) or doc.marks[(*at, key)], doc.lines)
        if key == "ptx" and (*at, key) not in doc.blocks:
            context.errors.append(
                doc.error((*at, key), "a recipe is one line or a literal block", "write `|` after it")
            )
            continue
        found.append(
            RecipeEntry(
                selector=selector(at, entry),
                statements=tuple(_statements(code, context.errors)) if key == "ptx" else (),
                differs=entry.get("differs", NAN_BITS),
                none=words(entry.get("none", "")),
                basis=basis(at, entry),
                code=code,
                since=entry.get("since", ""),
                where=entry.get("where", {}),
            )
        )
    return tuple(found)


def _statements(code: Code, errors: list[Diagnostic]) -> Iterator[WrittenStatement]:
    for number, line in enumerate(code.text.split("\n"), 1):
        if not line.strip():
            continue
        start = len(line) - len(line.lstrip())
        whole = code.mark(number, start, len(line.strip()))
        match = _STATEMENT.fullmatch(line)
        if match is None:
            errors.append(code.error(whole, f"'{line.strip()}' is no statement", _EXAMPLE))
            continue
        if match["rest"].strip():
            mark = code.mark(number, match.start("rest"), len(match["rest"]))
            errors.append(code.error(mark, "something stands behind the statement", _EXAMPLE))
            continue
        operands = []
        for at, text in parts(match["operands"]):
            names = [n.strip() for n in text[1:-1].split(",")] if text[:1] == "{" and text[-1:] == "}" else [text]
            optional = len(names) == 1 and names != [text]
            if not all(map(_OPERAND.fullmatch, names)):
                mark = code.mark(number, match.start("operands") + at, max(1, len(text)))
                help = "write a register as %a, registers of one's own as %t, constants as 0x7fff or 0f3F800000"
                errors.append(code.error(mark, f"'{text}' is no operand", help))
            operands.append((text,) if optional else tuple(names))
        yield WrittenStatement(match["guard"] or "", match["spelling"], tuple(operands), whole)
