"""The special function unit: a model of it, found again in what it computes, and followed by the emulator.

No GPU was recorded yet. The units here are made up: they have coefficients, word lengths, squarers and biases of their
own, and look at fourteen bits of a fraction, so that a whole domain is 16,384 operands. What they compute is worked out
in this file with fractions, apart from the two back ends.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from conftest import ROOT, Project
from ptxspec.evaluate import emulator
from ptxspec.fit import recordings
from ptxspec.reading import read
from ptxspec.roots import Root

OPCODES = ("rcp", "rsqrt", "ex2", "lg2", "sin")
BITS = 14
NAN, INFINITY, SIGN = 0x7FFFFFFF, 0x7F800000, 1 << 31


@dataclass(frozen=True)
class MadeUp:
    """A unit with 2**m segments an octave. `function` takes the octave and the place in it."""

    name: str
    core: str
    variant: str
    function: Callable[[int, float], float]
    m: int
    points: tuple[int, int, int]
    drop: int
    columns: bool
    bias: Fraction
    point: int
    octaves: int = 1
    wrong: frozenset[int] = frozenset()
    table: tuple[tuple[int, int, int], ...] = field(default=(), compare=False)

    @property
    def places(self) -> int:
        return BITS - 2 if self.name == "SIN" else BITS

    def with_table(self) -> MadeUp:
        """A quadratic through nine Chebyshev nodes of each segment, its coefficients rounded."""
        nodes = (np.cos(np.pi * (np.arange(9) + 0.5) / 9) + 1) / 2
        rows = []
        for octave in range(self.octaves):
            for i in range(1 << self.m):
                x = nodes * 2.0 ** (self.places - BITS - self.m)
                y = [self.function(octave, i * 2.0 ** (self.places - BITS - self.m) + float(v)) for v in x]
                c2, c1, c0 = np.polyfit(x, y, 2)
                rows.append(tuple(round(float(c) * 2.0**p) for c, p in zip((c0, c1, c2), self.points, strict=True)))
        return replace(self, table=tuple(rows))  # type: ignore[arg-type]

    def polynomial(self, place: int) -> Fraction:
        """The sum for the integer of an argument, rounded down."""
        local = self.places - self.m
        segment, x = divmod(place, 1 << local)
        c0, c1, c2 = (Fraction(c) / Fraction(2) ** p for c, p in zip(self.table[segment], self.points, strict=True))
        if self.columns:
            # Every product of two bits by itself: a pair of different ones counts double and so stands a column higher.
            ones = [i for i in range(local) if x >> i & 1]
            products = [2 * i for i in ones] + [i + j + 1 for i in ones for j in ones if i < j]
            square = sum(2**p for p in products if p >= self.drop)
        else:
            square = x * x // 2**self.drop * 2**self.drop
        total = c0 + c1 * x / 2**BITS + c2 * square / 4**BITS + self.bias
        return Fraction(math.floor(total * 2**self.point), 2**self.point)

    def __call__(self, x: int) -> int:
        """The result for an encoding."""
        special = self.special(x)
        if special is not None:
            return special
        value = Fraction(float(np.uint32(x).view(np.float32)))
        exponent = (x >> 23 & 255) - 127
        fraction = x >> (23 - BITS) & (1 << BITS) - 1
        if self.name == "RCP":
            result = self.polynomial(fraction) / Fraction(2) ** exponent * (1 if value > 0 else -1)
        elif self.name == "RSQ":
            result = self.polynomial(fraction + (exponent % 2 << BITS)) / Fraction(2) ** (exponent // 2)
        elif self.name == "LG2":
            result = self.polynomial(fraction) + exponent
        elif self.name == "EX2":
            fixed = math.floor(value * 2**BITS)
            if not -200 << BITS < fixed < 200 << BITS:
                return INFINITY if fixed > 0 else 0
            result = self.polynomial(fixed % 2**BITS) * Fraction(2) ** (fixed // 2**BITS)
        else:
            quarter, place = divmod(math.floor(abs(value) * 2**BITS), 2**self.places)
            if quarter % 2:
                place = 2**self.places - 1 - place
            result = self.polynomial(place) * (-1 if quarter % 4 >= 2 else 1) * (1 if value > 0 else -1)
        bits = truncated(result)
        return bits ^ 1 if x in self.wrong else bits

    def special(self, x: int) -> int | None:
        sign, magnitude = x & SIGN, x & ~SIGN
        if magnitude > INFINITY:
            return NAN
        zero, infinity = {
            "RCP": (sign | INFINITY, sign),
            "RSQ": (sign | INFINITY, NAN if sign else 0),
            "LG2": (SIGN | INFINITY, NAN if sign else INFINITY),
            "EX2": (0x3F800000, 0 if sign else INFINITY),
            "SIN": (sign, NAN),
        }[self.name]
        if magnitude < 1 << 23:
            return zero
        if magnitude == INFINITY:
            return infinity
        return NAN if sign and self.name in ("RSQ", "LG2") else None


def truncated(value: Fraction) -> int:
    """The binary32 number next to a value toward zero; a zero where that is subnormal."""
    sign = SIGN if value < 0 else 0
    if value == 0:
        return 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    if exponent > 127:
        return sign | INFINITY
    significand = math.floor(size * Fraction(2) ** (23 - exponent))
    return sign | ((exponent + 127) << 23) + significand - (1 << 23) if exponent >= -126 else sign


UNITS = {
    u.name: u.with_table()
    for u in (
        MadeUp("RCP", "rcp", "rcp.approx.ftz.f32", lambda o, x: 1 / (1 + x), 4, (25, 20, 16), 7, True,
               Fraction(3, 2**26), 24),
        MadeUp("RSQ", "rsqrt", "rsqrt.approx.ftz.f32", lambda o, x: ((1 + x) * 2**o) ** -0.5, 4, (26, 19, 17), 6, False,
               Fraction(5, 2**28), 24, octaves=2),
        MadeUp("EX2", "ex2", "ex2.approx.ftz.f32", lambda o, x: 2**x, 3, (24, 19, 17), 8, True, Fraction(1, 2**25), 23),
        MadeUp("LG2", "lg2", "lg2.approx.ftz.f32", lambda o, x: math.log2(1 + x), 4, (25, 19, 15), 5, False,
               Fraction(-1, 2**26), 24),
        MadeUp("SIN", "sin", "sin.approx.ftz.f32", lambda o, x: math.sin(2 * math.pi * x), 3, (25, 16, 10), 3, True,
               Fraction(1, 2**27), 24),
    )
}  # fmt: skip
# Expected words that are not those of the made-up units, but for one.
WORDS = {"RCP": (26, 16, 10), "RSQ": (26, 18, 18), "EX2": (25, 15, 11), "LG2": (26, 15, 10), "SIN": (25, 14, 10)}
# First operand, count and step; of ex2 the multiple. The sine's cover three quarters and more.
CORES = {
    "RCP": "first: 0x3f800000, count: 16384, step: 512",
    "RSQ": "first: 0x3f800000, count: 32768, step: 512",
    "EX2": "multiple: 0x1p-14, count: 16384",
    "LG2": "first: 0x3f000000, count: 32768, step: 512",
    "SIN": "first: 0x3f800000, count: 32768, step: 512",
}


def test_units_of_the_repository_rest_until_something_is_recorded() -> None:
    spec = read(ROOT)
    assert [m for u in spec.units.values() for m in u.models] == []
    paths = [(i, p) for i in spec.instructions.values() for p in i.hardware]
    assert {i.opcode for i, _ in paths} == {"cos", "div", "ex2", "lg2", "rcp", "rsqrt", "sin", "sqrt", "tanh"}
    assert {u for _, p in paths for u in p.units} == set(spec.units)
    x = np.arange(0, 1 << 32, 9_999_991, dtype=np.uint32)
    for spelling in ("rcp.approx.f32", "sin.approx.f32"):
        assert (ptxemu.execute(spelling, x, target="sm_90") == ptxemu.execute(spelling, x)).all()
    data = json.loads((ROOT / "generated/data/ptxspec.json").read_text("utf-8"))
    assert data["units"]["EX2"]["models"] == []


@pytest.fixture
def made_up(project: Project) -> Project:
    """A root with instructions that call units, and units that look at fourteen bits."""
    for opcode in OPCODES:
        shutil.copy(ROOT / f"spec/instructions/{opcode}.yaml", project.root / "spec/instructions")
    text = (ROOT / "spec/units.yaml").read_text("utf-8")
    for name, u in UNITS.items():
        part = re.search(rf"^  {name}:\n(?:    .*\n)+", text, re.MULTILINE)
        assert part
        new = (
            part[0]
            .split("    cores:")[0]
            .replace("bits: 23", f"bits: {BITS}")
            .replace("kind: turns", f"kind: turns, bits: {BITS}")
        )
        new = re.sub(r"segments: .*", f"segments: {1 << u.m}", new)
        new = re.sub(r"words: .*", f"words: [{', '.join(map(str, WORDS[name]))}]", new)
        new += f"    cores:\n      - {{name: {u.core}, variant: {u.variant}, {CORES[name]}}}\n"
        text = text.replace(part[0], new)
    project.write("spec/units.yaml", text)
    assert project.run("generate").code == 0
    return project


def operands(project: Project, u: MadeUp) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """What the recorded instruction is given: of the sine, more than the unit is."""
    spec = read(project.root)
    return recordings.core_operands(spec.units[u.name].cores[0], spec.formats["f32"])


def hardware(u: MadeUp, x: int) -> int:
    """The recorded instruction, which flushes, around the unit."""
    if u.name == "SIN" and (x & ~SIGN) < INFINITY:
        turns = truncated(Fraction(float(np.uint32(x).view(np.float32))) * Fraction(0xA2F983, 2**26))
        return u(turns | x & SIGN)
    return u(x)


def record(project: Project, folder: Path, results: dict[str, Callable[[int], int]]) -> Path:
    """A recording of instructions that compute these results, in the layout of a recorder's."""
    folder.mkdir()
    spec = read(project.root)
    f32, emu = spec.formats["f32"], emulator(Root(project.root, False))
    variants = [{"spelling": UNITS[name].variant, "type": "f32", "operands": 1} for name in results]
    about = {"gpu": "Made-up GPU", "sm": "90", "driver": 12080, "numpy": np.__version__, "variants": variants}
    (folder / "about.json").write_text(json.dumps(about), "utf-8")
    cores, grid, random, digests = {}, {}, {}, {}
    for i, (name, result) in enumerate(results.items()):
        u, x = UNITS[name], operands(project, UNITS[name])
        got = np.array([result(int(v)) for v in x], np.uint32)
        rounded = emu.execute(u.variant, x)
        steps = recordings.to_steps(got, f32) - recordings.to_steps(rounded, f32)
        cores[u.core] = steps.astype(np.int32)
        cores[f"{u.core}-rounded"] = np.array([recordings.digest(rounded)], np.uint64)
        digests[f"core-{u.core}"] = np.array([recordings.digest(got)], np.uint64)
        special, uniform = recordings.special_values(f32), recordings.uniform_operands(f32, 256)
        grid[f"{i}"] = np.array([result(int(v)) for v in special], np.uint32)
        random[f"{i}-uniform"] = np.array([result(int(v)) for v in uniform], np.uint32)
    np.savez_compressed(folder / "cores-a.npz", **cores)
    np.savez_compressed(folder / "grid.npz", **grid)
    np.savez_compressed(folder / "random.npz", **random)
    np.savez_compressed(folder / "digests.npz", **digests)
    return folder


