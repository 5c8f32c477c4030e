"""The model -> the manual's page about tensor cores: how targets add, which lane has which element, which lanes provide
metadata and scales, and the forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeVar

from ....matrices.choices import BASES
from ....matrices.forms import Form, first_about
from ....matrices.rows import NOT_RECORDED, Row, claim, in_short, row_of
from ....model import Spec
from ....model.tensor import Element, ElementPosition, MatrixEvidence, SuppliedRegister, TensorCores, named_for_all
from ....read.tensor import FILES
from ...text import Files
from .site import Site

OBSERVED, MACHINE_CODE = "spec/observed/tensor_cores.yaml", "spec/observed/matrix_code.yaml"
LANES = 32
# The forms whose layouts are drawn: one for each way in which elements fill registers.
_DRAWN = (
    ("m16n8k16", "f16", "f32"), ("m16n8k8", "tf32", "f32"), ("m16n8k32", "e4m3", "f32"), ("m16n8k64", "s4", "s32"),
    ("m8n8k4", "f64", "f64"), ("m8n8k4", "f16", "f32"),
)  # fmt: skip
_Row = TypeVar("_Row")
# The size of an element in a picture.
_WIDTH, _HEIGHT = 22, 18


@dataclass(frozen=True)
class Sums:
    """The sums that some targets compute of products of elements of some types. `how` describes them in words. `claims`
    has each claim with its targets and its basis. `error` is the number of results that are not the nearest number, and
    the median and the largest distance from exact sums; it is empty if it was not computed."""

    inputs: str
    result: str
    targets: str
    how: str
    claims: Sequence[tuple[str, str]]
    error: tuple[str, ...]


class Line(NamedTuple):
    """Numbers at the same height of a picture, each with its place."""

    y: str
    numbers: Sequence[tuple[str, int]]


def _line(row: int, numbers: Iterable[tuple[float, int]]) -> Line:
    """Return numbers centred in columns of a row. The heads of columns are in row -1."""
    return Line(f"{(row + 1.7) * _HEIGHT:g}", [(f"{(column + 1) * _WIDTH:g}", n) for column, n in numbers])


@dataclass(frozen=True)
class Run:
    """Neighbouring elements that a lane has in one register: the first element and their number."""

    row: int
    column: int
    length: int
    lane: int
    register: int


@dataclass(frozen=True)
class Picture:
    """A matrix with the lanes and registers of its elements."""

    name: str
    anchor: str
    rows: int
    columns: int
    place: ElementPosition | SuppliedRegister
    runs: Sequence[Run]
    registers: int
    per_register: int
    example: str

    @property
    def size(self) -> tuple[int, int]:
        return (self.columns + 1) * _WIDTH, (self.rows + 1) * _HEIGHT

    @property
    def heads(self) -> Iterator[Line]:
        """The numbers of columns and of rows."""
        yield _line(-1, ((c + 0.5, c) for c in range(self.columns)))
        yield from (_line(r, [(-0.5, r)]) for r in range(self.rows))

    @property
    def lanes(self) -> Iterator[Line]:
        """The lanes of each row's elements."""
        for row, runs in groupby(self.runs, lambda run: run.row):
            yield _line(row, ((run.column + run.length / 2, run.lane) for run in runs))

    def fill(self, register: int) -> str:
        """Return the path around the elements in one register of all lanes."""

        def spans(row: int) -> tuple[tuple[int, int], ...]:
            own = (run for run in self.runs if run.row == row)
            together = ((r, list(some)) for r, some in groupby(own, lambda run: run.register))
            return tuple((some[0].column, sum(x.length for x in some)) for r, some in together if r == register)

        return "".join(
            f"M{(column + 1) * _WIDTH} {(first + 1) * _HEIGHT}h{length * _WIDTH}v{rows * _HEIGHT}h-{length * _WIDTH}z"
            for first, rows, found in _alike(map(spans, range(self.rows)))
            for column, length in found
        )

    @property
    def grid(self) -> str:
        """The path of the lines between rows, and between lanes and registers in a row."""
        width = self.columns * _WIDTH
        lines = [f"M{_WIDTH} {(row + 1) * _HEIGHT}h{width}" for row in range(self.rows + 1)]
        ends = ((0, *(run.column + run.length for run in self.runs if run.row == row)) for row in range(self.rows))
        lines += [
            f"M{(column + 1) * _WIDTH} {(first + 1) * _HEIGHT}v{rows * _HEIGHT}"
            for first, rows, found in _alike(ends)
            for column in found
        ]
        return "".join(lines)


