"""spec/tensor -> what is known of mma: its forms, the lanes that hold elements, and how products are summed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ..catalog import Catalog
from ..matrices.forms import Form, form_of
from ..matrices.rows import Apart, Recorded, Row
from ..model.tensor import OPERATORS, Element, Place, TensorCores, TensorLayout, register_type
from .context import Context, words
from .notation import NotationError, expand
from .outside import are_known, requirement
from .positioned import Document, Where

FILES = ("arithmetic", "layouts", "mma")
_NUMBERS = ("bytes", "bits", "kept", "group")
_NAMES = ("targets", "shapes", "inputs", "kinds")
# What a formula is made of: lane // 4, lane % 4, the number of an element, its register, its place there, the elements
# of a register, and the rows of A that a lane has registers of.
VARIABLES = ("lane", "g", "t", "i", "r", "j", "E", "R")


def read_tensor(
    docs: Mapping[str, Document | None], recorded: Document | None, context: Context, catalog: Catalog
) -> TensorCores:
    """Return what can be read; complain about the rest. Without one of the files, nothing is known."""
    arithmetic, layouts, mma = (docs.get(name) for name in FILES)
    if arithmetic is None or layouts is None or mma is None:
        return TensorCores()
    reader = _Forms(mma, context, catalog)
    return TensorCores(
        {name: (words(s["title"]), s["url"]) for name, s in arithmetic.data["sources"].items()},
        tuple(_rows(arithmetic, context)),
        tuple(reader.forms()),
        tuple(_layouts(layouts, context)),
        {name: place for name, at in layouts.data["loads"].items()
         if (place := _place(layouts, ("loads", name), at, context))},
        reader.elements,
        reader.packed,
        words(mma.data["observed"]),
        tuple(_recorded(recorded, arithmetic, context, catalog)),
        tuple(_apart(recorded, context, catalog)),
        _ids(mma, "bytes"),
        _ids(mma, "threads"),
    )  # fmt: skip


def _recorded(doc: Document | None, arithmetic: Document, context: Context, catalog: Catalog) -> Iterator[Recorded]:
    if doc is None:
        return
    context.known(doc, ("source",), doc.data["source"], arithmetic.data["sources"], "source")
    for i, s in enumerate(doc.data["sets"]):
        if context.known(doc, ("sets", i, "target"), s["target"], catalog.targets, "target"):
            counts = (int(s[name]) for name in ("products", "vectors", "equal"))
            yield Recorded(s["gpu"], s["target"], s["form"], *counts)


def _apart(doc: Document | None, context: Context, catalog: Catalog) -> Iterator[Apart]:
    if doc is None:
        return
    for i, a in enumerate(doc.data["apart"]):
        if context.known(doc, ("apart", i, "target"), a["target"], catalog.targets, "target"):
            counts = int(a["results"]), int(a["not_nearest"])
            yield Apart(a["form"], a["target"], *counts, float(a["median"]), float(a["largest"]))


def _ids(doc: Document, of: str) -> dict[str, tuple[int, ...]]:
    """The constants that choose scales."""
    return {name: tuple(map(int, ids)) for name, ids in doc.data["scales"][of].items()}


# Arithmetic


def _rows(doc: Document, context: Context) -> Iterator[Row]:
    for i, row in enumerate(doc.data["rows"]):
        targets = row.get("targets", ())
        known = [context.known(doc, ("rows", i, "targets", n), t, context.targets, "target")
                 for n, t in enumerate(targets)]  # fmt: skip
        if all(known):
            yield _row(row)


def _row(row: Mapping[str, Any]) -> Row:
    found: dict[str, Any] = {**row, "zero": {name: int(x) for name, x in row.get("zero", {}).items()}}
    found |= {key: tuple(row[key]) for key in _NAMES if key in row}
    return Row(**found | {key: int(row[key]) for key in _NUMBERS if key in row})


# Layouts


def _layouts(doc: Document, context: Context) -> Iterator[TensorLayout]:
    for i, about in enumerate(doc.data["layouts"]):
        where: Where = ("layouts", i)
        places = {name: place for name, at in about["places"].items()
                  if (place := _place(doc, (*where, "places", name), at, context))}  # fmt: skip
        products = about.get("products", {})
        product = _formula(doc, (*where, "products", "of"), products["of"], context) if products else ""
        yield TensorLayout(
            places, tuple(about.get("shapes", ())), tuple(about.get("inputs", ())), int(products.get("count", 1)),
            product or "",
        )  # fmt: skip


def _place(doc: Document, where: Where, at: Mapping[str, Any], context: Context) -> Place | None:
    row, column = (_formula(doc, (*where, key), at[key], context) for key in ("row", "column"))
    return Place(row, column, int(at.get("elements", 0))) if row and column else None


def _formula(doc: Document, where: Where, text: Any, context: Context) -> str | None:
    """Return a formula as it is written everywhere; complain about what is none."""
    try:
        tree = ast.parse(str(text).strip(), mode="eval").body
    except SyntaxError:
        tree = None
    nodes = [n for n in ast.walk(tree) if not isinstance(n, ast.expr_context | ast.operator)] if tree else []
    if tree is not None and all(map(_is_part, nodes)):
        return ast.unparse(tree)
    message = "a formula is made of numbers, + * // %, parentheses and the names " + ", ".join(VARIABLES)
    context.errors.append(doc.error(where, message))
    return None


def _is_part(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        divides_by_zero = isinstance(node.right, ast.Constant) and not node.right.value
        return type(node.op) in OPERATORS and not (divides_by_zero and isinstance(node.op, ast.FloorDiv | ast.Mod))
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    return isinstance(node, ast.Name) and node.id in VARIABLES


# Forms


class _Forms:
    """The reader of mma.yaml."""

    def __init__(self, doc: Document, context: Context, catalog: Catalog) -> None:
        self._doc, self._context, self._catalog = doc, context, catalog
        rules = doc.data["elements"]
        self.elements = {name: _element(about) for name, about in rules["bits"].items()}
        self.packed = {kind: {name: _element(x) for name, x in types.items()}
                       for kind, types in rules["packed"].items()}  # fmt: skip
        self._registers = doc.data["registers"]

    def forms(self) -> Iterator[Form]:
        for part in ("forms", "sparse"):
            for i, entry in enumerate(self._doc.data[part]):
                where: Where = (part, i)
                if are_known(self._doc, where, entry, self._context):
                    yield from self._of(where, entry)

    def _of(self, where: Where, entry: Mapping[str, Any]) -> Iterator[Form]:
        opcode, _, names = "".join(entry["syntax"].split()).partition(".")
        requires = requirement(entry, self._catalog)
        try:
            spellings = expand(f".{names}", {})
        except NotationError as e:
            self._context.errors.append(self._doc.error((*where, "syntax"), str(e), e.help))
            return
        for spelled in spellings:
            try:
                form = form_of(
                    ".".join((opcode, *spelled)), self.elements, (0, 0, 0, 0), requires,
                    entry.get("manual") != "none", entry.get("computes") != "nothing",
                )  # fmt: skip
            except ValueError as e:
                self._context.errors.append(self._doc.error((*where, "syntax"), str(e)))
                return
            yield form._replace(registers=self._registers_of(form))

    def _registers_of(self, form: Form) -> tuple[int, int, int, int]:
        """How many registers D, A, B and C have."""
        m, n, k = form.size
        special = self._registers.get(form.shape, {}).get(form.types[1], {})
        if {form.types[0], form.types[3]} <= {*special.get("c", ())}:
            d, c = (int(special["c"][t]) for t in (form.types[0], form.types[3]))
            return d, int(special["a"]), int(special["b"]), c
        packed = self.packed.get(form.kind, {})
        elements = (m * n, m * k // (2 if form.is_sparse else 1), n * k, m * n)
        bits = [(packed.get(t) or self.elements[t]).bits for t in form.types]
        d, a, b, c = (
            max(1, count * own // 32 // int(register_type(t)[1:]))
            for count, own, t in zip(elements, bits, form.types, strict=True)
        )
        return d, a, b, c


def _element(about: Any) -> Element:
    if isinstance(about, Mapping):
        return Element(int(about["bits"]), int(about["shift"]))
    return Element(int(about))
