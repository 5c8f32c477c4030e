"""The special function unit: a model of it, found again in what it computes, and followed by the emulator.

No GPU was recorded yet. The units here are made up: they have coefficients, word lengths, squarers and biases of their
own, and look at fourteen bits of a fraction, so that a whole domain is 16,384 operands. What they compute is worked out
in this file with fractions, apart from the two back ends.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.project import Project
from helpers.standin import StandIn
from ptxspec.check.checking import check
from ptxspec.cli import conforming
from ptxspec.evaluate import emulator
from ptxspec.gpu import cuda, recording, vectors
from ptxspec.gpu.bounds import Judge
from ptxspec.gpu.compare import Found
from ptxspec.gpu.device import About
from ptxspec.gpu.fit import recorded
from ptxspec.gpu.fit.fitting import as_yaml, emulated, fit
from ptxspec.gpu.fit.interpolator import common_residue
from ptxspec.gpu.recording import Recorder, Recording
from ptxspec.model import Argument, Differences, Fitted, Format, Interpolator, Spec, Unit, UnitModel, Variant, Word
from ptxspec.read.link import read
from ptxspec.roots import Root
from ptxspec.semantics.exact import evaluate as exact, unit

Array = np.ndarray[Any, np.dtype[Any]]

OPCODES = ("rcp", "rsqrt", "ex2", "lg2", "sin")
BITS = 14
NAN, INFINITY, SIGN = 0x7FFFFFFF, 0x7F800000, 1 << 31


@dataclass(frozen=True)
class MadeUp:
    """A unit with 2**m segments an octave. `function` takes the octave and the place in it."""

    name: str
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
        MadeUp("RCP", "rcp.approx.ftz.f32", lambda o, x: 1 / (1 + x), 4, (25, 20, 16), 7, True,
               Fraction(3, 2**26), 24),
        MadeUp("RSQ", "rsqrt.approx.ftz.f32", lambda o, x: ((1 + x) * 2**o) ** -0.5, 4, (26, 19, 17), 6, False,
               Fraction(5, 2**28), 24, octaves=2),
        MadeUp("EX2", "ex2.approx.ftz.f32", lambda o, x: 2**x, 3, (24, 19, 17), 8, True, Fraction(1, 2**25), 23),
        MadeUp("LG2", "lg2.approx.ftz.f32", lambda o, x: math.log2(1 + x), 4, (25, 19, 15), 5, False,
               Fraction(-1, 2**26), 24),
        MadeUp("SIN", "sin.approx.ftz.f32", lambda o, x: math.sin(2 * math.pi * x), 3, (25, 16, 10), 3, True,
               Fraction(1, 2**27), 24),
    )
}  # fmt: skip
# Expected words that are not those of the made-up units, but for one.
WORDS = {"RCP": (26, 16, 10), "RSQ": (26, 18, 18), "EX2": (25, 15, 11), "LG2": (26, 15, 10), "SIN": (25, 14, 10)}
# From 1 on, of the logarithm from 1/2 on, every 512th encoding. The sine's cover three quarters and more.
CORES = {
    "RCP": "first: 0x1fc000, count: 16384, shift: 9",
    "RSQ": "first: 0x1fc000, count: 32768, shift: 9",
    "EX2": "first: 0x1fc000, count: 16384, shift: 9",
    "LG2": "first: 0x1f8000, count: 32768, shift: 9",
    "SIN": "first: 0x1fc000, count: 32768, shift: 9",
}
# No stream but the cores and the special operands is large.
SMALL = vectors.Sizes(random=256, sample=256)


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
        new += f"    cores:\n      - {{variant: {u.variant}, {CORES[name]}}}\n"
        text = text.replace(part[0], new)
    project.write("spec/units.yaml", text)
    return project


@pytest.fixture
def built(made_up: Project) -> Project:
    """The same with what is generated, fitting's emulator among it."""
    assert made_up.run("generate").code == 0
    return made_up


def special_values(f: Format) -> Array:
    (found,) = vectors.operands(read(ROOT).types[f.name], 1, "grid", 0, 76)
    return found


