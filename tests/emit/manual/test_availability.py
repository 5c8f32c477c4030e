"""What the matrix of availability and the history say is what queries say."""

from __future__ import annotations

import re
from collections import Counter

from helpers.manual import FOLDER, page, shown, spelled
from helpers.repository import database, specification
from helpers.sizes import each_size, spread

SPEC = specification()
DB = database()


@each_size
def test_the_matrix_is_what_the_queries_say(whole: bool) -> None:
    head, *rows = page(FOLDER / "availability.html").rows
    texts = [re.findall(r"\w+(?:\.|\{)\S+(?: \(\d\))?", r[0]) for r in rows]
    listed = [[name for text in row for name in spelled(text)] for row in texts]
    assert Counter(name for names in listed for name in names) == Counter(shown(v) for v in DB.variants if not v.crash)
    assert all(len(r) == len(head) for r in rows)
    bases = [t.name for t in SPEC.targets.values() if not t.base]
    order = {p: i for i, p in enumerate(SPEC.versions)}
    columns = {}
    for place, text in enumerate(head[1:], 1):
        first, _, last = text.partition(" to ")
        if first in bases:
            columns |= dict.fromkeys(bases[bases.index(first) : bases.index(last or first) + 1], place)
        else:
            # The a and f kinds that take more than their bases.
            columns |= dict.fromkeys(text.split(", "), place)
    assert [t for t in columns if t in bases] == bases
    pairs = [(t, ptx) for t in SPEC.targets.values() for ptx in list(SPEC.versions)[order[t.ptx] :]]
    for t, ptx in pairs if whole else spread(pairs, 100):
        place = columns.get(t.name) or columns[t.base]
        said = set()
        for row, names in zip(rows, listed, strict=True):
            first, _, last = row[place].rstrip("!").replace("\N{CHECK MARK}", t.ptx).partition("\N{EN DASH}")
            if first and order[first] <= order[ptx] <= order[last or ptx]:
                said.update(names)
        assert said == {shown(v) for v in DB.available(target=t.name, ptx=ptx)}, (t.name, ptx)


def names(cell: str) -> set[str]:
    return {n for n in re.split(r",\s+", cell) if n}


def variants_of(cell: str) -> set[str]:
    """The variants that "abs: .{f32,f64}; add: {.ftz}.f32 (2)" names."""
    parts = [part.strip().partition(": ") for part in cell.split(";") if part]
    return {name for opcode, _, found in parts for rest in names(found) for name in spelled(opcode + rest)}


@each_size
def test_the_history_is_what_the_queries_say(whole: bool) -> None:
    rows = {r[0]: r[1:] for r in page(FOLDER / "history.html").rows}
    versions = list(SPEC.versions)
    steps = list(zip(["", *versions], versions, strict=False))
    for old, new in steps if whole else spread(steps, 12):
        brought, _, ended = rows[new][2].partition("No longer: ")
        added, removed = DB.diff_ptx(old, new) if old else (DB.available(ptx=new), [])
        assert (variants_of(brought), variants_of(ended)) == (set(map(shown, added)), set(map(shown, removed))), new
        assert names(rows[new][1]) == {t.name for t in SPEC.targets.values() if t.ptx == new}
    for t in SPEC.targets.values():
        assert variants_of(rows[t.name][1]) == {
            shown(v) for v in DB.variants if v.requires.target == t.name and not v.crash
        }
