"""ptxspec sweep: every operand counts once, whatever stops it, and its verdict is about all of them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec.proving.compare.tallying import Tally
from ptxspec.proving.sweep import sweeping
from ptxspec.proving.sweep.blocks import JUDGES, Counted, Job, Sweep, sweep_of
from ptxspec.proving.sweep.state import _digest
from ptxspec.roots import PACKAGE

from .conftest import Sweeping

# abs.f16 has one NaN, and the piece keeps the bits of each: they differ in all 2,046 but two.
ABS, MASKED = "abs.f16", "and.b16 %d, %a, 0x7fff;"
DIFFER = 2044
JSON = ("--format", "json")


def test_all_operands_are_tried_where_they_are_few(sweep: Sweeping) -> None:
    answer = sweep("abs.f16", "abs.f16 %d, %a;")
    assert answer.code == 0
    assert answer.out.startswith("abs.f16 and abs.f16 %d, %a; are equal on all 65,536 operands.\n0 of 65,536 results")
    pairs = sweep("and.pred", "and.pred %d, %b, %a;", *JSON).data
    assert pairs["tried"] == [{"stream": "pairs", "count": 4, "whole": True}]


def test_what_differs_is_counted_exactly(sweep: Sweeping, small: None) -> None:
    answer = sweep(ABS, MASKED, *JSON)
    assert answer.code == 1
    data = answer.data
    assert data["results"] == {"judged": 65536, "differ": DIFFER, "open": 0} and not data["equal"]
    assert data["tried"] == [{"stream": "every", "count": 65536, "whole": True}]
    assert {d["what"] for d in data["differences"]} == {"nan-bits"}
    assert sum(d["count"] for d in data["differences"]) == DIFFER
    text = sweep(ABS, MASKED).out
    assert "differ only in the bits of NaNs. Tried: all 65,536 operands." in " ".join(text.split())
    assert f"\n{DIFFER:,} of 65,536 results differ.\n" in text


def test_one_made_difference_among_all_operands_is_found(sweep: Sweeping, small: None) -> None:
    one = "mov.b16 %c, 0x1234; setp.eq.f16 %p, %a, %c; neg.f16 %t, %a; selp.b16 %d, %c, %t, %p;"
    (row,) = sweep("neg.f16", one, *JSON).data["differences"]
    assert row["count"] == 1
    assert row["example"] == {"operands": ["0x1234"], "a": "0x9234", "b": "0x1234"}


def test_too_many_operands_are_tried_in_part(sweep: Sweeping, small: None) -> None:
    data = sweep("add.f32", "add.rn.f32", *JSON).data
    assert [(t["stream"], t["count"]) for t in data["tried"]] == [("grid", 5776), ("uniform", 8192), ("near", 8192)]
    refused = sweep("add.f32", "add.rn.f32", "--exhaustive")
    assert refused.code == 2 and not refused.out
    assert "--exhaustive supports at most 32 bits in one register" in refused.err


def job(a: str, against: str) -> Job:
    return Job(ROOT, False, a, against, None, False)


def test_blocks_add_up_in_any_order_and_each_once(small: None) -> None:
    for a, b in ((ABS, MASKED), ("ex2.approx.f32", "numpy.exp2"), ("min.f16x2", "min.NaN.f16x2")):
        some = Sweep(job(a, b))
        counted = [(n, some.count(n)) for n in range(len(some))]
        in_order, mixed = some.empty(), some.empty()
        for n, c in counted:
            in_order = in_order.plus(n, c)
        shuffled = counted * 3
        random.Random(1).shuffle(shuffled)
        for n, c in shuffled:
            mixed = mixed.plus(n, c)
        assert some.found(in_order).rows == some.found(mixed).rows
        assert mixed.tally.tried.sum() == in_order.tally.tried.sum() == some.operands * some.face.lanes


def interrupted_after(count: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Interrupt a sweep after so many blocks; return the list that gets the number of each block that is counted."""
    seen: list[int] = []
    original = Sweep.count

    def counting(self: Sweep, number: int) -> Counted:
        if len(seen) == count:
            raise KeyboardInterrupt
        seen.append(number)
        return original(self, number)

    monkeypatch.setattr(Sweep, "count", counting)
    return seen


def test_a_sweep_that_was_stopped_goes_on_where_it_was(sweep: Sweeping, small: None, tmp_path: Path) -> None:
    whole, state = sweep(ABS, MASKED, *JSON).out, tmp_path / "state.json"
    with pytest.MonkeyPatch.context() as patch:
        first = interrupted_after(5, patch)
        stopped = sweep(ABS, MASKED, *JSON, "--state", state)
        assert stopped.code == 130 and not stopped.out
        assert f"stopped: {state} has the progress; the same command continues" in stopped.err
    with pytest.MonkeyPatch.context() as patch:
        second = interrupted_after(16, patch)
        link = tmp_path / "link.json"
        link.symlink_to(state)
        assert sweep(ABS, MASKED, *JSON, "--state", link).out == whole and link.is_symlink()
    assert sorted(first + second) == [*range(16)]
    with pytest.MonkeyPatch.context() as patch:
        interrupted_after(0, patch)
        assert sweep(ABS, MASKED, *JSON, "--state", state).out == whole


def test_an_interrupt_while_a_block_is_added_loses_nothing(sweep: Sweeping, small: None, tmp_path: Path) -> None:
    whole, state = sweep(ABS, MASKED, *JSON).out, tmp_path / "state.json"
    original, added = Tally.add, [0]

    def adding(self: Tally, other: Tally) -> None:
        added[0] += 1
        if added[0] == 16:
            raise KeyboardInterrupt
        original(self, other)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tally, "add", adding)
        assert sweep(ABS, MASKED, "--state", state).code == 130
    assert sweep(ABS, MASKED, *JSON, "--state", state).out == whole


