"""The sums of tensor cores against what those of GPUs returned: recordings by Khattak and Mikaitis."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from helpers import ROOT
from helpers.recorded_tensor_cores import FOLDER, OBSERVED, PUBLISHED, Recorded, entry, sets

if not FOLDER.is_dir():
    pytest.skip(f"PTXSPEC_RECORDED names no folder of what {PUBLISHED} holds", allow_module_level=True)

SETS = list(sets())


@pytest.mark.exhaustive
@pytest.mark.parametrize("one", SETS, ids=lambda s: f"{s.gpu} {s.form}")
def test_every_result_is_that_of_the_gpu(one: Recorded) -> None:
    found = one.computed()
    assert len(found) == 5_000 and np.array_equal(found, one.d)


@pytest.mark.exhaustive
def test_the_file_says_what_was_computed() -> None:
    text = (ROOT / OBSERVED).read_text("utf-8")
    assert text.partition("sets:\n")[2].partition("\n# ")[0] == "".join(map(entry, SETS))


def test_some_results_of_each_gpu_are_its_own() -> None:
    assert len({one.gpu for one in SETS}) == 8
    for one in SETS:
        few = slice(0, 40)
        some = Recorded(one.gpu, one.target, one.form, one.a[few], one.b[few], one.c[few], one.d[few])
        assert np.array_equal(some.computed(), some.d), (one.gpu, one.form)


def test_the_file_has_every_set() -> None:
    listed = yaml.safe_load((ROOT / OBSERVED).read_text("utf-8"))["sets"]
    assert [(s["gpu"], s["form"], s["vectors"]) for s in listed] == [(s.gpu, s.form, len(s.d)) for s in SETS]
    assert all(s["equal"] == s["vectors"] for s in listed)


def test_another_rule_would_be_noticed() -> None:
    """A bit less behind the point changes results of every set with results of f32 that the row is recorded for."""
    from ptxemu import tensor

    one = next(s for s in SETS if (s.gpu, s.form) == ("H100", "m16n8k16.f32.f16"))
    some = Recorded(one.gpu, one.target, one.form, one.a[:1000], one.b[:1000], one.c[:1000], one.d[:1000])
    rows = tensor.ROWS
    try:
        tensor.ROWS = tuple(r._replace(bits=r.bits - 1) for r in rows)
        assert not np.array_equal(some.computed(), some.d)
    finally:
        tensor.ROWS = rows
