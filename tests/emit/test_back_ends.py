"""Back ends implement the functions of the table and those that rewriting adds, and agree on every program."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.grids import special
from helpers.repository import checked, specification
from helpers.sizes import each_size, spread
from ptxemu import conversion, declared, integers, unit
from ptxspec.check.checking import Checked
from ptxspec.check.corner_cases import cases
from ptxspec.emit.lowering import Lowering
from ptxspec.emit.products.emulator import HOMES
from ptxspec.model import BOOL, Format, Kind, Variant, bits_of, float_in
from ptxspec.read.cells import agrees
from ptxspec.rewrite.comparing import TRUE_OF
from ptxspec.rewrite.rewriting import OF_ARRAYS
from ptxspec.semantics.exact import evaluate as exact
from ptxspec.semantics.functions import ALL, COMBINED, TABLE, Function
from ptxspec.semantics.program import Apply, Const

pytestmark = pytest.mark.inputs("emulator", "codegen/ptxspec/semantics")

# What is left when the program runs.
COMPUTED = {name for name, f in ALL.items() if not f.is_static}
# What languages have operators for, which need no function.
WRITTEN_OUT = {
    *Lowering.OPERATORS,
    "logicalNot",
    "bitNot",
    "shiftLeft",
    "shiftRight",
    "highWord",
    "addIntegers",
    "subtractIntegers",
    "multiplyIntegers",
}
# What has a module of its own, whatever the formats, or is one function with a relation.
OF_ANY_FORMATS = {"unit", "convertStochastic", "convertBounded", *TRUE_OF}


def test_the_exact_back_end_implements_the_table() -> None:
    assert set(exact.FUNCTIONS) == COMPUTED


def test_the_emulator_implements_the_table() -> None:
    for name in COMPUTED - WRITTEN_OUT - OF_ANY_FORMATS:
        home = "integers" if "integer" in ALL[name].parameters else HOMES[ALL[name].clause]
        module = importlib.import_module(f"ptxemu.{home}")
        assert callable(getattr(module, name, None)), name
    assert callable(unit.unit) and callable(conversion.convertStochastic) and callable(conversion.convertBounded)
    # What compares and is in TRUE_OF becomes this.
    assert callable(integers.compareIntegers) and callable(declared.compare)


def test_the_emulator_implements_what_makes_sense_in_other_formats_than_ieee_754s() -> None:
    for name in COMPUTED - WRITTEN_OUT - OF_ANY_FORMATS - {*COMBINED}:
        f = TABLE[name]
        makes_sense = "float" in f.parameters and f.needs in ("", "sign")
        assert callable(getattr(declared, name, None)) == makes_sense, name
    assert callable(conversion.convert)


def defined_in_c(header: str) -> set[str]:
    text = (ROOT / "templates/native/src" / header).read_text("utf-8")
    found = re.findall(r"(?:OF|ELEMENTARY|CONVERTING)\((\w+)[),]", text) + re.findall(r"INLINED _Bool (\w+)\(", text)
    return {*found, "select", "shiftLeftBy", "shiftRightBy"}


def test_the_extension_implements_the_table() -> None:
    # Units are functions of their own, in units.h.
    needed = COMPUTED - WRITTEN_OUT - {"unit", *TRUE_OF, *OF_ARRAYS}
    of_integers = {name for name in needed if ALL[name].parameters[0] == "integer"}
    assert of_integers | {"convert", "compare"} <= defined_in_c("integers.h")
    of_bools = {name for name in needed if ALL[name].parameters[0] == "bool"}
    assert of_bools <= defined_in_c("rounding.h")
    of_floats = needed - of_integers - of_bools
    # Numbers of usual formats are clamped.
    assert of_floats - {"withoutSign"} <= defined_in_c("operations.h") | defined_in_c("comparisons.h")
    declared_too = {name for name in of_floats if ALL[name].needs in ("", "sign")}
    assert declared_too <= defined_in_c("declared.h")


def test_every_function_is_described() -> None:
    for f in ALL.values():
        assert f.doc.endswith(".") and len(f.names) == len(f.parameters), f.name


def applied(f: Function, format: Format, *operands: int) -> int:
    """Return the exact back end's result for a function of operands in a format."""
    kinds = {"bool": BOOL, "bits": bits_of(format.width)}
    given = [p for p in f.parameters if p in ("float", "bits", "bool", "any", "number")]
    arguments = tuple(Const(kinds.get(p, float_in(format)), x) for p, x in zip(given, operands, strict=True))
    kind: Kind = kinds.get(f.result, float_in(format))
    term = Apply(kind, f.name, arguments, format, "roundTiesToEven" if f.rounds else "")
    return exact.evaluate(term, {})