def test_a_state_whose_counts_are_not_of_its_blocks_is_refused(sweep: Sweeping, kept: Path) -> None:
    data = json.loads(kept.read_text("utf-8"))
    writer, _ = data.pop("writer"), data.pop("digest")
    data["done"] = [[0, 14]]
    kept.write_text(json.dumps({"writer": writer, "digest": _digest(data), **data}), "utf-8")
    refused = sweep(ABS, MASKED, "--state", kept)
    assert refused.code == 2 and "damaged: its counts are not of its blocks" in refused.err


def test_without_a_state_nothing_is_kept_and_that_is_said(
    sweep: Sweeping, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_after(1, monkeypatch)
    stopped = sweep(ABS, MASKED)
    assert stopped.code == 130 and "stopped: the progress is lost; --state FILE would save it" in stopped.err


def test_before_anything_was_counted_nothing_is_said_to_be_kept(
    sweep: Sweeping, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeping, "sweep_of", interrupted)
    stopped = sweep(ABS, MASKED, "--state", tmp_path / "state.json")
    assert (stopped.code, stopped.err) == (130, "stopped: nothing was counted yet\n")


@pytest.fixture
def kept(sweep: Sweeping, small: None, tmp_path: Path) -> Path:
    state = tmp_path / "state.json"
    assert sweep(ABS, MASKED, "--state", state).code == 1
    return state


def test_a_state_of_something_else_is_refused(sweep: Sweeping, kept: Path, tmp_path: Path) -> None:
    other = sweep("neg.f16", "neg.f16 %d, %a;", "--state", kept)
    assert other.code == 2 and f"{kept} is the state of a sweep with another first side: abs.f16; exact" in other.err
    assert "another second side" in sweep(ABS, "abs.f16 %d, %a;", "--state", kept).err
    assert "the state of a sweep with another" in sweep(ABS, MASKED, "--state", kept, "--target", "sm_90").err
    foreign = tmp_path / "notes.txt"
    for text in ("buy milk", "{}", "[1]", "[" * 200_000, '{"writer": "somebody"}', ""):
        foreign.write_text(text, "utf-8")
        refused = sweep(ABS, MASKED, "--state", foreign)
        assert refused.code == 2 and f"{foreign} is not the state of a sweep" in refused.err
        assert foreign.read_text("utf-8") == text
    assert "not the state of a sweep: Is a directory" in sweep(ABS, MASKED, "--state", tmp_path).err


def test_a_state_is_bound_to_all_code_on_which_verdicts_depend() -> None:
    assert all((PACKAGE / name).is_dir() for name in JUDGES)


@pytest.mark.parametrize(
    ("before", "after"),
    [('"done": [[0, 15]]', '"done": [[0, 14]]'), ('"blocks": 16', '"blocks": 17'), ('"hidden": []', '"hidden": [1]')],
)
def test_a_state_that_was_changed_is_refused(sweep: Sweeping, kept: Path, before: str, after: str) -> None:
    text = kept.read_text("utf-8")
    assert before in text
    kept.write_text(text.replace(before, after), "utf-8")
    refused = sweep(ABS, MASKED, "--state", kept)
    assert refused.code == 2 and "is damaged: its digest is wrong; remove it to start again" in refused.err


def test_a_folder_that_is_called_like_a_variant_changes_nothing(
    sweep: Sweeping, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "neg.f16").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "another first side" in sweep("neg.f16", MASKED, "--state", kept).err


def test_a_state_that_was_cut_off_is_refused(sweep: Sweeping, kept: Path) -> None:
    kept.write_text(kept.read_text("utf-8")[:-20], "utf-8")
    assert sweep(ABS, MASKED, "--state", kept).code == 2


def test_a_state_is_bound_to_what_is_in_a_file(sweep: Sweeping, small: None, tmp_path: Path) -> None:
    piece, state = tmp_path / "piece.ptx", tmp_path / "state.json"
    piece.write_text(MASKED, "utf-8")
    assert sweep(ABS, str(piece), "--state", state).code == 1
    piece.write_text("neg.f16 %d, %a;", "utf-8")
    sweep_of.cache_clear()
    assert "the state of a sweep with another second side" in sweep(ABS, str(piece), "--state", state).err


def test_a_place_that_cannot_be_written_is_told_before_anything_is_counted(
    sweep: Sweeping, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = interrupted_after(0, monkeypatch)
    refused = sweep(ABS, MASKED, "--state", tmp_path / "none" / "state.json")
    assert refused.code == 2 and "cannot be written: No such file or directory" in refused.err and not seen


def test_a_process_that_rests_on_something_else_counts_nothing() -> None:
    with pytest.raises(Exception, match="a worker's specification, emulator, recording or library differs"):
        sweep_of(Job(ROOT, False, ABS, MASKED, None, False, identity="0123"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add.f16", "add.f32"), "only functions of the same types can be compared"),
        (("add.f16", "add.g16"), "add.g16"),
        (("max.f16", "mpfr"), "max.f16 does not round"),
        (("add.f16", str(ROOT)), "about.json: No such file or directory"),
        (("add.f16", "mpfr", "--scheduler", "nowhere"), "--scheduler nowhere: "),
    ],
)
def test_misuse_is_told(sweep: Sweeping, arguments: tuple[str, ...], message: str) -> None:
    answer = sweep(*arguments)
    assert answer.code == 2 and message in answer.err and not answer.out
    assert "Traceback" not in answer.err
