"""The results of published models are kept, computed anew, and never taken for a recording of a GPU."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.bench import SMALL
from helpers.project import Project, copied
from helpers.repository import specification
from helpers.sizes import each_size
from helpers.standin import StandIn
from numpy.typing import NDArray
from ptxspec.check.claims import CLAIMS
from ptxspec.cli import conformance
from ptxspec.evaluate import emulator
from ptxspec.model import Variant as Model
from ptxspec.model.bounds import parse_bound
from ptxspec.proving.gpu import cuda, vectors
from ptxspec.proving.gpu.bounds import Judge
from ptxspec.proving.gpu.run import _exceeds
from ptxspec.query.database import Database, Variant
from ptxspec.roots import Root

EVIDENCE = ROOT / "tests/published/ptx-math"
REPORTS = {r.results: r for r in specification().published["ptx-math"].reports}
NAMES = list(REPORTS)
# Zeros and subnormal numbers, ones, infinities and NaNs, of both signs, and small and large angles.
FEW = (
    0x000, 0x001, 0x007, 0x008, 0x345, 0x3DC, 0x3F8, 0x40C, 0x445, 0x4A1, 0x4FF, 0x500,
    0x7F7, 0x7F8, 0x800, 0xB80, 0xBF8, 0xC23, 0xFF8,
)  # fmt: skip


@cache
def digests(name: str) -> list[int]:
    """The digests of a model's results on all operands, 2^20 a digest."""
    return np.fromfile(EVIDENCE / f"{name}.digests", "<u8").tolist()  # type: ignore[no-any-return]


def named(db: Database, spelling: str) -> Variant:
    return next(v for v in db.opcodes[spelling.partition(".")[0]].variants if v.spelling == spelling)


def differing(name: str, blocks: list[int]) -> list[str]:
    """The blocks of 2^20 encodings for which the emulator has other digests on some target."""
    report = REPORTS[name]
    # Targets that compute the same are one.
    kernels = {k._choice[0]: k for t in report.targets for k in [ptxemu.compile(report.variant, target=t)]}
    assert all(k.claim == "reported" for k in kernels.values())
    found = []
    for block in blocks:
        x = vectors.encodings(32, block << 20, vectors.BLOCK, 0)
        found += [
            f"0x{block << 20:08x} on {k.target}"
            for k in kernels.values()
            if vectors.digest(k(x)) != digests(name)[block]
        ]
    return found


def test_everything_reported_is_kept() -> None:
    """And is never taken for a recording of a GPU."""
    assert sorted(p.stem for p in EVIDENCE.glob("*.digests")) == sorted(NAMES)
    assert all(len(digests(name)) == 1 << 12 for name in NAMES)
    about = json.loads((EVIDENCE / "about.json").read_text("utf-8"))
    assert about["commit"] == specification().published[about["model"]].commit
    assert not {"gpu", "driver", "recorder", "target", "compiler"} & about.keys()


def test_units_of_the_repository_are_followed_where_they_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    spec = specification()
    known = {u.name for u in spec.units.values() if u.models}
    assert known == {"RCP", "RSQ", "SQRT", "LG2", "EX2", "SIN", "COS", "RRO_SIN", "RRO_COS"}
    # No GPU was recorded.
    assert all(m.fitted.reported == "ptx-math" and not m.fitted.gpu for u in spec.units.values() for m in u.models)
    paths = [(i, p) for i in spec.instructions.values() for p in i.hardware]
    assert {i.opcode for i, _ in paths} == {"cos", "div", "ex2", "lg2", "rcp", "rsqrt", "sin", "sqrt", "tanh"}
    assert {u for _, p in paths for u in p.units} == set(spec.units)
    x = np.arange(0, 1 << 32, 9_999_991, dtype=np.uint32)
    for spelling in ("rcp.approx.f32", "sin.approx.f32"):
        assert (ptxemu.execute(spelling, x, target="sm_90") == ptxemu.execute(spelling, x)).all()
        assert (ptxemu.execute(spelling, x, target="sm_75") != ptxemu.execute(spelling, x)).any()
    data = json.loads((ROOT / "generated/data/ptxspec.json").read_text("utf-8"))
    assert [m["reported"] for m in data["units"]["EX2"]["models"]] == ["ptx-math"]
    # The trace shows what was read of the unit's table.
    found = Project(ROOT, capsys).run("eval", "rcp.approx.f32", "0x7f000001", "--target", "sm_75", "--trace")
    assert found.code == 0 and "reciprocal = unit(RCP, scaled)" in found.out, found.err
    assert "    RCP         of sm_50 to sm_75: segment 0, place 1 in it, scale 2^125\n" in found.out
    assert "    table       C0, C1, C2 = " in found.out and "scaled and cut off to 24 bits\n" in found.out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_emulator_has_what_the_model_returned(name: str) -> None:
    assert differing(name, list(FEW[NAMES.index(name) % 3 :: 3])) == []


