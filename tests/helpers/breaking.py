"""Does something once for each step that it takes in files, and breaks it off there: breaking.c says what a step is.

What is done, and how it is judged, says a `Case` of broken_off.py; a process for each case tries it in forks of itself.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.sizes import spread

COUNT, MODES = 0, {"killed": 1, "interrupted": 2, "disk full": 3, "read-only": 4}
# Seconds after which a run hangs.
PATIENCE = 120


@dataclass(frozen=True)
class Case:
    """`before` fills a folder, `act` is what is broken off and returns an exit code. `state` is what counts in a
    folder; it raises where that is not whole. `allows` says which states may be left besides those before and after."""

    before: Callable[[Path], None]
    act: Callable[[Path], int]
    state: Callable[[Path], Hashable]
    allows: Callable[[Hashable], bool] = lambda state: False


def build(folder: Path) -> Path:
    """The library that counts and breaks off; raises CalledProcessError, FileNotFoundError."""
    made = folder / "breaking.so"
    source = str(Path(__file__).with_suffix(".c"))
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", source, "-o", str(made), "-ldl"], check=True)
    return made


def tried(case: str, mode: str, most: int | None, folder: Path, library: Path) -> dict[str, Any]:
    """Try a case of broken_off.py at all of its steps, or at so many: how many these were, and what went wrong."""
    code = f"from helpers import breaking, broken_off; breaking.main(broken_off.CASES[{case!r}])"
    place = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, place)), "LD_PRELOAD": str(library)}
    # What is kept between runs would be more steps in the first than in the others: a relative folder is none.
    environment["XDG_CACHE_HOME"] = "none"
    # Modules are compiled beside their sources, which each run copies anew; elsewhere the first would leave them.
    environment.pop("PYTHONPYCACHEPREFIX", None)
    command = [sys.executable, "-c", code, str(folder), mode, str(most or 0)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(case: Case) -> None:
    folder, mode, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    old, place, shim = folder / "old", folder / "place", ctypes.CDLL(None)
    old.mkdir(parents=True)
    case.before(old)
    before = case.state(old)
    # The first run compiles modules of this package, which would be more steps than the others have.
    fresh(old, place)
    forked(lambda: case.act(place), shim, COUNT, 0, folder)
    # Where it is not broken off.
    fresh(old, place)
    code, steps, said = forked(lambda: case.act(place), shim, COUNT, 0, folder)
    after, names = case.state(place), listing(place)
    wrong = [] if code == 0 and before != after else [f"whole, it ends with {code}: {said}"]
    numbers = list(range(1, steps + 1))
    for n in spread(numbers, most) if most else numbers:
        fresh(old, place)
        code, _, said = forked(lambda: case.act(place), shim, MODES[mode], n, folder)
        at = f"{mode} at step {n} of {steps}"
        wrong += [f"{at}: {text}" for text in judged(case, mode, code, said, place, before, after)]
        code, _, said = forked(lambda: case.act(place), shim, COUNT, 0, folder)
        if code != 0 or case.state(place) != after:
            wrong.append(f"{at}: the next run ends with {code}, and {case.state(place)}: {said}")
        if rubbish := listing(place) ^ names:
            wrong.append(f"{at}: the next run leaves, or lacks, {sorted(rubbish)}")
    print(json.dumps({"steps": steps, "wrong": wrong}))


def judged(case: Case, mode: str, code: int, said: str, place: Path, before: Hashable, after: Hashable) -> list[str]:
    """Return what is wrong with a run that was broken off."""
    wrong = []
    try:
        state = case.state(place)
    except Exception as e:
        return [f"what is left is not whole: {e!r}"]
    if state not in (before, after) and not case.allows(state):
        wrong.append(f"what is left is neither old nor new: {state}")
    # A step that nothing depends on may fail.
    due = {"killed": [-signal.SIGKILL], "interrupted": [130, 0]}.get(mode, [2, 0])
    if code not in due or "Traceback" in said:
        wrong.append(f"it ends with {code}: {said}")
    if code == 0 and state != after:
        wrong.append(f"it says that it was done: {state}")
    return wrong


def fresh(old: Path, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(old, place, symlinks=True)


def listing(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*")}


def forked(act: Callable[[], int], shim: Any, mode: int, step: int, folder: Path) -> tuple[int, int, str]:
    """Its exit code, how many steps it took, and what it said on stderr."""
    steps, said = folder / "steps", folder / "said"
    steps.write_text("0")
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 99
        try:
            shim.breaking_at(mode, step)
            code = act()
        except KeyboardInterrupt:
            code = 130
        except BaseException:
            shim.breaking_at(COUNT, 0)
            traceback.print_exc()
        finally:
            taken = shim.breaking_steps()
            shim.breaking_at(COUNT, 0)
            steps.write_text(str(taken))
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), int(steps.read_text()), said.read_text("utf-8", "replace")
