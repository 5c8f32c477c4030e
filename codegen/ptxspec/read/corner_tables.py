"""The key `corner_cases` of an instruction file -> tables of corner cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..basis import Basis
from ..catalog.likeness import nearest
from ..model import BOOL, CornerRow, CornerTable, Modifier, Operand, Selector, Value, Variant
from .cells import CLASSES, CellError, is_of, parse_value
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
    """Read one table. `variants` are those that it may be about; empty if some could not be read."""

    matching = [v for v in variants if selector.matches(v)]
    by_count: dict[int, list[Variant]] = {}
    for v in matching:
        by_count.setdefault(len(v.sources), []).append(v)
    changing = _changing(context, selector, matching)

    rows = []
    for i, row in enumerate(t["rows"]):
        at = (*where, "rows", i)
        count = len(row) - 1
        if count != len(t["rows"][0]) - 1:
            message = "the rows of a table have as many cells as its first one"
            help = "put rows for another number of operands in a table of their own"
            context.errors.append(doc.error(at, message, help))
            continue
        about = by_count.get(count, [])
        if not about and by_count:
            message = f"a row of {count} operand{'s' * (count != 1)} and a result matches no variant of the table"
            context.errors.append(doc.error(at, message, f"operands: {', '.join(map(str, sorted(by_count)))}"))
            continue
        cells = list(_cells(doc, context, at, row, about[0].sources if about else ()))
        if len(cells) == len(row):
            operands, results = tuple(o for (o,) in cells[:-1]), cells[-1]
            without = tuple(m.name for m in changing if _changes(m, operands, results[0], about))
            rows.append(CornerRow(operands, results, doc.marks[at], without))
    return CornerTable(words(t["title"]), basis, selector, tuple(rows))


def _changing(context: Context, selector: Selector, variants: Iterable[Variant]) -> list[Modifier]:
    """Return the modifiers of a table's variants that change what rows say, and that the table does not name."""
    names = {name for v in variants for name in (*v.modifiers, *v.means)} - selector.names
    found = [m for name, m in context.modifiers.items() if name in names]
    return [m for m in found if m.changed_operands or m.changed_results]


def _changes(m: Modifier, operands: Sequence[Value], result: Value, variants: Sequence[Variant]) -> bool:
    """Return whether a modifier changes an operand or the result of a row, in the types of any of the variants."""
    columns = [{v.sources[i].kind for v in variants} for i in range(len(operands))]
    cells = [(o, kinds, m.changed_operands) for o, kinds in zip(operands, columns, strict=True)]
    # The NaN of a NaN is no overflow.
    nan = any(is_of(o, "NaN", kind) for o, kinds in zip(operands, columns, strict=True) for kind in kinds)
    changed = tuple(sort for sort in m.changed_results if not (nan and sort == "overflow"))
    if result.kind == "operand":
        i = [s.name for s in variants[0].sources].index(result.text)
        cells.append((operands[i], columns[i], changed))
    else:
        cells.append((result, {v.result.kind for v in variants}, changed))
    return any(is_of(cell, sort, kind) for cell, kinds, sorts in cells for kind in kinds for sort in sorts)


def _cells(
    doc: Document, context: Context, where: Where, row: list[Any], operands: Sequence[Operand]
) -> Iterator[tuple[Value, ...]]:
    """Yield each cell's values: one, or two for the results p|q. `operands` are those of a variant that the row is
    about; empty if that is not known."""
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
    """Return the bool that a text names: in a cell such as true|false, the parts are texts."""
    return {"true": True, "false": False}.get(part, part) if isinstance(part, str) else part