CHAIN = ("ex2", "rcp", "rsqrt", "sqrt", "sin", "cos", "lg2")


@pytest.mark.exhaustive
def test_a_gpu_with_published_units_is_recorded_and_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for a GPU of sm_75."""
    project = Project(copied(tmp_path / "project", CHAIN), capsys)
    for path in (ROOT / "spec/units").glob("*.yaml"):
        shutil.copy(path, project.root / "spec/units")
    (project.root / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    assert project.run("generate").code == 0
    device = StandIn(ptxemu, target="sm_75")
    monkeypatch.setattr(cuda, "CudaDevice", lambda: device)
    monkeypatch.setattr(conformance.vectors, "Sizes", SMALL)
    folder = project.root / "tests/recordings/stand-in"
    for option in ("--record", "--replay"):
        found = project.run("conformance", option, folder)
        assert found.code == 0, found.out + found.err
    assert project.run("generate").code == 0
    for opcode in CHAIN:
        answer = project.run("query", f"{opcode}.approx.ftz.f32", "--target", "sm_75").out
        assert "claim     measured" in answer, answer


@pytest.mark.parametrize("variant", ["rcp", "rsqrt", "sqrt", "sin", "cos", "lg2", "ex2"])
def test_claims_say_on_which_targets_the_author_compared(variant: str) -> None:
    spec, db = specification(), Database.read(Root(ROOT).data)
    v = next(v for v in spec.instructions[variant].variants if v.spelling == f"{variant}.approx.f32")
    compared = ("sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_70", "sm_75")
    assert spec.other_claims(v)["reported"] == compared
    assert spec.inferred_on(v) == ("sm_62", "sm_72", *(["sm_86"] if variant == "rcp" else []))
    assert ptxemu.compile(v.spelling, target="sm_75").claim == "reported"
    for target in ("sm_62", "sm_72", "sm_80", "sm_90", None):
        # The unit of sm_70 breaks the bound on the cosine.
        claim = "unspecified" if (variant, target) == ("cos", "sm_72") else "bounded"
        assert spec.claim(v, target) == claim == ptxemu.compile(v.spelling, target=target).claim
    for target in compared:
        told = db.on(named(db, v.spelling), target)
        assert told.claim == "reported" and "Benjamin Carleton" in told.basis and "not measured by us" in told.basis
    assert "by inference" in db.on(named(db, v.spelling), "sm_72").basis
    # With .ftz nobody compared it.
    flushing = db.on(named(db, f"{variant}.approx.ftz.f32"), "sm_75")
    assert flushing.claim == ("unspecified" if variant == "cos" else "bounded") and "by inference" in flushing.basis
    assert "reported" in CLAIMS


def test_a_published_model_is_no_recording(capsys: pytest.CaptureFixture[str]) -> None:
    result = Project(ROOT, capsys).run("conformance", "--replay", EVIDENCE)
    assert result.code == 2 and "not a recording" in result.err


EXCEEDED = [(i, a) for i in specification().instructions.values() for a in i.accuracy if a.exceeded]
WITH_UNITS = [
    (v, target)
    for i in specification().instructions.values()
    for v in i.variants
    if v.claim == "bounded" and not v.means
    for target in ("sm_53", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_86")
    if specification().follows(v, target)
]


def test_a_bound_that_hardware_exceeds_is_the_manuals_error() -> None:
    """The worst operands have the results that are told of them, which lie outside of the bound by what is told."""
    spec = specification()
    assert {i.opcode for i, _ in EXCEEDED} == {"cos", "sqrt", "div"}
    for i, a in EXCEEDED:
        e = a.exceeded
        assert e is not None
        v = min((v for v in i.variants if a.selector.matches(v) and not v.means), key=lambda v: len(v.modifiers))
        for target in {t for w in e.within for t in w}:
            x = [np.array([n], np.uint32) for n in e.operands]
            got = ptxemu.execute(v.spelling, *x, target=target)
            assert int(got[0]) == e.result, target
            judged = Judge(spec, i, v, None).judge(x, got, ptxemu.execute(v.spelling, *x))
            part = Fraction(judged.error[0]) * parse_bound(a.bound)
            assert judged.outside[0] and float(part) == pytest.approx(float(parse_bound(e.error)), rel=1e-3)
            assert e.worst(32) in _exceeds(spec, v, target)
    v = next(v for v in spec.instructions["cos"].variants if v.spelling == "cos.approx.f32")
    assert "0x409ccdb6 gives 0x3e3f198d" in _exceeds(spec, v, "sm_75") and not _exceeds(spec, v, "sm_61")
    differences = (ROOT / "generated/manual/differences.md").read_text("utf-8")
    assert "exceeds the bound on sm_70 to sm_75 ([published model]" in differences


def test_a_claim_is_that_of_the_path_that_is_followed() -> None:
    spec, db = specification(), Database.read(Root(ROOT).data)
    for v, target in WITH_UNITS:
        claim, worst = spec.claim(v, target), spec.exceeded(v, target)
        told = db.on(named(db, v.spelling), target)
        statement = f"{v.spelling} d, {', '.join(s.name for s in v.sources)};"
        assert told.claim == claim == ptxemu.compile(v.spelling, target=target).claim
        assert ptxemu.function(statement, target=target).claim == claim
        assert (claim == "unspecified") <= bool(worst) and (claim == "bounded") <= (worst is None)
        if claim == "unspecified" and worst and worst.exceeded:
            assert worst.exceeded.error in told.basis


# One target of each path: what the others compute is the same object.
PATHS = {
    (v.spelling, ptxemu.compile(v.spelling, target=target)._choice[0], specification().exceeded(v, target)): (v, target)
    for v, target in reversed(WITH_UNITS)
}


@each_size
@pytest.mark.parametrize(("v", "target"), PATHS.values(), ids=lambda x: getattr(x, "spelling", x))
def test_no_result_of_a_path_is_farther_out_than_is_known(v: Model, target: str, whole: bool) -> None:
    """On some of the operands that tell its units apart."""
    spec = specification()
    columns = some_operands(v, 1 << 14 if whole else 1 << 9)
    got, want = (ptxemu.execute(v.spelling, *columns, target=t) for t in (target, None))
    differ = np.flatnonzero(got != want)
    judge = Judge(spec, spec.instructions[v.opcode], v, target)
    judged = judge.judge([c[differ] for c in columns], got[differ], want[differ])
    assert differ.size and (judged.outside == judged.excused).all()


def some_operands(v: Model, count: int) -> list[NDArray[np.uint32]]:
    """Numbers of the binades that matter, and the worst of the bounds that are broken."""
    r = np.random.default_rng(8)
    binades = (np.array([1, 2, 100, 126, 127, 128, 129, 130, 134, 253]) << 23).astype(np.uint32)
    worst = [a.exceeded.operands for i, a in EXCEEDED if i.opcode == v.opcode and a.exceeded]
    columns = []
    for k in range(len(v.sources)):
        x = r.choice(binades, count) | r.integers(0, 1 << 23, count, dtype=np.uint32)
        columns.append(np.concatenate([np.array([w[k] for w in worst], np.uint32), x]))
    return columns


def test_the_reciprocal_of_sm_86_is_that_of_the_model() -> None:
    """Quotients x / x other than 1 are half as many in one binade as an RTX 3090 has of both signs or two binades."""
    x = np.arange(0x3F800000, 0x40000000, dtype=np.uint32)
    ones = ptxemu.execute("div.full.f32", x, x, target="sm_86")
    assert int((ones != 0x3F800000).sum()) == 1_371_270 == 2_742_540 // 2
    a = np.array([3163.328613], np.float32)
    assert ptxemu.execute("div.full.f32", a, a, target="sm_86") == np.float32(0.99999994)
    told = Database.read(Root(ROOT).data)
    for variant in ("rcp.approx.ftz.f32", "rcp.approx.f32", "div.full.f32", "div.approx.ftz.f32"):
        on = told.on(named(told, variant), "sm_86")
        assert "by inference" in on.basis and "openxla/xla/pull/46400" in on.basis
        assert told.on(named(told, variant), "sm_80").basis == named(told, variant).basis
    # Nothing speaks for the other units there.
    assert not any(specification().follows(v, "sm_86") for v, _ in WITH_UNITS if v.opcode not in ("rcp", "div"))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("target", "code"), [("sm_75", 0), ("sm_80", 1)])
def test_a_gpu_that_exceeds_the_bound_as_is_known_of_it_agrees(
    target: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in with a published unit, beside a specification that knows of none. Of sm_80 nothing is known."""
    project = Project(copied(tmp_path / "project", ("cos",)), capsys)
    (project.root / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    units = project.root / "spec/units.yaml"
    units.write_text(re.sub(r"count: \d{6,}", "count: 4096", units.read_text("utf-8")), "utf-8")
    assert project.run("generate").code == 0

    def published(operands: Sequence[NDArray[np.uint32]], _: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return ptxemu.execute("cos.approx.f32", operands[0], target="sm_75")  # type: ignore[no-any-return]

    device = StandIn(emulator(Root(project.root)), target=target, wrong={"cos.approx.f32": published})
    monkeypatch.setattr(cuda, "CudaDevice", lambda: device)
    monkeypatch.setattr(conformance.vectors, "Sizes", partial(vectors.Sizes, random=1 << 22, sample=1 << 7))
    found = project.run("conformance", "--format", "json")
    (row,) = (v for v in json.loads(found.out)["variants"] if v["variant"] == "cos.approx.f32")
    assert row["found"]["outside"] > 0 and row["found"]["worst"] > 1
    assert (found.code, row["verdict"]) == (code, "disagrees" if code else "agrees")
    assert ("0x409ccdb6 gives 0x3e3f198d" in (row["exceeds"] or "")) == (code == 0)
