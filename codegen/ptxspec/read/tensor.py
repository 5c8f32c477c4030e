"""spec/tensor -> all that is known about mma: its forms, the lanes of elements, and how products are summed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ..catalog import Catalog
from ..matrices.choices import Choices
from ..matrices.forms import Form, Taken, form_of
from ..matrices.rows import Apart, Recorded, Row
from ..model.tensor import (
    OPERATORS,
    Element,
    ElementPosition,
    SuppliedRegister,
    TensorCores,
    TensorLayout,
    register_type,
)
from .context import Context, words
from .notation import NotationError, expand
from .outside import are_known, requirement
from .positioned import Document, Where

FILES = ("arithmetic", "layouts", "mma")
_NUMBERS = ("bytes", "bits", "kept", "group")
_NAMES = ("targets", "shapes", "inputs", "kinds")
# The variables of formulas. A formula of a lane has its number, and this // 4 and % 4; one of an item in a register
# also has the item's number there; one of an element also has its register, its place in it, the elements of a
# register, and the rows of A for which a lane has registers.
_OF_LANES = ("lane", "g", "t")
_OF_REGISTERS = (*_OF_LANES, "i")
VARIABLES = (*_OF_REGISTERS, "r", "j", "E", "R")


def read_tensor(
    docs: Mapping[str, Document | None], recorded: Document | None, context: Context, catalog: Catalog
) -> TensorCores:
    """Return what can be read; report the rest. Without one of the files, nothing is known."""
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
        tuple(given for i, at in enumerate(layouts.data["metadata"])
              if (given := _given(layouts, ("metadata", i), at, context))),
        {name: given for name, at in layouts.data["scales"].items()
         if (given := _given(layouts, ("scales", name), at, context))},
        reader.elements,
        reader.packed,
        tuple(_taken(mma, context)),
        tuple(tuple(group) for group in mma.data["spelling"]["ordered"]),
        tuple(mma.data["spelling"]["repeatable"]),
        reader.groups,
        reader.choices,
        reader.unsigned(),
        words(mma.data["observed"]),
        tuple(_recorded(recorded, arithmetic, context, catalog)),
        tuple(_apart(recorded, context, catalog)),
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
        product = _formula(doc, (*where, "products", "of"), products["of"], context, _OF_LANES) if products else ""
        yield TensorLayout(
            places, tuple(about.get("shapes", ())), tuple(about.get("inputs", ())), int(products.get("count", 1)),
            product or "",
        )  # fmt: skip


def _place(doc: Document, where: Where, at: Mapping[str, Any], context: Context) -> ElementPosition | None:
    row, column = (_formula(doc, (*where, key), at[key], context) for key in ("row", "column"))
    return ElementPosition(row, column, int(at.get("elements", 0))) if row and column else None


def _given(doc: Document, where: Where, at: Mapping[str, Any], context: Context) -> SuppliedRegister | None:
    row, column = (_formula(doc, (*where, key), at[key], context, _OF_REGISTERS) for key in ("row", "column"))
    chosen = _formula(doc, (*where, "chosen"), at["chosen"], context, _OF_LANES)
    if not (row and column and chosen):
        return None
    return SuppliedRegister(row, column, chosen, at["basis"], tuple(at.get("shapes", ())), tuple(at.get("inputs", ())))


def _formula(
    doc: Document, where: Where, text: Any, context: Context, variables: tuple[str, ...] = VARIABLES
) -> str | None:
    """Return a formula in uniform notation; report a text that is not a formula."""
    try:
        tree = ast.parse(str(text).strip(), mode="eval").body
    except SyntaxError:
        tree = None
    nodes = [n for n in ast.walk(tree) if not isinstance(n, ast.expr_context | ast.operator)] if tree else []
    if tree is not None and all(_is_part(n, variables) for n in nodes):
        return ast.unparse(tree)
    message = "a formula is made of numbers, + * // %, parentheses and the names " + ", ".join(variables)
    context.errors.append(doc.error(where, message))
    return None


def _is_part(node: ast.AST, variables: tuple[str, ...]) -> bool:
    if isinstance(node, ast.BinOp):
        divides_by_zero = isinstance(node.right, ast.Constant) and not node.right.value
        return type(node.op) in OPERATORS and not (divides_by_zero and isinstance(node.op, ast.FloorDiv | ast.Mod))
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    return isinstance(node, ast.Name) and node.id in variables


# Forms


def _taken(doc: Document, context: Context) -> Iterator[Taken]:
    """Yield the rows of what the braces of matrices may contain."""
    types = doc.data["elements"]["bits"]
    for i, row in enumerate(doc.data["taken"]):
        for key in ("of", "inputs"):
            for n, name in enumerate(row.get(key, ())):
                context.known(doc, ("taken", i, key, n), name, types, "type")
        registers, constants, of, inputs = (tuple(row.get(x, ())) for x in ("registers", "constants", "of", "inputs"))
        yield Taken(registers, constants, of, inputs, row.get("form", ""))


class _Forms:
    """The reader of mma.yaml."""

    def __init__(self, doc: Document, context: Context, catalog: Catalog) -> None:
        self._doc, self._context, self._catalog = doc, context, catalog
        rules = doc.data["elements"]
        self.elements = {name: _element(about) for name, about in rules["bits"].items()}
        self.packed = {kind: {name: _element(x) for name, x in types.items()}
                       for kind, types in rules["packed"].items()}  # fmt: skip
        self.groups = {int(bits): int(of) for bits, of in doc.data["metadata"]["groups"].items()}
        self.choices = _choices(doc)
        self._registers = doc.data["registers"]

    def unsigned(self) -> dict[str, str]:
        """Return the types of scales that are another type without its sign."""
        every = self._doc.data["scales"]["unsigned"]
        where: Where = ("scales", "unsigned")
        return {name: of for name, of in every.items()
                if self._context.known(self._doc, (*where, name), of, self.elements, "type")}  # fmt: skip

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
                self._check(form)
            except ValueError as e:
                self._context.errors.append(self._doc.error((*where, "syntax"), str(e)))
                return
            yield form._replace(registers=self._registers_of(form))

    def _element(self, form: Form, of: str) -> Element:
        return self.packed.get(form.kind, {}).get(of) or self.elements[of]

    def _check(self, form: Form) -> None:
        bits = self._element(form, form.types[1]).bits
        if form.is_sparse and bits not in self.groups:
            raise ValueError(f"metadata.groups says nothing of elements of {bits} bits, as those of A are")
        if form.is_scaled and form.scales not in self.choices.bytes:
            raise ValueError(f"scales.bytes says nothing of {form.scales}X")

    def _registers_of(self, form: Form) -> tuple[int, int, int, int]:
        """Return how many registers D, A, B and C have."""
        special = self._registers.get(form.shape, {}).get(form.types[1], {})
        if {form.types[0], form.types[3]} <= {*special.get("c", ())}:
            d, c = (int(special["c"][t]) for t in (form.types[0], form.types[3]))
            return d, int(special["a"]), int(special["b"]), c
        d, a, b, c = (
            max(1, rows * columns * self._element(form, t).bits // 32 // int(register_type(t)[1:]))
            for (rows, columns), t in zip(form.sizes, form.types, strict=True)
        )
        return d, a, b, c


def _choices(doc: Document) -> Choices:
    selectors, scales = doc.data["metadata"]["selectors"], doc.data["scales"]
    return Choices(
        {of: {shape: int(count) for shape, count in shapes.items()} for of, shapes in selectors.items()},
        {int(name.removesuffix("X")): tuple(map(int, ids)) for name, ids in scales["bytes"].items()},
        {matrix: tuple(map(int, ids)) for matrix, ids in scales["threads"].items()},
    )


def _element(about: Any) -> Element:
    if isinstance(about, Mapping):
        return Element(int(about["bits"]), int(about["shift"]))
    return Element(int(about))
