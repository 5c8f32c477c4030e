"""The self-test whether NumPy computes as the processor's environment says: by results, which no platform can fake."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load

environment = load("environment")
ORDER = environment._ORDER
Key = tuple[str, bool, bool]

steered = pytest.mark.skipif(not environment.FLUSHES, reason="the environment cannot be steered on this platform")


def pretend(monkeypatch: pytest.MonkeyPatch, key_for: Callable[[Key], Key]) -> tuple[bool, bool]:
    """Return what the self-test finds where setting one environment gives another."""
    found = environment._ENVIRONMENTS
    return verdict(monkeypatch, {key: found[key_for(key)] for key in found})


def verdict(monkeypatch: pytest.MonkeyPatch, environments: dict[Key, Any]) -> tuple[bool, bool]:
    for name in ("STEERS", "FLUSHES"):
        getattr(environment, name)  # it comes back afterwards
        monkeypatch.delattr(environment, name)
    monkeypatch.setattr(environment, "_ENVIRONMENTS", environments)
    return environment.STEERS, environment.FLUSHES


@steered
def test_what_works_is_found_to_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pretend(monkeypatch, lambda key: key) == (True, True)


@steered
@pytest.mark.parametrize("ignored", ORDER[1:])
def test_a_direction_that_changes_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch, ignored: str) -> None:
    nearest = ORDER[0]
    assert pretend(monkeypatch, lambda key: (nearest if key[0] == ignored else key[0], *key[1:])) == (False, False)


@steered
def test_exchanged_directions_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    exchanged = dict(zip(ORDER, (ORDER[0], ORDER[2], ORDER[1], ORDER[3]), strict=True))
    assert pretend(monkeypatch, lambda key: (exchanged[key[0]], *key[1:])) == (False, False)


@steered
def test_an_environment_that_always_flushes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pretend(monkeypatch, lambda key: (key[0], True, True)) == (False, False)


@steered
@pytest.mark.parametrize("instead", [(False, False), (True, False), (False, True)])
def test_flushing_that_does_not_work_is_noticed(monkeypatch: pytest.MonkeyPatch, instead: tuple[bool, bool]) -> None:
    assert pretend(monkeypatch, lambda key: (key[0], *instead) if key[1:] == (True, True) else key) == (True, False)


@steered
def test_operands_flushed_where_only_results_should_be_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pretend(monkeypatch, lambda key: (key[0], True, True) if key[1:] == (True, False) else key) == (True, False)


def test_environments_that_change_nothing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = dict.fromkeys(environment._ENVIRONMENTS, environment._NOTHING)
    assert verdict(monkeypatch, nothing) == (False, False)


def test_an_unknown_processor_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_processor", lambda: "z80")
    assert environment._found() == ({}, None, None)


def unfused(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def left_over_unfused(x: Any, y: Any, z: Any) -> Any:
    """As where a vector loop leaves what does not fill a vector to another."""
    found = product_sum(x, y, z)
    rest = x.size % 4
    found[x.size - rest :] = unfused(x, y, z)[x.size - rest :]
    return found


def nearest_only(x: Any, y: Any, z: Any) -> Any:
    with environment.environment(ORDER[0]):
        return product_sum(x, y, z)


product_sum = environment.product_sum


@pytest.mark.parametrize("instead", [unfused, left_over_unfused, pytest.param(nearest_only, marks=steered)])
def test_products_that_are_not_fused_are_noticed(monkeypatch: pytest.MonkeyPatch, instead: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        assert environment._computes(environment._fused, False, False) == environment.FUSES
        monkeypatch.setattr(environment, "product_sum", instead)
        assert not environment._computes(environment._fused, False, False)


def test_nothing_is_found_out_before_it_is_asked() -> None:
    code = (
        "import numpy as np, ptxemu\n"
        "from ptxemu import environment\n"
        "one = np.float32([1, 1])\n"
        "ptxemu.execute('add.f32', one, one)\n"
        "print(*sorted(environment._QUESTIONS.keys() & vars(environment).keys()))\n"
        "ptxemu.execute('add.rz.f32', one, one)\n"
        "print(*sorted(environment._QUESTIONS.keys() & vars(environment).keys()))\n"
    )
    quiet = {**os.environ, "PTXEMU_ACCELERATOR": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=quiet)
    assert done.stdout.split("\n") == ["", "STEERS", ""]


@pytest.mark.skipif(not hasattr(os, "uname"), reason="the processor is not told by os.uname here")
def test_without_steering_everything_still_works() -> None:
    code = (
        "import os, types, numpy as np\n"
        "os.uname = lambda: types.SimpleNamespace(machine='z80')\n"
        "import ptxemu\n"
        "from ptxemu import environment\n"
        "assert not environment.STEERS and not environment.FLUSHES\n"
        "one, small = np.float32([1]), np.float32([2**-30])\n"
        "print(*(ptxemu.execute(f'add.{r}.ftz.f32', one, small)[0] for r in ('rn', 'rz', 'rm', 'rp')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    above = np.nextafter(np.float32(1), np.float32(2))
    assert done.stdout.split() == ["1.0", "1.0", "1.0", str(above)]


def test_the_environment_before_comes_back_even_after_an_error() -> None:
    one, small = np.float32([1]), np.float32([2**-30])

    def fail() -> Any:
        with environment.ordinary(), environment.environment(ORDER[2]):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert one + small == 1
