"""The key `corner_cases` of an instruction file -> tables of corner cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..basis import Basis
from ..catalog.likeness import nearest
from ..model import BOOL, CornerRow, CornerTable, Operand, Selector, Value, Variant
from .cells import CLASSES, CellError, parse_value
from .context import Context, words
from .positioned import Document, Where


def read_table(
    doc: Document,
    context: Context,
    where: Where,
    t: dict[str, Any],
    selector: Selector,
    basis: Basis,
    variants: Sequence[Variant],
) -> CornerTable:
    """Read one table. `variants` are those that it may be about; empty where not all could be read."""

    @cache
    def operands_of(count: int) -> Sequence[Operand]:
        """Return the operands of a variant of the table that has so many. Most tables are about their first variants
        already."""
        found = (v.sources for v in variants if len(v.sources) == count and selector.matches(v))
        return next(found, ())

    @cache
    def counts() -> set[int]:
        return {len(v.sources) for v in variants if selector.matches(v)}

    rows = []
    for i, row in enumerate(t["rows"]):
        at = (*where, "rows", i)
        count = len(row) - 1
        if count != len(t["rows"][0]) - 1:
            message = "the rows of a table have as many cells as its first one"
            help = "put rows for another number of operands in a table of their own"
            context.errors.append(doc.error(at, message, help))
            continue
        if not operands_of(count) and counts():
            message = f"a row of {count} operand{'s' * (count != 1)} and a result matches no variant of the table"
            context.errors.append(doc.error(at, message, f"operands: {', '.join(map(str, sorted(counts())))}"))
            continue
        cells = list(_cells(doc, context, at, row, operands_of(count)))
        if len(cells) == len(row):
            *operands, results = cells
            rows.append(CornerRow(tuple(o for (o,) in operands), results, doc.marks[at]))
    return CornerTable(words(t["title"]), basis, selector, tuple(rows))


def _cells(
    doc: Document, context: Context, where: Where, row: list[Any], operands: Sequence[Operand]
) -> Iterator[tuple[Value, ...]]:
    """The values of each cell: one, or in the last that of p and that of q. `operands` are those of a variant that the
    row is about; none where that is not known."""
    for i, cell in enumerate(row):
        last = i == len(row) - 1
        names = (tuple(o.name for o in operands) or ("a", "b", "c")[: len(row) - 1]) if last else ()
        parts = cell.split("|") if last and isinstance(cell, str) else [cell]
        try:
            if len(parts) > 2:
                raise CellError(f"'{cell}' is more than two results")
            values = tuple(parse_value(_truth(part), names) for part in parts)
            if not last and operands and (values[0].kind == "bool") > (operands[i].kind == BOOL):
                raise CellError(f"'{values[0].text}' is a truth value, not a {operands[i].kind}")
            yield values
        except CellError as e:
            found = nearest(str(cell), (*CLASSES, *names))
            kinds = "a class as -subnormal, a number as 1.5 or 0x1.8p3, bits as 0x7fff"
            help = f"did you mean '{found[0]}'?" if found else ", or ".join((f"write {kinds}", *names))
            context.errors.append(doc.error((*where, i), str(e), help))


def _truth(part: Any) -> Any:
    """Return the bool that a text names. Beside another one, as in true|false, true and false are text."""
    return {"true": True, "false": False}.get(part, part) if isinstance(part, str) else part
