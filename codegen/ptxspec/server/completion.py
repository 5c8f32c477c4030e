"""Completions of a spelling: names that lead to an instruction that exists on the targets of the check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..catalog.explaining import summary
from ..lint import traces
from ..lint.languages import BLOCKS, CONTAINERS, PROGRAMS, PTX, RUST
from ..lint.reading import Whole
from ..query.database import Database, Variant
from .judged import CheckedText

# The beginning of a statement up to the cursor: an optional label and guard, the opcode and its names.
_BEGUN = re.compile(
    r"(?:^|[;{}\n\r]|\\[nt]|\*/|[\w$]:)[^\S\n]*(?:@!?[%$\w]+\s+)?(?P<opcode>[A-Za-z]\w*)(?P<names>(?:\.[\w:]*)*)\Z"
)
# A call of inline assembly up to its first string, with the words that C++, LLVM and MLIR allow before it.
_ASM = re.compile(
    r"(?:asm\w*|Asm\.Emit\w*)[^\w\"']*"
    r"(?:(?:volatile|goto|inline|sideeffect|alignstack|has_side_effects|asm_dialect|att)[^\w\"']*)*(?:[rR]?#*[\"']*)\Z"
)
_NEAR = 400


class Item(NamedTuple):
    """A word that may replace the text from `start` to the cursor. Words that come next in the manual's order are
    first."""

    start: int
    word: str
    about: str
    is_opcode: bool
    is_next: bool = True


def complete(db: Database, judged: CheckedText, offset: int) -> list[Item]:
    """Return the words that may stand at an offset of a text."""
    line = judged.text.rfind("\n", 0, offset) + 1
    if not re.search(r"[A-Za-z][\w.:]*\Z", judged.text[line:offset]):
        return []
    written = _written(judged.text, judged.language, offset)
    begun = _BEGUN.search(written) if written is not None else None
    if begun is None:
        return []
    opcode, names = begun["opcode"], begun["names"].split(".")[1:]
    if not judged.text.endswith(names[-1] if names else opcode, 0, offset):
        return []
    places = judged.places(offset)
    if not names:
        start = offset - len(opcode)
        begun_so = (o for o in db.opcodes.values() if o.name.startswith(opcode))
        there = (o for o in begun_so if all(any(_is_there(db, v, p) for v in o.variants) for p in places))
        return [Item(start, o.name, o.summary, True) for o in there]
    if opcode not in db.opcodes:
        return []
    *before, begins = names
    items = [dict(_names(db, opcode, before, *place)) for place in places]
    common = (n for n in items[0] if n.startswith(begins) and all(n in others for others in items))
    # With several targets, the instruction must exist on each.
    return [Item(offset - len(begins), n, _about(db, n), False, items[0][n]) for n in common]


def _names(db: Database, opcode: str, before: Sequence[str], *place: str | None) -> Iterator[tuple[str, bool]]:
    """Yield the names that may follow others, each with whether it comes next in the manual's order."""
    modifiers, types = db.split(before)
    asked = frozenset(modifiers)
    leading, leading_on = (db.data["assembler"][key] for key in ("leading", "leading_on"))
    nexts: dict[str, bool] = {}
    for v in db.opcodes[opcode].variants:
        if not (asked <= v.modifiers and v.types[: len(types)] == types and _is_there(db, v, place)):
            continue
        # Modifiers after a type are accepted, but nobody writes them there.
        missing = [n for n in v.spelling.split(".")[1:] if n in v.modifiers - asked and not types]
        # The assembler accepts some only directly behind the opcode.
        if first := [n for n in missing if n in leading or opcode in leading_on.get(n, ())]:
            missing = [] if before else first
        elif not missing and asked == v.modifiers and len(types) < len(v.types):
            missing = [v.types[len(types)]]
        for i, n in enumerate(missing):
            nexts[n] = nexts.get(n, False) or i == 0
    yield from sorted(nexts.items(), key=lambda item: not item[1])


def _is_there(db: Database, v: Variant, place: Iterable[str | None]) -> bool:
    target, ptx = place
    return db.takes(v, target, ptx) and db.is_advisable(v, target, ptx)


def _about(db: Database, name: str) -> str:
    return summary(db, name) if name in db.modifiers else str(db.data["types"][name]["summary"])


def _written(text: str, language: str, offset: int) -> str | None:
    """Return the PTX before an offset, as written; None if it is not certainly PTX."""
    if language == PTX:
        before = text[max(0, offset - _NEAR) : offset]
        return None if "//" in before[before.rfind("\n") + 1 :] else before
    if language in CONTAINERS:
        for name, block in CONTAINERS[language](Whole(text)):
            if block.text and block.outside(0) <= offset <= block.outside(len(block.text) - 1) + 1:
                inside = next(i for i in range(len(block.text) + 1) if block.outside(i) >= offset)
                return _written(block.text, BLOCKS[name], inside) if name in BLOCKS else None
        return None
    string = None
    if language in PROGRAMS:
        program = PROGRAMS[language](Whole(text))
        string = program.tree.at(max(0, offset - 1)).within(program.strings)
    if string is not None:
        start = program.literal(string.node).start
        outer, end = string.node.start_byte, string.node.end_byte
    else:
        # A string whose end is not written yet, in a macro, or in a language without a parser.
        line = text.rfind("\n", 0, offset) + 1
        quotes = [m.start() for m in re.finditer('"', text[line:offset])]
        if len(quotes) % 2 == 0:
            return None
        outer = line + quotes[-1]
        start, end = outer + 1, offset if language in PROGRAMS else len(text)
    before = text[max(0, outer - _NEAR) : outer]
    # In Rust, there are commas between the strings of one call.
    behind = before.rstrip().removesuffix("," if language == RUST else "")
    goes_on = behind.rstrip()[-1:] in ("'", '"') and traces.has(before)
    if not (_ASM.search(before) or goes_on or traces.has(text[start:end])):
        return None
    # A statement may begin in the string before this one.
    separator = "\n" if language == RUST else ""
    return (behind.rstrip()[:-1] + separator if goes_on else "") + text[start:offset]