def test_made_up_units_are_found_again_and_followed(made_up: Project, tmp_path: Path) -> None:
    folder = record(made_up, tmp_path / "recording", {n: lambda x, u=u: hardware(u, x) for n, u in UNITS.items()})  # type: ignore[misc]
    before = emulator(Root(made_up.root, False))
    names = [a for n in UNITS for a in ("--unit", n)]
    result = made_up.run("fit", folder, *names, "--record")
    assert result.code == 0, result.out + result.err
    assert result.out.count("exact: all ") == len(UNITS)
    assert made_up.run("validate").code == 0
    assert "python/ptxemu/units.py" in made_up.run("generate").out

    spec = read(made_up.root)
    for name, u in UNITS.items():
        model = spec.model(name, "sm_90")
        assert model is not None and model is spec.model(name, "sm_90a")
        assert spec.model(name, "sm_89") is None and spec.model(name, "sm_100") is None
        assert model.fitted.gpu == "Made-up GPU" and model.fitted.results > len(operands(made_up, u))
        # C1 and C2 are those that were made up, in words of the same or more places.
        for k in (1, 2):
            finer = model.core.words[k].point - u.points[k]  # type: ignore[union-attr]
            if finer >= 0:
                assert [r[k] for r in model.core.coefficients] == [r[k] << finer for r in u.table]  # type: ignore[union-attr]

    shutil.copytree(made_up.root, tmp_path / "second")
    emu = emulator(Root(tmp_path / "second", False))
    rng = np.random.default_rng(90)
    x = np.concatenate([recordings.special_values(spec.formats["f32"]), rng.integers(0, 1 << 32, 1500)]).astype(
        np.uint32
    )
    for name, u in UNITS.items():
        got = emu.execute(u.variant, x, target="sm_90")
        flushed = [int(v) & SIGN if int(v) & ~SIGN < 1 << 23 else int(v) for v in x]
        assert got.tolist() == [hardware(u, v) for v in flushed], name
        assert (emu.execute(u.variant, x, target="sm_90a") == got).all()
        for target in (None, "sm_80", "sm_100"):
            assert (emu.execute(u.variant, x, target=target) == before.execute(u.variant, x)).all()

    # Around the unit: a scale keeps subnormal numbers away from it. Powers of two multiply exactly in float32.
    values = x.view(np.float32)
    size = np.abs(values)
    with np.errstate(all="ignore"):
        scale = np.where(size < 2.0**-126, 2.0**24, np.where(size > 2.0**126, 0.25, 1)).astype(np.float32)
        inner = np.array([UNITS["RCP"](int(v)) for v in (values * scale).view(np.uint32)], np.uint32)
        wanted = (inner.view(np.float32) * scale).view(np.uint32)
        tiny = size < 2.0**-126
        inner = np.array(
            [UNITS["RSQ"](int(v)) for v in np.where(tiny, values * 2.0**24, values).astype(np.float32).view(np.uint32)]
        )
        root = inner.astype(np.uint32).view(np.float32)
        wanted_root = np.where(tiny, root * np.float32(4096), root).astype(np.float32).view(np.uint32)
    for spelling, numbers in (("rcp.approx.f32", wanted), ("rsqrt.approx.f32", wanted_root)):
        nan = (numbers & ~np.uint32(SIGN)) > INFINITY
        assert (emu.execute(spelling, x, target="sm_90") == np.where(nan, NAN, numbers)).all(), spelling
    found = Project(tmp_path / "second", made_up._capture).run(
        "eval", "rcp.approx.f32", "0x7f000001", "--target", "sm_90", "--trace"
    )
    assert found.code == 0 and "reciprocal = unit(RCP, scaled)" in found.out, found.err
    data = json.loads((made_up.root / "generated/data/ptxspec.json").read_text("utf-8"))
    assert data["units"]["RCP"]["models"][0]["within"] == "sm_90..sm_90a"
    assert "sm_90, sm_90a" in (made_up.root / "generated/manual/rcp.md").read_text("utf-8")