@pytest.mark.parametrize("f", [f for f in TABLE.values() if f.nan not in ("", "bits")], ids=lambda f: f.name)
def test_functions_return_the_nan_that_the_table_says(f: Function) -> None:
    spec = specification()
    for format in (x for x in spec.formats.values() if isinstance(x, Format) and x.nans):
        if not {"": True, "sign": format.signed}.get(f.needs, format.is_ieee):
            continue
        least, most = format.first_nan, format.magnitudes - 1
        nans = {least, least | format.sign_bit, (least + most) // 2, most}
        wanted: dict[str, Callable[[int], set[int]]] = {
            "canonical": lambda x, f=format: {f.canonical_nan},
            "operand": lambda x: {x},
            "sign": lambda x, f=format: {x & ~f.sign_bit, x | f.sign_bit},
            "quiet": lambda x, f=format: {x | f.quiet_bit},
        }
        for x in nans:
            operands = [int(p == "bool") if p == "bool" else x for p in f.parameters if p not in ("format", "rounding")]
            assert applied(f, format, *operands) in wanted[f.nan](x), (format.name, hex(x))


@pytest.mark.parametrize("f", [f for f in TABLE.values() if f.bitwise], ids=lambda f: f.name)
def test_a_bitwise_function_looks_at_no_other_bit(f: Function) -> None:
    format = specification().formats["f16"]
    assert isinstance(format, Format)
    rng = random.Random(7)
    count = len([p for p in f.parameters if p != "format"])
    for _ in range(200):
        bit = 1 << rng.randrange(16)
        some, others = ([rng.getrandbits(16) for _ in range(count)] for _ in range(2))
        same = [(x & bit) | (y & ~bit) for x, y in zip(some, others, strict=True)]
        assert applied(f, format, *some) & bit == applied(f, format, *same) & bit


def grid(kind: Kind) -> list[int]:
    """Special values of a kind."""
    if kind.format is None:
        ends = [0, 1, (1 << kind.width) - 1, 1 << (kind.width - 1), (1 << (kind.width - 1)) - 1]
        return [x & ((1 << kind.width) - 1) for x in ends]
    return special(kind.format.exponent_bits, kind.format.fraction_bits).tolist()


def column(encodings: Sequence[int], kind: Kind) -> np.ndarray[Any, Any]:
    """An operand in registers of one lane: encodings where a type has them."""
    if kind == BOOL:
        return np.array(encodings, np.bool_)
    shift = kind.format.shift if kind.format else 0
    width = kind.format.container if kind.format else kind.storage
    return np.array([x << shift for x in encodings], f"u{width // 8}")


def in_bits(x: np.ndarray[Any, Any], kind: Kind) -> np.ndarray[Any, Any]:
    """A result as the encodings of its lane, be it of integers with a sign or of floats."""
    if x.dtype == np.bool_:
        return x
    return x.view(f"u{x.dtype.itemsize}") >> np.uint64(kind.format.shift if kind.format else 0)


def lanes(count: int | None) -> list[tuple[Variant, Checked]]:
    """So many variants of one lane, or all, with their programs."""
    every = [(v, c) for c in checked().values() for v in c.instruction.variants if v.lanes == 1]
    return every if count is None else spread(every, count)


@each_size
def test_the_emulator_agrees_with_the_exact_back_end_on_every_variant(whole: bool) -> None:
    rng = random.Random(2026)
    for v, c in lanes(None if whole else 36):
        grids = [grid(s.kind) for s in v.sources]
        rows = [tuple(map(rng.choice, grids)) for _ in range(24 if whole else 9)]
        rows += [tuple(rng.getrandbits(s.kind.width) for s in v.sources) for _ in range(8 if whole else 3)]
        columns = [column(x, s.kind) for x, s in zip(zip(*rows, strict=True), v.sources, strict=True)]
        for target, program in c.programs[v].items():
            got = ptxemu.compile(v.spelling, v.operands, target)(*columns, results=len(v.results))
            results = zip(got if isinstance(got, tuple) else (got,), v.results, strict=True)
            want = [exact.run(program, row) for row in rows]
            assert list(zip(*(in_bits(x, r.kind).tolist() for x, r in results), strict=True)) == want, (v, target)


@each_size
def test_the_emulator_satisfies_every_row_of_every_corner_case_table(whole: bool) -> None:
    rows = 0
    for v, c in lanes(None if whole else 100):
        for table in c.instruction.corner_tables_of(v):
            for row in table.rows_of(v):
                found = list(cases(row, c.programs[v][None]))
                given = zip(*(f.operands for f in found), strict=True)
                columns = [column(x, s.kind) for x, s in zip(given, v.sources, strict=True)]
                got = in_bits(ptxemu.execute(v.spelling, *columns), v.result.kind).tolist()
                for case, result in zip(found, got, strict=True):
                    named = dict(zip("abc", case.operands, strict=False))
                    assert agrees(row.results[0], int(result), named, v.result.kind), (v, table.title, case)
                rows += 1
    assert rows > (1000 if whole else 150)
