"""A recording can be replayed, goes on where it was stopped, and is refused where it was changed."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.bench import OPCODES, VARIANTS, Bench, edited, next_up, some_up, up, variant
from helpers.standin import StandIn
from ptxspec.diagnostics import PtxspecError
from ptxspec.proving.gpu import blobs, compare as comparing, cuda, recording, vectors
from ptxspec.specification import read


def test_a_recording_is_replayed_without_the_gpu(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bench.root / "recorded"
    live = bench.rows("--record", folder)
    monkeypatch.setattr(cuda, "CudaDevice", pytest.fail)
    replayed = bench.rows("--replay", folder)
    assert bench.run("--replay", folder).code == 0
    assert {k: v for k, v in live.items() if v["verdict"] != "skipped"} == replayed
    about = json.loads((folder / "about.json").read_text("utf-8"))
    assert about["gpu"] == "Stand-in" and about["target"] == "sm_90" and about["complete"] is True
    assert {"driver", "compiler", "date", "program", "specification"} <= about.keys()


@pytest.mark.exhaustive
def test_a_replay_finds_what_the_run_found(bench: Bench) -> None:
    folder = bench.root / "recorded"
    hidden = {"add.f32": lambda _, r: np.concatenate([r[:900], r[900:] ^ np.uint32(1)]) if r.size == 1024 else r}
    bench.device.wrong = {"add.f64": next_up, "rsqrt.approx.f64": next_up, "ex2.approx.f16": some_up, **hidden}
    live = bench.run("--record", folder)
    replayed = bench.run("--replay", folder)
    assert live.code == replayed.code == 1
    rows = bench.rows("--replay", folder)
    assert {k for k, v in rows.items() if v["verdict"] == "disagrees"} == {"add.f64", "add.f32", "ex2.approx.f16"}
    # Only digests are left of what differs late in a stream.
    assert rows["add.f32"]["found"] == {"count": 76**2 + 2048, "blocks": 2}
    assert any("0 in 2 blocks" in x for x in replayed.out.splitlines() if x.startswith("add.f32 "))
    assert rows["ex2.approx.f16"]["found"]["outside"] > 0 and rows["rsqrt.approx.f64"]["verdict"] == "shown"


@pytest.mark.exhaustive
def test_a_stopped_run_goes_on(bench: Bench) -> None:
    folder = bench.root / "recorded"
    whole = bench.rows()
    every = len(bench.device.launches)
    bench.device = StandIn(bench.device.emulator, stops=every // 2)
    assert bench.run("--record", folder).code == 130
    refused = bench.run("--replay", folder)
    assert refused.code == 2 and "incomplete" in refused.err and "--record" in refused.err
    with (folder / "results.jsonl").open("ab") as f:
        f.write(b'{"variant": "add.f3')
    bench.device = StandIn(bench.device.emulator)
    assert bench.rows("--record", folder) == whole
    assert len(bench.device.launches) == every - every // 2
    assert bench.run("--replay", folder).code == 0
    # What is complete is not run again; what failed is.
    bench.device = StandIn(bench.device.emulator)
    assert bench.rows("--record", folder) == whole and bench.device.launches == []


@pytest.mark.exhaustive
def test_what_failed_is_run_when_the_recording_goes_on(bench: Bench) -> None:
    folder = bench.root / "recorded"
    bench.device.failing = frozenset(["add.f64"])
    assert bench.run("--record", folder).code == 2
    about = json.loads((folder / "about.json").read_text("utf-8"))
    assert about["failed"] == {"add.f64 (2 operands)": "add_f64_2: CUDA_ERROR_ILLEGAL_ADDRESS"}
    bench.device = StandIn(bench.device.emulator)
    assert bench.run("--record", folder).code == 0
    assert set(bench.device.launches) == {"add.f64"}


@pytest.mark.exhaustive
def test_all_inputs_are_recorded_as_digests(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "INPUTS", 1 << 12)
    monkeypatch.setattr(vectors, "SLICE", 1 << 11)
    folder = bench.root / "recorded"
    counts = {k: v["found"]["count"] for k, v in bench.rows().items() if "found" in v and v["verdict"] != "skipped"}
    assert bench.run("--record", folder).code == 0
    rows = bench.rows("--record", folder, "--exhaustive")
    more = {k for k, v in rows.items() if k in counts and v["found"]["count"] == counts[k] + 4096}
    assert {"ex2.approx.f32", "rsqrt.approx.f32", "testp.normal.f32"} <= more
    assert not any(k.endswith((".f64", ".f16", "add.f32")) for k in more)
    assert bench.run("--replay", folder).code == 0
    bench.device.wrong = {"testp.normal.f32": lambda x, r: np.where(x[0] == 4095, r ^ np.uint32(1), r)}
    assert bench.rows("--exhaustive")["testp.normal.f32"]["found"]["unequal"] == 1
    refused = bench.run("--replay", folder, "--exhaustive")
    assert refused.code == 2 and "--exhaustive requires a GPU" in refused.err


@pytest.fixture
def copied(recorded: Path, tmp_path: Path) -> Path:
    shutil.copytree(recorded, tmp_path / "copied")
    return tmp_path / "copied"


def test_a_recording_that_was_changed_is_refused(bench: Bench, copied: Path) -> None:
    results = (copied / "results.jsonl").read_bytes()
    lines = results.splitlines(True)

    def refused(reason: str) -> None:
        result = bench.run("--replay", copied)
        assert result.code == 2 and result.out == "" and reason in result.err and result.err.count("\n") == 1

    (copied / "results.jsonl").write_bytes(results.replace(b'"count":', b'"count": ', 1))
    refused("its digest is not the one in about.json")
    # Whoever mends that digest is refused for those inside.
    for i, line in enumerate(lines):
        unit = json.loads(line)
        if unit.get("stream") == "grid":
            unit["digests"] = "AAAAAAAAAAA="
            changed = b"".join([*lines[:i], json.dumps(unit).encode() + b"\n", *lines[i + 1 :]])
            break
    (copied / "results.jsonl").write_bytes(changed)
    edited(copied, digest=blobs.digest(changed))
    refused("the results have another digest")
    one, other = (json.loads(x) for x in [x for x in lines if b'"data"' in x][:2])
    for data, reason in ((other["data"], "the results have another digest"), ("!", "results.jsonl:1: ")):
        changed = b"".join([json.dumps({**one, "data": data}).encode() + b"\n", *lines[1:]])
        (copied / "results.jsonl").write_bytes(changed)
        edited(copied, digest=blobs.digest(changed))
        refused(reason)
    (copied / "results.jsonl").write_bytes(results)
    edited(copied, digest=blobs.digest(results))
    assert bench.run("--replay", copied).code == 0
    edited(copied, failed=None)
    refused("about.json is not a recording: failed is not an object")
    edited(copied, failed={}, operands=vectors.VERSION + 1)
    refused("another version of the recorder")
    edited(copied, operands=vectors.VERSION, specification={"sha256": "", "variants": "0" * 64})
    refused("recorded for another specification")
    (copied / "about.json").write_text("{}", "utf-8")
    refused("not a recording")
    shutil.rmtree(copied)
    refused("No such file")


def test_a_recording_outlives_edits_but_not_its_variants(bench: Bench, copied: Path) -> None:
    bench.project.edit("spec/instructions/add.yaml", "summary: ", "summary: Reworded. ")
    assert bench.run("--replay", copied).code == 0
    refused = bench.run("--record", copied)
    assert refused.code == 2 and "begun with another specification" in refused.err
    (bench.root / "spec/instructions/rsqrt.yaml").unlink()
    refused = bench.run("--replay", copied)
    assert refused.code == 2 and "recorded for another specification: rsqrt" in refused.err


@pytest.mark.exhaustive
def test_verdicts_of_an_older_emulator_are_not_kept(bench: Bench) -> None:
    """Its results were others: what it was found to agree with is found anew, in digests too."""
    folder = bench.root / "tests/recordings/standin"
    late = {"add.f64": lambda _, r: np.concatenate([r[:900], r[900:] ^ np.uint64(1)]) if r.size == 1024 else r}
    bench.device.wrong = {"ex2.approx.f32": up(1), **late}
    assert bench.run("--record", folder).code == 1
    path = folder / "results.jsonl"
    units = [json.loads(x) for x in path.read_text("utf-8").splitlines()]

    def judged_by(emulator: str) -> dict[str, dict[str, Any]]:
        for u in units:
            if "found" in u:
                of_then = {"unequal": 5} if u["variant"] == "add.f32" else {}
                u |= {"emulator": emulator or u["emulator"], "found": {"count": u["count"], **of_then}}
        path.write_text("".join(json.dumps(u) + "\n" for u in units), "utf-8")
        bench.device.launches.clear()
        found = bench.rows("--record", folder)
        assert bench.device.launches == []
        return found

    # Those of this emulator are believed.
    assert {k for k, v in judged_by("").items() if v["verdict"] == "disagrees"} == {"add.f32"}
    rows = judged_by("0123456789abcdef")
    # Where all was said to be equal, what is inside of its bound was measured, and disagrees.
    assert {k for k, v in rows.items() if v["verdict"] == "disagrees"} == {"add.f64", "ex2.approx.f32"}
    assert rows["add.f64"]["found"]["blocks"] == 2 and rows["ex2.approx.f32"]["found"]["unequal"] > 0
    (registered,) = read(bench.root).recordings
    findings = {s: registered.finding(variant(s)) for s in ("add.f32", "add.f64", "ex2.approx.f32")}
    assert findings == {"add.f32": "equal", "add.f64": "unequal", "ex2.approx.f32": "inside"}


@pytest.mark.exhaustive
def test_other_kernels_do_not_go_on(bench: Bench, copied: Path) -> None:
    with (bench.root / "generated/cuda/add.cu").open("a", encoding="utf-8") as f:
        f.write("// another\n")
    refused = bench.run("--record", copied)
    assert refused.code == 2 and "begun with other kernels" in refused.err and refused.err.count("\n") == 1
    assert bench.run("--replay", copied).code == 0


@pytest.mark.exhaustive
def test_a_new_emulator_has_another_digest(bench: Bench, copied: Path) -> None:
    before = json.loads((copied / "about.json").read_text("utf-8"))["emulator"]
    with (bench.root / "generated/python/ptxemu/rounding.py").open("a", encoding="utf-8") as f:
        f.write("# another\n")
    assert bench.run("--record", copied).code == 0
    assert json.loads((copied / "about.json").read_text("utf-8"))["emulator"] != before


@pytest.mark.exhaustive
def test_a_quick_run_into_an_exhaustive_recording_is_about_all_of_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "INPUTS", 1 << 12)
    monkeypatch.setattr(vectors, "SLICE", 1 << 11)
    bench.device.wrong = {"testp.normal.f32": lambda x, r: np.where(x[0] == 4095, r ^ np.uint32(1), r)}
    folder = bench.root / "tests/recordings/standin"
    whole = bench.rows("--record", folder, "--exhaustive")
    assert whole["testp.normal.f32"]["verdict"] == "disagrees"
    assert {k: v["found"] for k, v in bench.rows("--record", folder).items()} == {
        k: v["found"] for k, v in whole.items()
    }
    (registered,) = read(bench.root).recordings
    assert registered.finding(variant("testp.normal.f32")) == "unequal"


@pytest.mark.exhaustive
def test_about_does_not_say_what_only_the_results_know(
    bench: Bench, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with --exhaustive that is stopped at once, and finished without: no input of a sweep was run."""
    monkeypatch.setattr(vectors, "INPUTS", 1 << 12)
    monkeypatch.setattr(vectors, "SLICE", 1 << 11)
    bench.device.stops = 0
    assert bench.run("--record", copied, "--exhaustive").code == 130
    bench.device.stops = -1
    assert bench.run("--record", copied).code == 0
    assert "exhaustive" not in json.loads((copied / "about.json").read_text("utf-8"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("broken", [False, True])
def test_where_nothing_ran_nothing_is_complete_or_registered(bench: Bench, broken: bool) -> None:
    folder = bench.root / "tests/recordings/standin"

    def fail() -> None:
        bench.device.failing = frozenset(v.spelling for v in VARIANTS)
        bench.device.broken = frozenset(f"{o}.cu" for o in OPCODES if broken)
        assert bench.run("--record", folder).code == 2

    fail()
    assert json.loads((folder / "about.json").read_text("utf-8"))["complete"] is False
    assert recording.below(bench.root) == [] and not (bench.root / "spec/observed/recordings.yaml").exists()
    bench.device = StandIn(bench.device.emulator)
    assert bench.run("--record", folder).code == 0
    register = (bench.root / "spec/observed/recordings.yaml").read_text("utf-8")
    if broken:
        # Nor does it undo what is complete.
        fail()
        assert (bench.root / "spec/observed/recordings.yaml").read_text("utf-8") == register
        assert recording.below(bench.root) == [folder] and bench.run("--replay", folder).code == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("full", ["about.json", "recordings.yaml"])
def test_a_full_disk_leaves_what_was_there(
    bench: Bench, recorded: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    folder = bench.root / "tests/recordings/standin"
    shutil.copytree(recorded, folder)
    assert bench.run("--replay", folder).code == 0
    replace = Path.replace

    def kept() -> list[Any]:
        about, results = folder / "about.json", folder / "results.jsonl"
        assert sorted(folder.iterdir()) == [about, results]
        return [read(bench.root).recordings, json.loads(about.read_bytes()), results.read_bytes()]

    before = kept()

    def no_room(path: Path, target: Path) -> Path:
        if not path.name.startswith(full):
            return replace(path, target)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_room)
    result = bench.run("--record", folder)
    assert result.code == 2 and result.err.count("\n") == 1
    assert "cannot be written: No space left on device" in result.err
    assert kept() == before


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to write to")
def test_a_disk_that_is_full_while_results_are_written(bench: Bench, copied: Path) -> None:
    spec = read(bench.root)
    about = json.loads((copied / "about.json").read_text("utf-8"))
    v, part = variant("add.f32"), vectors.StreamPart("every", 0, 1, 1)
    recorder = recording.Recorder(copied, spec, about)
    recorder._file.close()
    recorder._file = Path("/dev/full").open("ab")  # noqa: SIM115
    with pytest.raises(PtxspecError, match="No space left"), recorder:
        recorder.write(v, part, np.zeros(1, np.uint32), [0], comparing.ComparisonCounts(1))
    assert bench.run("--replay", copied).code == 2
    assert bench.run("--record", copied).code == 0 and bench.run("--replay", copied).code == 0


def test_only_the_same_run_goes_on(bench: Bench, copied: Path) -> None:
    bench.device.target = "sm_80"
    refused = bench.run("--record", copied)
    assert refused.code == 2 and "begun with another target: sm_90, now sm_80" in refused.err
    refused = bench.run("--record", bench.root / "spec")
    assert refused.code == 2 and "has other files" in refused.err


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_two_runs_do_not_record_into_one_folder(bench: Bench, copied: Path) -> None:
    about = json.loads((copied / "about.json").read_text("utf-8"))
    with recording.Recorder(copied, read(bench.root), about):
        refused = bench.run("--record", copied)
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert f"another run records in {copied}" in refused.err
    assert bench.run("--record", copied).code == 0


@pytest.mark.exhaustive
def test_what_a_run_left_that_was_killed_at_once_is_no_other_thing(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "about.json.0123456789abcdef.new").write_text('{"recor')
    (folder / "results.jsonl").write_text("results without their about.json")
    refused = bench.run("--record", folder)
    assert refused.code == 2 and "has other files" in refused.err
    (folder / "results.jsonl").write_text("")
    assert bench.run("--record", folder).code == 0
    assert sorted(p.name for p in folder.iterdir()) == ["about.json", "results.jsonl"]