def hardware(u: MadeUp, x: int) -> int:
    """The recorded instruction, which flushes, around the unit."""
    if u.name == "SIN" and (x & ~SIGN) < INFINITY:
        turns = truncated(Fraction(float(np.uint32(x).view(np.float32))) * Fraction(0xA2F983, 2**26))
        return u(turns | x & SIGN)
    return u(x)


def made_up_provenance(root: Path, spec: Spec) -> dict[str, Any]:
    gpu = About("Made-up GPU", "sm_90", "0.0", "no compiler", "13.0")
    folders = root / "generated/cuda", root / "generated/python/ptxemu"
    return recording.provenance(gpu, spec, "ptxspec", "2026-01-02", SMALL, *folders)


def record(project: Project, folder: Path, results: dict[str, Callable[[int], int]]) -> Path:
    """A recording of instructions that compute these results."""
    spec = read(project.root)
    every = {v.spelling: v for i in spec.instructions.values() for v in i.variants if v.operands == 1}
    with Recorder(folder, spec, made_up_provenance(project.root, spec)) as recorder:
        for name, result in results.items():
            v = every[UNITS[name].variant]
            for part in vectors.parts(v, SMALL, spec.units[name].cores):
                write(recorder, v, part, lambda x, result=result: np.array([result(int(b)) for b in x], np.uint32))  # type: ignore[misc]
        recorder.finish({})
    return folder


def recorded_as(folder: Path, spelling: str, computed: Callable[[Array], Array]) -> Recording:
    """The same of one instruction of the repository."""
    spec = read(ROOT)
    v = next(v for i in spec.instructions.values() for v in i.variants if v.spelling == spelling)
    cores = [c for u in spec.units.values() for c in u.cores if c.variant == spelling]
    with Recorder(folder / "recording", spec, made_up_provenance(ROOT, spec)) as recorder:
        for part in vectors.parts(v, SMALL, cores):
            write(recorder, v, part, computed)
        recorder.finish({})
    return recording.read(folder / "recording", spec)


def write(recorder: Recorder, v: Variant, part: vectors.Part, computed: Callable[[Array], Array]) -> None:
    blocks = [computed(vectors.operands(v.type, 1, part.stream, *block)[0]) for block in part.blocks()]
    kept = np.concatenate(blocks)[: part.kept]
    recorder.write(v, part, kept, [vectors.digest(b) for b in blocks], Found(part.count))


def test_made_up_units_are_found_again_and_followed(built: Project, tmp_path: Path) -> None:
    folder = record(built, tmp_path / "recording", {n: lambda x, u=u: hardware(u, x) for n, u in UNITS.items()})  # type: ignore[misc]
    before = emulator(Root(built.root, False))
    names = [a for n in UNITS for a in ("--unit", n)]
    result = built.run("fit", folder, *names, "--record")
    assert result.code == 0, result.out + result.err
    assert result.out.count("exact: all ") == len(UNITS)
    assert built.run("validate").code == 0
    assert "python/ptxemu/units.py" in built.run("generate").out

    spec = read(built.root)
    for name, u in UNITS.items():
        model = spec.model(name, "sm_90")
        assert model is not None and model is spec.model(name, "sm_90a")
        assert spec.model(name, "sm_89") is None and spec.model(name, "sm_100") is None
        assert model.fitted.gpu == "Made-up GPU" and model.fitted.results > spec.units[name].cores[0].count
        # C1 and C2 are those that were made up, in words of the same or more places.
        for k in (1, 2):
            finer = model.core.words[k].point - u.points[k]  # type: ignore[union-attr]
            if finer >= 0:
                assert [r[k] for r in model.core.coefficients] == [r[k] << finer for r in u.table]  # type: ignore[union-attr]

    shutil.copytree(built.root, tmp_path / "second")
    emu = emulator(Root(tmp_path / "second", False))
    rng = np.random.default_rng(90)
    x = np.concatenate([special_values(spec.formats["f32"]), rng.integers(0, 1 << 32, 1500)]).astype(np.uint32)
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
    found = Project(tmp_path / "second", built._capture).run(
        "eval", "rcp.approx.f32", "0x7f000001", "--target", "sm_90", "--trace"
    )
    assert found.code == 0 and "reciprocal = unit(RCP, scaled)" in found.out, found.err
    data = json.loads((built.root / "generated/data/ptxspec.json").read_text("utf-8"))
    assert data["units"]["RCP"]["models"][0]["within"] == "sm_90..sm_90a"
    assert "sm_90, sm_90a" in (built.root / "generated/manual/rcp.md").read_text("utf-8")
    in_c = (built.root / "generated/python/ptxemu/native/rcp.c").read_text("utf-8")
    assert "rcp_approx_f32_1(" in in_c and "rcp_approx_f32_1_sm_90" not in in_c


