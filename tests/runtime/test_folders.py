"""The folders where libraries in C are kept and made: they are nobody else's, and keep nothing that a killed
compilation left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.accelerating import add, forget, skip_without_a_compiler
from ptxemu import compiling, folders

skip_without_a_compiler()

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other locks and permissions")
NOBODY = 65534


def left(folder: Path, name: str, where: str | None = None) -> Path:
    """Make and return the folder that an unfinished compilation leaves, on this machine unless `where` says another."""
    made = folder / f"ptxemu-compile-{folders._here() if where is None else where}-{name}"
    made.mkdir(parents=True)
    (made / "half.so").write_text("half a library")
    return made


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache/ptxemu").mkdir(parents=True, mode=0o700)
    return tmp_path / "cache/ptxemu"


@posix
def test_what_a_killed_compilation_left_goes_with_the_next_one(cache: Path) -> None:
    old, recent, other, foreign = (left(cache, name) for name in ("old", "recent", "other", "foreign"))
    os.utime(old, (0, 0))
    held = folders._hold(str(other))
    foreign = foreign.rename(cache / "tmpforeign")
    made, mine = folders.scratch(str(cache))
    folders.tidy(str(cache))
    assert not old.exists() and other.exists() and foreign.exists()
    assert recent.exists() is not bool(folders._here())
    folders.let_go(held)
    os.utime(other, (0, 0))
    # What is being made stays, and a process that ends has let go.
    os.utime(made, (0, 0))
    folders.tidy(str(cache))
    assert not other.exists() and Path(made).exists()
    folders.let_go(mine)


@posix
@pytest.mark.parametrize("here", ["0123abcd", ""])
def test_a_lock_of_another_machine_may_not_be_seen_and_a_day_tells(
    here: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_here", lambda: here)
    day = 24 * 3600
    of_today, older = (left(cache, name, where="fedcba98") for name in ("today", "older"))
    nowhere = left(cache, "nowhere", where="")
    for path, age in ((of_today, day - 600), (nowhere, day - 600), (older, day + 600)):
        os.utime(path, (time.time() - age, time.time() - age))
    folders.tidy(str(cache))
    assert [p.exists() for p in (of_today, nowhere, older)] == [True, True, False]


@posix
def test_without_locks_time_tells(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: int) -> None:
        raise OSError("no locks")

    monkeypatch.setattr("fcntl.flock", flock)
    old, recent = left(cache, "old"), left(cache, "recent")
    os.utime(old, (0, 0))
    made, held = folders.scratch(str(cache))
    folders.tidy(str(cache))
    assert held == -1 and not old.exists() and recent.exists() and Path(made).exists()


@posix
def test_a_folder_that_is_swept_before_it_is_held_is_made_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, mkdtemp = [], tempfile.mkdtemp

    def swept(prefix: str, dir: str) -> str:
        made.append(mkdtemp(prefix=prefix, dir=dir))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", swept)
    path, held = folders.scratch(str(cache))
    assert len(made) == 2 and path == made[1] and Path(path).exists()
    folders.let_go(held)


@posix
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_a_cache_where_others_may_write_is_not_used(
    mode: int, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert list(folders.places()) == [str(cache)]
    cache.chmod(mode)
    assert list(folders.places()) == [str(tmp_path / f"ptxemu-{os.getuid()}")]


@posix
@pytest.mark.parametrize("made", ["open to others", "a link of somebody else"])
def test_a_cache_that_another_makes_meanwhile_is_not_used(
    made: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.rmdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def makedirs(*_: object, **__: object) -> None:
        if made == "open to others":
            cache.mkdir()
            cache.chmod(0o777)
        elif os.getuid() == 0:
            cache.symlink_to(tmp_path)
            os.lchown(cache, NOBODY, NOBODY)
        else:
            pytest.skip("only root can make a link of another user")

    monkeypatch.setattr("os.makedirs", makedirs)
    assert list(folders.places()) == [str(cache), str(tmp_path / f"ptxemu-{os.getuid()}")]


def test_a_folder_that_is_shipped_is_not_tidied(tmp_path: Path) -> None:
    own = left(tmp_path, "own")
    compiling.ship("int one;", str(tmp_path / "one.so"), "one", [])
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "one.so", own])


def as_nobody(act: Callable[[], object]) -> int:
    """Its exit code in a process of another user."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            code = int(not act())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another user")
def test_the_cache_of_another_user(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """That of the system is read, and one's own part in the temporary folder written; anybody else's is left alone."""
    with tempfile.TemporaryDirectory() as place, monkeypatch.context() as m:
        os.chmod(place, 0o755)
        m.setenv("PTXEMU_ACCELERATOR", "1")
        m.setenv("XDG_CACHE_HOME", place)
        temporary, cache = Path(place, "temporary"), Path(place, "ptxemu")
        temporary.mkdir()
        temporary.chmod(0o777)
        m.setattr("tempfile.tempdir", str(temporary))
        forget(m)
        # It also imports all that the other user, who may not read this one's Python, needs.
        assert add() is not None
        cache.chmod(0o755)
        before = sorted(cache.iterdir())
        capfd.readouterr()
        # The system's.
        forget(m)
        assert as_nobody(lambda: add() is not None) == 0
        assert capfd.readouterr().err == "" and not list(temporary.iterdir())
        # It cannot be written.
        forget(m)
        assert as_nobody(lambda: add("add.rm.f32") is not None) == 0
        own = temporary / f"ptxemu-{NOBODY}"
        assert f"; kept in {own}, as {cache} cannot be written\n" in capfd.readouterr().err
        # And what is another's is not loaded by root.
        os.chown(cache, NOBODY, NOBODY)
        forget(m)
        assert add() is not None
        said = capfd.readouterr().err
        assert f"; kept in {temporary}/ptxemu-0, as {cache} is not this user's alone\n" in said
        assert sorted(cache.iterdir()) == before


TWO = """
import sys, time, numpy as np, ptxemu
a = np.ones(5, np.float32)
while not __import__("os").path.exists(sys.argv[1]): time.sleep(0.001)
kernel = ptxemu.compile("add.rz.f32")
assert kernel(a, a).tolist() == [2] * 5 and kernel.is_in_c
"""


@pytest.mark.exhaustive
def test_two_processes_at_once_make_one_library(fresh: Path, tmp_path: Path) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", TWO, str(tmp_path / "go")], stderr=subprocess.PIPE) for _ in range(2)
    ]
    (tmp_path / "go").touch()
    said = [p.communicate(timeout=120)[1].decode() for p in both]
    assert [p.returncode for p in both] == [0, 0], said
    assert sorted(p.suffix for p in fresh.iterdir()) == [".digest", ".so"]