def _alike(rows: Iterable[_Row]) -> Iterator[tuple[int, int, _Row]]:
    """Yield runs of equal consecutive rows: the first row, their number, and their content."""
    first = 0
    for found, some in groupby(rows):
        count = sum(1 for _ in some)
        yield first, count, found
        first += count


@dataclass(frozen=True)
class Drawn:
    """A form, and the pictures of its matrices."""

    title: str
    anchor: str
    form: Form
    products: str
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Register:
    """A register that some of each four lanes provide: its forms or matrix, its lanes, the constants that the forms
    accept, the basis, and an example; and its picture, if it is the first that looks so."""

    name: str
    given: SuppliedRegister
    lanes: str
    constants: str
    basis: str
    example: str
    picture: Picture | None = None


@dataclass(frozen=True)
class Written:
    """The machine code that ptxas generates for forms with elements of some types, by groups of targets. The form is
    the one with the largest K."""

    forms: str
    inputs: str
    result: str
    codes: Sequence[str]


@dataclass(frozen=True)
class Listed:
    """Forms that differ only in the types of A and B."""

    shape: str
    names: str
    result: str
    inputs: str
    c: str
    registers: str
    needs: str


def emit(spec: Spec, site: Site) -> Files:
    cores = spec.tensor
    sources = [*(f"spec/tensor/{name}.yaml" for name in FILES), *([OBSERVED] if cores.recorded else [])]
    sources += [MACHINE_CODE] if cores.machine else []
    groups, written = _machine(spec, cores.machine) if cores.machine else ([], [])
    values = {
        "cores": cores,
        "sums": list(_sums(spec)),
        "groups": groups,
        "written": written,
        "drawn": [d for names in _DRAWN if (d := _drawn(cores, *names))],
        "stored": [(of // 2, of, bits) for bits, of in cores.groups.items()],
        "metadata": list(_metadata(cores)),
        "scales": [_scales(cores, matrix, g) for matrix, g in cores.scales.items()],
        "dense": list(_listed(spec, [f for f in cores.forms if not f.is_sparse])),
        "sparse": list(_listed(spec, [f for f in cores.forms if f.is_sparse])),
        "counts": (sum(not f.is_sparse for f in cores.forms), sum(f.is_sparse for f in cores.forms)),
        "recorded": sum(s.vectors for s in cores.recorded),
        "not_recorded": NOT_RECORDED,
    }
    return site.page("tensor-cores", sources, values)


# Sums


def _sums(spec: Spec) -> Iterator[Sums]:
    """Yield each rule, by the types of the elements and the result."""
    cores = spec.tensor
    plain = [t.name for t in spec.targets.values() if not t.base]
    computing: dict[tuple[str, str], list[tuple[Form, dict[str, Row | None]]]] = {}
    for f in cores.forms:
        if f.types[1] == f.types[2]:
            rows = {t: row_of(f, t, cores.rows) for t in plain if _has(spec, f, t)}
            computing.setdefault((f.types[1], f.types[0]), []).append((f, rows))
    for row in cores.rows:
        by_text: dict[tuple[str, str, str, tuple[tuple[str, str], ...], tuple[str, ...]], list[str]] = {}
        for a in row.inputs:
            for result in ("f32", "f16", "f64", "s32"):
                every = computing.get((a, result), [])
                on = [t for t in plain if any(rows.get(t) is row for _, rows in every)]
                if not on:
                    continue
                f = max((f for f, _ in every if row_of(f, on[0], cores.rows) is row), key=lambda f: f.size[2])
                bits = cores.element(f, a).bits
                claims: dict[tuple[str, str], list[str]] = {}
                for t in on:
                    claims.setdefault(claim(row, f, t, cores.recorded), []).append(t)
                told = tuple(_by_claim(claims))
                key = result, ", ".join(on), in_short(row, f, bits), told, _error(cores, row, a, result, on)
                by_text.setdefault(key, []).append(a)
        for (result, on_text, how, told, error), inputs in by_text.items():
            alone = f" in {row.shapes[0]}" if len(row.shapes) == 1 else ""
            kinds = f" with scales ({', '.join(row.kinds)})" if row.kinds else alone
            yield Sums(", ".join(inputs) + kinds, result, on_text, how, told, error)


def _by_claim(claims: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield each claim with its targets and its basis."""
    found: dict[str, list[str]] = {}
    for (name, why), targets in claims.items():
        found.setdefault(name, []).append(f"{', '.join(targets)}: {why}")
    yield from ((name, "; ".join(parts)) for name, parts in found.items())


def _has(spec: Spec, f: Form, target: str) -> bool:
    """Return whether a target or one of its kinds supports a form."""
    own = [t.name for t in spec.targets.values() if target in (t.name, t.base)]
    return any(spec.catalog.takes(f.requires, t) for t in own)


def _error(cores: TensorCores, row: Row, a: str, result: str, on: Sequence[str]) -> tuple[str, ...]:
    for x in cores.apart:
        shape, *types = x.form.split(".")
        fits = not row.kinds and (not row.shapes or shape in row.shapes)
        if types == [result, a] and x.target in on and fits:
            return f"{_figure(100 * x.not_nearest / x.results)} %", _figure(x.median), _figure(x.largest)
    return ()


def _figure(x: float) -> str:
    return f"{x:,.0f}" if x >= 99.5 else f"{x:.2g}"


# Machine code


def _machine(spec: Spec, machine: MatrixEvidence) -> tuple[list[str], list[Written]]:
    """Return the groups of targets for which ptxas generates the same code, and this code."""
    best: dict[tuple[str, ...], dict[str, Form]] = {}
    for f in spec.tensor.forms:
        d, a, b, _ = f.types
        # Other roundings, clamping and kinds without an effect change only a modifier.
        if a == b and f.listed and not {"satfinite", "rn", "rz", "rm", "rp"} & {*f.names}:
            key = _class(f), a, d
            for c in machine.codes.get(f.spelling, ()):
                for t in c.targets:
                    known = best.setdefault(key, {}).get(t)
                    if known is None or (f.size[2], -len(f.names)) > (known.size[2], -len(known.names)):
                        best[key][t] = f
    literal = {key: [_written(machine, by.get(t), t) for t in machine.targets] for key, by in best.items()}
    columns = list(zip(*literal.values(), strict=True))
    first = [columns.index(column) for column in columns]
    groups = [", ".join(_plain(spec, t) for t, m in zip(machine.targets, first, strict=True) if m == n)
              for n in dict.fromkeys(first)]  # fmt: skip
    rows: dict[tuple[str, str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]] = {}
    for (forms, a, d), by in best.items():
        told = tuple(literal[forms, a, d][n] for n in dict.fromkeys(first))
        alike = tuple(named_for_all(next(iter(by.values())), text) for text in told)
        rows.setdefault((forms, d, alike), []).append((a, told))
    written = []
    for (forms, d, alike), some in rows.items():
        inputs = ", ".join(a for a, _ in some)
        written.append(Written(forms, inputs, d, alike if len(some) > 1 else some[0][1]))
    return groups, written


def _class(f: Form) -> str:
    """Return what distinguishes forms besides their types and K: their M, N and names."""
    m, n, _ = f.size
    names = [n for n in f.names if n not in ("sync", "aligned", *f.orders) and not n.startswith("scale_vec")]
    return " ".join([f"m{m}n{n}", *(f".{n}" for n in names)])


def _written(machine: MatrixEvidence, f: Form | None, target: str) -> str:
    """Return the instructions that compute, or a dash for a target without such a form."""
    if f is None:
        return "\N{EN DASH}"
    c = next(c for c in machine.codes[f.spelling] if target in c.targets)
    named = ", ".join(f"{n} {name}" if n > 1 else name for name, n in c.instructions.items())
    return named + " and others" * (c.others > 0) or "nothing"


def _plain(spec: Spec, target: str) -> str:
    return spec.targets[target].base or target


# Lanes


def _drawn(cores: TensorCores, shape: str, of: str, result: str) -> Drawn | None:
    forms = [f for f in cores.forms if (f.shape, f.types[1], f.types[0]) == (shape, of, result) and f.computes]
    dense = [f for f in forms if not f.is_sparse and f.orders == ("row", "col") and f.types[0] == f.types[3]]
    if not dense:
        return None
    f = min(dense, key=lambda f: len(f.names))
    layout = first_about(f, cores.layouts)
    pictures = []
    for name, t, size in zip("abc", f.types[1:], f.sizes[1:], strict=True):
        place = layout.places.get(f"{name}_{t}") or layout.places[name]
        anchor = f"{shape}-{of}-{name}"
        title = f"{name.upper()}{' and D' if name == 'c' else ''}, {size[0]} × {size[1]} of {t}"
        pictures.append(_picture(title, anchor, size, place, cores.element(f, t), name == "a", layout.products))
    products = (
        f"{layout.products} products at once: a lane belongs to number {layout.product}" if layout.product else ""
    )
    return Drawn(f"{shape} with {of}", f"{shape}-{of}", f, products, pictures)


def _picture(
    title: str, anchor: str, size: tuple[int, int], place: ElementPosition, element: Element, is_a: bool, products: int
) -> Picture:
    width = max(32, element.bits)
    per = width // element.bits
    count = place.elements or size[0] * size[1] // LANES
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for lane in range(LANES):
        for i in range(count):
            found.setdefault(place.at(lane, i, per, size[0] // 8 if is_a else 1), (lane, i // per))
    runs = list(_runs(found, size))
    first = min(3, size[0] - 1), min(5, size[1] - 1)
    lane, register = found[first]
    example = f"element [{first[0]}][{first[1]}] is in lane {lane}, register {register}"
    return Picture(
        title, anchor, *size, place, runs, max(1, count * element.bits // width), per,
        f"{example}{', of the first product' if products > 1 else ''}",
    )  # fmt: skip


def _runs(found: dict[tuple[int, int], tuple[int, int]], size: tuple[int, int]) -> Iterator[Run]:
    for r in range(size[0]):
        start = 0
        for c in range(1, size[1] + 1):
            if c == size[1] or found[r, c] != found[r, start]:
                yield Run(r, start, c - start, *found[r, start])
                start = c


# Metadata and scales


def _metadata(cores: TensorCores) -> Iterator[Register]:
    """Yield the registers of metadata, each with the forms that have it."""
    seen = set()
    for g in cores.metadata:
        forms = [f for f in cores.forms if f.is_sparse and first_about(f, cores.metadata) is g]
        types: dict[str, dict[str, None]] = {}
        for f in forms:
            types.setdefault(f.shape, {})[f.types[1]] = None
        name = "; ".join(f"{shape} of {', '.join(of)}" for shape, of in types.items())
        f, look = forms[0], (g.row, g.column, g.chosen)
        constants = cores.choices.of(f)
        size = f.size[0], f.size[2] // cores.groups[cores.element(f, f.types[1]).bits]
        of = {g.at(lane, i): (lane, i) for lane in range(LANES) if not g.choice(lane) for i in range(8)}
        lane, i = of[size[0] - 5, size[1] - 2]
        example = f"row {size[0] - 5}, group {size[1] - 2} is in lane {lane}, bits {4 * i} to {4 * i + 3}"
        lanes = "all" if len({g.choice(lane) for lane in range(LANES)}) == 1 else f"{g.chosen} == selector"
        picture = None
        if look not in seen:
            title = f"Metadata of {name}, {size[0]} × {size[1]} groups"
            picture = Picture(title, f"{f.shape}-{f.types[1]}-metadata", *size, g, list(_runs(of, size)), 8, 1, example)
        seen.add(look)
        choices = ", ".join(map(str, constants["selector"]))
        yield Register(name, g, lanes, choices, BASES[g.basis], example, picture)


def _scales(cores: TensorCores, matrix: str, g: SuppliedRegister) -> Register:
    """Return the register of a matrix's scales."""
    thread, ids = f"thread-id-{matrix}", cores.choices.threads[matrix]
    last = ids[-1]
    lane = next(lane for lane in range(LANES // 2, LANES) if g.choice(lane) == last)
    row, column = g.at(lane, 1)
    example = f"row {row}, column {column} is in lane {lane}, where {thread} is {last}"
    return Register(f"scale_{matrix}", g, f"{g.chosen} == {thread}", ", ".join(map(str, ids)), BASES[g.basis], example)


# Forms


def _listed(spec: Spec, forms: Iterable[Form]) -> Iterator[Listed]:
    found: dict[tuple[str, ...], list[Form]] = {}
    for f in forms:
        if f.listed and f.computes:
            names = " ".join(f".{n}" for n in f.names if n not in ("sync", "aligned", "row", "col"))
            registers = ", ".join(map(str, f.registers))
            key = f.shape, names, f.types[0], f.types[3], registers, spec.catalog.text(f.requires)
            found.setdefault(key, []).append(f)
    for (shape, names, result, c, registers, needs), alike in found.items():
        pairs = {(f.types[1], f.types[2]) for f in alike}
        first, second = (list(dict.fromkeys(f.types[i] for f in alike)) for i in (1, 2))
        if len(pairs) == len(first) * len(second):
            inputs = ", ".join(first) + ("" if first == second and len(first) == 1 else " × " + ", ".join(second))
        else:
            inputs = ", ".join(f"{a} × {b}" for a, b in sorted(pairs))
        yield Listed(shape, names, result, inputs, c, registers, needs)
