"""Back ends implement the function table, all of it and nothing else, and agree on every program."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Callable, Iterable

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.grids import special
from helpers.repository import checked, specification
from helpers.sizes import each_size, spread
from ptxemu import conversion, declared, unit
from ptxemu.binary import Array
from ptxspec.check.checking import Checked
from ptxspec.check.corner_cases import agrees, cases
from ptxspec.emit.lowering import Lowering
from ptxspec.emit.products import native
from ptxspec.emit.products.emulator import HOMES
from ptxspec.model import BOOL, Format, Kind, Variant, bits_of, float_in
from ptxspec.semantics.exact import evaluate as exact
from ptxspec.semantics.functions import TABLE, Function
from ptxspec.semantics.program import Apply, Const

# What is left when the program runs.
COMPUTED = {name for name, f in TABLE.items() if not f.is_static}
# What languages have operators for, which need no function.
WRITTEN_OUT = {*Lowering.OPERATORS, "logicalNot", "bitNot", "shiftLeft", "shiftRight", "highWord"}


def test_the_exact_back_end_implements_the_table() -> None:
    assert set(exact.FUNCTIONS) == COMPUTED


def test_the_emulator_implements_the_table() -> None:
    for name in COMPUTED - WRITTEN_OUT - {"unit"}:
        home = "integers" if "integer" in TABLE[name].parameters else HOMES[TABLE[name].clause]
        module = importlib.import_module(f"ptxemu.{home}")
        assert callable(getattr(module, name, None)), name
    assert callable(unit.unit)


def test_the_emulator_implements_what_makes_sense_in_other_formats_than_ieee_754s() -> None:
    for name in COMPUTED - WRITTEN_OUT - {"unit"}:
        f = TABLE[name]
        makes_sense = "float" in f.parameters and f.needs in ("", "sign")
        assert callable(getattr(declared, name, None)) == makes_sense, name
    assert callable(conversion.convert)


def defined_in_c(header: str) -> set[str]:
    text = (ROOT / "templates/runtime/native" / header).read_text("utf-8")
    return set(re.findall(r"(?:OF|ELEMENTARY|CONVERTING)\((\w+)[),]", text)) | {"select"}


def test_the_accelerator_implements_the_table() -> None:
    needed = COMPUTED - WRITTEN_OUT - native.WITHOUT_C
    integers = {name for name in needed if TABLE[name].parameters[0] == "integer"}
    assert integers | {"convert"} <= defined_in_c("integers.h")
    assert needed - integers <= defined_in_c("operations.h")
    assert {name for name in needed - integers if TABLE[name].needs in ("", "sign")} <= defined_in_c("declared.h")
    for header in ("operations.h", "declared.h", "integers.h"):
        assert not native.WITHOUT_C & defined_in_c(header)


def test_every_function_is_described() -> None:
    for f in TABLE.values():
        assert f.doc.endswith(".") and len(f.names) == len(f.parameters), f.name


def applied(f: Function, format: Format, *operands: int) -> int:
    """What the exact back end makes of a function of operands in a format."""
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


def lanes(whole: bool) -> list[tuple[Variant, Checked]]:
    """Variants of one lane, with their programs."""
    every = [(v, c) for c in checked().values() for v in c.instruction.variants if v.lanes == 1]
    return every if whole else spread(every, 100)


@each_size
def test_the_emulator_agrees_with_the_exact_back_end_on_every_variant(whole: bool) -> None:
    rng = random.Random(2026)
    for v, c in lanes(whole):
        rows = [tuple(rng.choice(special_values(s.kind)) for s in v.sources) for _ in range(24)]
        rows += [tuple(rng.getrandbits(s.kind.width) for s in v.sources) for _ in range(8)]
        columns = columns_of(v, zip(*rows, strict=True))
        for target, program in c.programs[v].items():
            got = ptxemu.compile(v.spelling, v.operands, target)(*columns, results=len(v.results))
            got = [bits_of_results(x) for x in (got if isinstance(got, tuple) else (got,))]
            want = [exact.run(program, row) for row in rows]
            assert list(zip(*(x.tolist() for x in got), strict=True)) == want, (v, target)


def special_values(kind: Kind) -> list[int]:
    """Where things change in a kind."""
    if isinstance(kind.format, Format):
        return special(kind.format.exponent_bits, kind.format.fraction_bits).tolist()
    ends = {0, 1, (1 << kind.width) - 1, 1 << (kind.width - 1), (1 << (kind.width - 1)) - 1}
    return sorted(x for x in ends if x < 1 << kind.width)


def columns_of(v: Variant, columns: Iterable[tuple[int, ...]]) -> list[Array]:
    """Operands of a variant as arrays."""
    dtypes = (bool if s.kind == BOOL else f"u{s.kind.storage // 8}" for s in v.sources)
    return [np.array(x, dtype) for x, dtype in zip(columns, dtypes, strict=True)]


def bits_of_results(x: Array) -> Array:
    return x if x.dtype == bool else x.view(f"u{x.itemsize}")


@each_size
def test_the_emulator_satisfies_every_row_of_every_corner_case_table(whole: bool) -> None:
    rows = 0
    for v, c in lanes(whole):
        for table in c.instruction.corner_tables:
            if not table.selector.matches(v):
                continue
            for row in table.rows:
                found = list(cases(row, c.programs[v][None]))
                given = zip(*(f.operands for f in found), strict=True)
                columns = columns_of(v, given)
                got = bits_of_results(ptxemu.execute(v.spelling, *columns)).tolist()
                for case, result in zip(found, got, strict=True):
                    named = dict(zip("abc", case.operands, strict=False))
                    assert agrees(row.results[0], int(result), named, v.result.kind), (v, table.title, case)
                rows += 1
    assert rows > (1000 if whole else 200)