def test_what_was_recorded_fitted_and_followed_is_measured(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's commands, on a stand-in for a GPU that has a made-up unit."""
    spelling = UNITS["RCP"].variant

    def gpu(operands: Sequence[Array], _: Array) -> Array:
        return np.array([hardware(UNITS["RCP"], int(x)) for x in operands[0]], np.uint32)

    device = StandIn(emulator(Root(built.root, False)), wrong={spelling: gpu})
    monkeypatch.setattr(cuda, "CudaDevice", lambda: device)
    monkeypatch.setattr(conforming.vectors, "Sizes", lambda **_: SMALL)
    folder = built.root / "tests/recordings/made-up"

    def row(*arguments: str | Path) -> dict[str, Any]:
        report = json.loads(built.run("conformance", *arguments, "--format", "json").out)
        (found,) = [v for v in report["variants"] if v["variant"] == spelling]
        return found  # type: ignore[no-any-return]

    recorded = row("--record", folder)
    assert (recorded["claim"], recorded["verdict"]) == ("bounded", "disagrees")
    assert recorded["found"]["count"] == 76 + 16384 + 256
    fitted = built.run("fit", folder, "--unit", "RCP", "--record")
    assert fitted.code == 0, fitted.out + fitted.err
    assert built.run("generate").code == 0
    shutil.copytree(built.root, tmp_path / "second")
    second = Project(tmp_path / "second", built._capture)
    replayed = second.run("conformance", "--replay", second.root / "tests/recordings/made-up")
    assert re.search(rf"^{spelling} .* agrees$", replayed.out, re.MULTILINE), replayed.out + replayed.err
    # Errors are still those from the function, not from what the unit makes of it.
    spec = read(second.root)
    v = next(v for v in spec.instructions["rcp"].variants if v.spelling == spelling)
    judge = Judge(spec, spec.instructions["rcp"], v, "sm_90")
    assert judge.error([0x40400000], 0x3EAAAAAB, judge.bounds[0]) < 0.5
    (registered,) = spec.recordings
    assert (spelling, 1) in registered.equal
    assert second.run("generate").code == 0
    assert "claim   measured" in second.run("query", spelling, "--target", "sm_90").out


def one(name: str, **changes: Any) -> dict[str, Callable[[int], int]]:
    u = replace(UNITS[name], **changes)
    return {name: lambda x: hardware(u, x)}


def files(project: Project) -> set[str]:
    return {p.name for p in (project.root / "spec/units").iterdir()}


def test_one_wrong_bit_is_reported_and_not_absorbed(built: Project, tmp_path: Path) -> None:
    folder = record(built, tmp_path / "recording", one("RCP", wrong=frozenset({0x3FC12600})))
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 1
    assert "contradicted in 1 of 16 segments; the others have coefficients" in result.out
    assert re.search(
        r"segment 8: .* miss 1 of 1024 results, first for 1\.508972\d* 0x1\.824cp\+0 0x3fc12600", result.out
    )
    assert files(built) == {"README.md"}


def test_a_wrong_result_beyond_the_core_is_reported(built: Project, tmp_path: Path) -> None:
    # +infinity is among the special operands, and in no segment.
    folder = record(built, tmp_path / "recording", {"RCP": lambda x: 1 if x == INFINITY else UNITS["RCP"](x)})
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 1
    assert "not exact: 1 of 16716 results differ, first rcp.approx.ftz.f32 of +inf 0x7f800000:" in result.out
    assert files(built) == {"README.md"}


def test_what_no_interpolator_computes_becomes_a_table_of_differences(built: Project, tmp_path: Path) -> None:
    def correct(x: int) -> int:
        """Two units off where the place has an odd number of ones, else correctly rounded for the first bits."""
        u = UNITS["RCP"]
        if (special := u.special(x)) is not None:
            return special
        place = x >> (23 - BITS) & (1 << BITS) - 1
        # The reciprocal of 1.f lies between a half and one.
        significand = round(Fraction(2 ** (24 + BITS), 2**BITS + place)) - 2 * (place.bit_count() % 2)
        exponent = (x >> 23 & 255) - 127
        return truncated(Fraction(significand, 2**24) / Fraction(2) ** exponent * (-1 if x & SIGN else 1))

    folder = record(built, tmp_path / "recording", {"RCP": correct})
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 0, result.out + result.err
    assert re.search(r"exact: all 16716 results; a table of differences from reciprocal of \d{3} bytes", result.out)
    assert files(built) == {"README.md", "RCP-sm_90.yaml", "RCP-sm_90.txt"}
    assert built.run("generate").code == 0
    shutil.copytree(built.root, tmp_path / "second")
    emu = emulator(Root(tmp_path / "second", False))
    x = np.random.default_rng(1).integers(0, 1 << 32, 3000).astype(np.uint32)
    flushed = [int(v) & SIGN if int(v) & ~SIGN < 1 << 23 else int(v) for v in x]
    assert emu.execute("rcp.approx.ftz.f32", x, target="sm_90").tolist() == [correct(v) for v in flushed]
    second = Project(tmp_path / "second", built._capture)
    assert second.run("eval", "rcp.approx.ftz.f32", "3.25", "--target", "sm_90", "--trace").code == 0
    # Its file is part of the specification.
    table = built.root / "spec/units/RCP-sm_90.txt"
    table.write_text(table.read_text("ascii")[:-20], "ascii")
    broken = built.run("validate")
    assert broken.code == 1 and "RCP-sm_90.txt cannot be read" in broken.err
    table.unlink()
    assert built.place("spec/units/RCP-sm_90.yaml", "RCP-sm_90.txt") in built.run("validate").err


def test_a_table_holds_all_of_a_16_bit_unit(tmp_path: Path) -> None:
    """The instruction flushes subnormal operands before the unit sees them."""
    spec, spelling = read(ROOT), "ex2.approx.ftz.bf16"
    every = np.arange(1 << 16, dtype=np.uint16)
    results = ptxemu.execute(spelling, every)
    finite = (results > 0x80) & (results < 0x7F7F) & ((every & 0x7FFF) >= 0x80)
    results[finite] += (every[finite] * np.uint16(40503) >> np.uint16(14)) - np.uint16(1)
    outcome = fit(spec, spec.units["EX2_BF16"], recorded_as(tmp_path, spelling, lambda x: results[x]), ptxemu)
    assert outcome.model is not None, outcome.report
    normal = every[(every & 0x7FFF) >= 0x80]
    assert (ptxemu.unit.unit(normal, emulated(outcome.model, ptxemu)) == results[normal]).all()


def test_where_a_table_does_not_determine_the_unit_nothing_is_claimed(built: Project, tmp_path: Path) -> None:
    def logarithm(x: int) -> int:
        special = UNITS["LG2"].special(x)
        value = float(np.uint32(x).view(np.float32))
        return special if special is not None else int(np.float32(math.log2(value)).view(np.uint32))

    folder = record(built, tmp_path / "recording", {"LG2": logarithm})
    result = built.run("fit", folder, "--unit", "LG2", "--record")
    assert result.code == 1 and "LG2: no interpolator: no words and squarer suit" in result.out
    assert files(built) == {"README.md"}


def test_what_the_cores_do_not_show_must_be_confirmed_by_digests_of_everything(built: Project, tmp_path: Path) -> None:
    """Every second operand of the core is left out."""
    text = (built.root / "spec/units.yaml").read_text("utf-8")
    built.write("spec/units.yaml", text.replace(CORES["RCP"], "first: 0xfe000, count: 8192, shift: 10"))
    folder = record(built, tmp_path / "recording", one("RCP"))
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 1 and files(built) == {"README.md"}
    assert "not proven: it has all 8524 results, but 8192 places are in no recorded core" in result.out

    f32, digests = read(built.root).formats["f32"], {}
    for start in range(0, 3 << 20, 1 << 20):
        x = np.arange(start, start + (1 << 20), dtype=np.uint32)
        digests[start] = vectors.digest(x * np.uint32(3))
    assert recorded.disagreeing(lambda x: x * np.uint32(3), digests, f32) == []
    assert recorded.disagreeing(lambda x: np.where(x == 1234567, 0, x * np.uint32(3)), digests, f32) == [1 << 20]


def test_what_cannot_be_read_gets_one_line(built: Project, tmp_path: Path) -> None:
    nothing = built.run("fit", tmp_path / "nowhere")
    assert nothing.code == 2 and re.fullmatch(r"ptxspec: .*about\.json: No such file or directory\n", nothing.err)
    (tmp_path / "about.json").write_text("[")
    assert "about.json: not a recording" in built.run("fit", tmp_path).err
    folder = record(built, tmp_path / "recording", one("RCP"))
    unknown = built.run("fit", folder, "--unit", "RPC")
    assert unknown.code == 2 and "unknown unit 'RPC'; did you mean 'RCP'?" in unknown.err
    assert "SIN: not recorded: sin.approx.ftz.f32" in built.run("fit", folder, "--unit", "SIN").out
    path = folder / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert re.fullmatch(r"ptxspec: .*results\.jsonl: its digest .*\n", built.run("fit", folder, "--unit", "RCP").err)


# A model as a file, and what can be wrong with it

MODEL = """\
unit: RCP
within: sm_90..sm_90a
fitted: {gpu: A GPU, driver: 12.8, results: 100}
argument: {kind: significand, bits: 14, odd: true}
result: {exponent: -1, point: 24, precision: 24}
special:
  +zero: 0x7f800000
  -zero: 0xff800000
  +infinity: 0x00000000
  -infinity: 0x80000000
  nan: 0x7fffffff
interpolator:
  words: [{bits: 25, point: 25}, {bits: 16, point: 16}, {bits: 10, point: 10}]
  squarer: {drop: 3, of: columns}
  bias: 0x1p-26
  segments: 2
  coefficients:
    - [33554431, -65535, 1023]
    - [22369621, -29127, 311]
"""
FILE = "spec/units/RCP-sm_90.yaml"
# What is written for what, where the complaint is, and what it says.
MISTAKES = {
    "an unknown unit": ("unit: RCP", "unit: «RPC", "unknown unit 'RPC'"),
    "an unknown target": ("sm_90..sm_90a", "sm_90..«sm_99", "unknown target 'sm_99'"),
    "a key": ("  bias:", "  «byas:", "unknown key 'byas'"),
    "rows too few": ("segments: 2", "segments: 4", "2 rows of coefficients; 1 x 4 segments need 4"),
    "a long word": ("[22369621", "[«99999999", "C0 = 99999999 does not fit into 25 bits"),
    "a short encoding": ("nan: 0x7fffffff", "nan: «0x7fff", "'0x7fff' has 16 bits, f32 has 32"),
    "a missing result": ("  nan: 0x7fffffff\n", "", "missing key 'nan'"),
    "a precision": ("precision: 24", "precision: «30", "whose precision is 24"),
    "too many bits": ("bits: 14", "bits: «24", "a fraction of f32 has 23 bits"),
    "another kind's key": ("odd: true", "«mirror: negate", "an argument of kind 'significand' has no 'mirror'"),
    "a missing mirror": ("kind: significand", "kind: turns", "missing key 'mirror' of an argument of kind 'turns'"),
    "no bias": ("0x1p-26", "«0.1", "'0.1' is not what belongs here"),
    "a sum of too many bits": ("{bits: 10, point: 10}", "{bits: 10, point: 40}", "the sum has more than 62 bits"),
    "a bias of too many bits": ("0x1p-26", "0x1p40", "the sum has more than 62 bits"),
    "neither of both": ("interpolator:", "«interpolators:", "unknown key 'interpolators'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_model_has_its_place(made_up: Project, mistake: str) -> None:
    old, new, message = MISTAKES[mistake]
    assert MODEL.count(old) == 1
    made_up.write(FILE, MODEL)
    assert made_up.run("validate").code == 0
    marked = MODEL.replace(old, new)
    made_up.write(FILE, marked.replace("«", ""))
    result = made_up.run("validate")
    assert result.code == 1 and message in result.err
    line, column = 1, 1
    if "«" in marked:
        before = marked[: marked.index("«")]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert f"{FILE}:{line}:{column}: error: " in result.err
    else:
        assert f"{FILE}:" in result.err


def test_two_models_of_a_target_and_a_file_of_another_name_are_refused(made_up: Project) -> None:
    made_up.write(FILE, MODEL)
    made_up.write("spec/units/again.yaml", MODEL.replace("sm_90..sm_90a", "sm_80..sm_90"))
    assert "another file has RCP of sm_80 already" in made_up.run("validate").err or (
        "another file has RCP of sm_90 already" in made_up.run("validate").err
    )
    (made_up.root / "spec/units/again.yaml").rename(made_up.root / "spec/units/again.yml")
    assert "spec/units/again.yml:1:1: error: this file would be ignored" in made_up.run("validate").err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unit(RCP, scaled)", "unit(RPC, scaled)", "unknown name 'RPC'"),
        ("d = reciprocal * scale", "d = unit(scale, reciprocal)", "the first argument is a unit"),
        ("unit(RCP, scaled)", "unit(RCP64H, scaled)", "expected a f64 float, this is a f32 float"),
        ("reciprocal = unit(RCP, scaled)\n      d = reciprocal * scale", "d = scaled", "this calls no unit"),
        ("      d = 1 / a\n", "      d = unit(RCP, a)\n", "a unit is called under `hardware:` only"),
        ("      scaled = a * scale\n", "", "unknown name 'scaled'"),
    ],
)  # fmt: skip
def test_resting_machine_code_is_checked(made_up: Project, old: str, new: str, message: str) -> None:
    made_up.edit("spec/instructions/rcp.yaml", old, new)
    result = made_up.run("validate")
    assert result.code == 1 and message in result.err and "spec/instructions/rcp.yaml:" in result.err


# The two back ends


def models(spec: Spec) -> dict[str, UnitModel]:
    """Models of every kind, with coefficients of no meaning."""
    rng = np.random.default_rng(7)

    def interpolator(rows: int, segments: int, drop: int, columns: bool, bias: Fraction = Fraction(0)) -> Interpolator:
        words = (Word(25, 24), Word(16, 15), Word(11, 9))
        columns_ = ((1 << 23, 1 << 25), (-(1 << 15), 1 << 15), (-1000, 1000))
        table = zip(*(rng.integers(low, high, rows).tolist() for low, high in columns_), strict=True)
        return Interpolator(words, drop, columns, bias, segments, tuple(table))

    def table(function: str, places: int, width: int) -> Differences:
        steps = rng.integers(-100, 100, places).astype(f"<i{width}")
        return Differences(function, "t.txt", width, unit.pack(steps.tobytes()))

    f32, f16, f64 = spec.formats["f32"], spec.formats["f16"], spec.formats["f64"]
    special = {"+zero": 1, "-zero": 2, "+infinity": 3, "-infinity": 4, "nan": 5}
    positive = {**special, "negative": 6}
    third = Fraction(3, 2**26)

    def model(
        format: Format,
        argument: Argument,
        exponent: int | None,
        point: int,
        precision: int,
        core: Any,
        special: dict[str, int] = special,
    ) -> UnitModel:
        where, fitted = ("sm_90", "sm_90a"), Fitted("", "", 1)
        return UnitModel("U", "u", where, format, argument, exponent, point, precision, special, core, fitted)

    return {
        "significand": model(
            f32, Argument("significand", 23, odd=True), -1, 24, 24, interpolator(64, 64, 9, True, third)
        ),
        "octaves": model(f32, Argument("significand", 20, 2), 1, 23, 24, interpolator(32, 16, 5, False), positive),
        "sum": model(f32, Argument("significand", 23), None, 26, 24, interpolator(16, 16, 12, True, -third)),
        "fixed": model(f32, Argument("fixed", 23), 1, 23, 24, interpolator(32, 32, 0, False, third)),
        "turns": model(f32, Argument("turns", 24, odd=True, mirror="negate"), 0, 25, 24, interpolator(8, 8, 7, True)),
        "phase": model(
            f32, Argument("turns", 22, phase=1, mirror="complement"), 0, 24, 20, interpolator(8, 8, 3, True)
        ),
        "range": model(
            f32, Argument("octaves", 23, first=-12, last=3, odd=True), 1, 24, 24, interpolator(64, 4, 8, True)
        ),
        "range of positive numbers": model(
            f32, Argument("octaves", 23, first=-12, last=3), 1, 24, 24, interpolator(64, 4, 8, False), positive
        ),
        "upper word": model(f64, Argument("significand", 20, 2), -1, 24, 21, interpolator(32, 16, 4, True)),
        "table of significands": model(
            f32, Argument("significand", 12, 2, odd=True), -1, 0, 24, table("rSqrt", 2 << 12, 1)
        ),
        "table of fractions": model(f32, Argument("fixed", 13), 1, 0, 24, table("exp2", 1 << 13, 2)),
        "table of upper words": model(
            f64, Argument("significand", 11, odd=True), -1, 0, 21, table("reciprocal", 1 << 11, 1)
        ),
        "table of everything": model(f16, Argument("pattern", 16), 0, 0, 11, table("tanh", 1 << 16, 4), {}),
    }  # fmt: skip


KINDS = models(read(ROOT))


@pytest.mark.parametrize("name", KINDS)
def test_the_back_ends_agree_on_every_kind_of_unit(name: str) -> None:
    model = KINDS[name]
    f = model.format
    importlib.import_module("ptxemu.unit")
    rng = np.random.default_rng(8)
    near = rng.integers(0, 1 << f.fraction_bits, 800, dtype=np.uint64)
    exponents = np.clip(f.bias + rng.integers(-16, 9, 800), 1, 2 * f.bias).astype(np.uint64)
    signs = rng.integers(0, 2, 800, dtype=np.uint64)
    numbers = signs << np.uint64(f.width - 1) | exponents << np.uint64(f.fraction_bits) | near
    anywhere = rng.integers(0, 1 << 63, 400, dtype=np.uint64) >> np.uint64(max(0, 63 - f.width))
    x = np.concatenate([special_values(f), numbers, anywhere]).astype(f"u{f.width // 8}")
    with np.errstate(all="ignore"):
        got = ptxemu.unit.unit(x, emulated(model, ptxemu))
    assert got.dtype == x.dtype
    assert got.tolist() == [unit.evaluate(model, int(v), exact._rounded) for v in x]
    assert ptxemu.unit.unit(x[3], emulated(model, ptxemu)) == got[3]


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("drop", [0, 1, 2, 5, 8, 13])
def test_a_square_lacks_what_stands_below(drop: int, columns: bool) -> None:
    u = replace(UNITS["RCP"], drop=drop, columns=columns, points=(0, 0, 0), bias=Fraction(0), point=2 * BITS)
    u = replace(u, table=((0, 0, 1),) * 16)
    x = np.arange(0, 1 << (BITS - u.m), 7)
    squares = ptxemu.unit.square(x.astype(np.int64), drop, columns) << drop
    assert squares.tolist() == [int(u.polynomial(int(v)) * 4**BITS) for v in x]


def test_a_common_residue_is_found_where_there_is_one() -> None:
    rng = np.random.default_rng(9)
    found = 0
    for _ in range(300):
        modulus = 1 << int(rng.integers(1, 6))
        choices = [
            [(int(a), int(a + b)) for a, b in zip(rng.integers(-50, 50, n), rng.integers(0, 20, n), strict=True)]
            for n in rng.integers(1, 4, int(rng.integers(1, 5)))
        ]
        allowed = [
            r for r in range(modulus)
            if all(any((v - r) % modulus == 0 for a, b in c for v in range(a, b + 1)) for c in choices)
        ]  # fmt: skip
        got = common_residue(choices, modulus)
        assert got in allowed if allowed else got is None
        if got is not None:
            found += 1
            assert all((got & -got or modulus) >= (r & -r or modulus) for r in allowed)
    assert 50 < found < 300


def some_model(u: Unit) -> UnitModel:
    """A model of a unit with the argument that is expected, and coefficients of no meaning."""
    fitted = Fitted("Made-up GPU", "1", 1)
    within, exponent, precision = ("sm_90", "sm_90a"), u.exponent, u.precision
    argument, special, core = u.argument, u.special, KINDS["significand"].core
    if argument is None:
        argument, special, core = KINDS["range"].argument, KINDS["range"].special, KINDS["range"].core
    elif argument.kind == "pattern":
        table = KINDS["table of everything"].core
        assert isinstance(table, Differences)
        core = replace(table, function=u.function, name=f"{u.name}.txt")
    else:
        if argument.kind == "turns":
            argument = replace(argument, bits=24, mirror="complement")
        assert isinstance(core, Interpolator)
        core = replace(core, segments=64 // argument.octaves)
    return UnitModel(u.name, u.name, within, u.format, argument, exponent, 24, precision, special, core, fitted)


def test_every_path_runs_alike_in_both_back_ends(project: Project) -> None:
    shutil.copytree(ROOT / "spec/instructions", project.root / "spec/instructions", dirs_exist_ok=True)
    made = {u.name: some_model(u) for u in read(project.root).units.values()}
    for name, model in made.items():
        project.write(f"spec/units/{name}.yaml", as_yaml(model))
        if isinstance(model.core, Differences):
            project.write(f"spec/units/{model.core.name}", model.core.text)
    result = project.run("generate")
    assert result.code == 0, result.err
    spec = read(project.root)
    for name, model in made.items():
        # Written and read it is the same; models themselves are compared as objects.
        assert [(m.core, m.argument, m.special) for m in spec.units[name].models] == [
            (model.core, model.argument, model.special)
        ]

    emu, followed = emulator(Root(project.root, False)), set()
    rng = np.random.default_rng(10)
    for c in check(spec)[0]:
        for v, programs in c.programs.items():
            if c.instruction.hardware_path(v) is None or v.type.lanes > 1 or v.requires.until is not None:
                continue
            assert programs["sm_90"] is programs["sm_90a"] is not programs[None]
            assert "sm_80" not in programs
            f = v.type.format
            anywhere = rng.integers(0, 1 << 63, 60, np.uint64)
            one = np.concatenate([special_values(f), anywhere]).astype(f"u{f.width // 8}")
            # Of two operands, special ones meet others.
            columns = [np.roll(one, 5 * i) for i in range(v.operands)]
            got = emu.execute(v.spelling, *columns, target="sm_90")
            rows = zip(*(x.tolist() for x in columns), strict=True)
            assert got.tolist() == [exact.run(programs["sm_90"], row) for row in rows], v
            followed.add(v.spelling)
    assert {"div.full.f32", "sin.approx.f32", "lg2.approx.f32", "rcp.approx.ftz.f64", "tanh.approx.bf16"} <= followed


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_a_unit_of_the_published_size_is_found_again(tmp_path: Path, seed: int) -> None:
    """128 segments with words of 26, 16 and 10 bits, 65,536 results each, as a GPU would be recorded."""
    spec, rng = read(ROOT), np.random.default_rng(seed)
    drop, columns, bias = int(rng.integers(4, 11)), bool(seed % 2), Fraction(int(rng.integers(0, 8)), 2**28)
    nodes = (np.cos(np.pi * (np.arange(9) + 0.5) / 9) + 1) / 2 / 128
    rows = []
    for i in range(128):
        c2, c1, c0 = np.polyfit(nodes, 1 / (1 + i / 128 + nodes), 2)
        rows.append((round(c0 * 2**26 * (1 - 2.0**-25)), round(c1 * 2**16), round(c2 * 2**10)))
    core = Interpolator((Word(26, 26), Word(16, 16), Word(10, 10)), drop, columns, bias, 128, tuple(rows))
    u = spec.units["RCP"]
    argument = Argument("significand", 23, odd=True)
    where, fitted = ("sm_90", "sm_90"), Fitted("", "", 1)
    model = UnitModel("RCP", "RCP", where, u.format, argument, -1, 24, 24, u.special, core, fitted)
    importlib.import_module("ptxemu.unit")
    gpu = emulated(model, ptxemu)
    outcome = fit(spec, u, recorded_as(tmp_path, "rcp.approx.ftz.f32", lambda x: ptxemu.unit.unit(x, gpu)), ptxemu)
    assert outcome.model is not None, outcome.report
    found = outcome.model.core
    assert isinstance(found, Interpolator)
    assert [r[1:] for r in found.coefficients] == [r[1:] for r in rows]
