"""A value that is kept between runs is found again, or all is as though nothing had been kept."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest
from ptxspec import cache

_folder = cache.folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache."""
    monkeypatch.setattr(cache, "folder", _folder)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ptxspec"


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_a_value_is_found_by_its_name_and_key(home: Path) -> None:
    cache.keep("a", "1", {"x": (1, 2)})
    cache.keep("b", "1", "another")
    assert cache.read("a", "1") == {"x": (1, 2)} and cache.read("b", "1") == "another"
    assert cache.read("a", "2") is None and cache.read("c", "1") is None
    cache.keep("a", "2", "later")
    assert cache.read("a", "2") == "later" and cache.read("a", "1") is None


@pytest.mark.parametrize("damaged", [b"", b"short", bytes(100)])
def test_what_is_damaged_is_nothing(home: Path, damaged: bytes) -> None:
    cache.keep("a", "1", "value")
    only(home).write_bytes(damaged)
    assert cache.read("a", "1") is None


def test_a_byte_that_changed_is_found(home: Path) -> None:
    cache.keep("a", "1", "value")
    data = bytearray(only(home).read_bytes())
    data[data.index(b"value")] ^= 1
    only(home).write_bytes(data)
    assert cache.read("a", "1") is None


def test_few_files_stay(home: Path) -> None:
    for n in range(40):
        cache.keep(f"{n}", "1", n)
        os.utime(max(home.iterdir(), key=lambda p: p.stat().st_mtime_ns), (n, n))
    assert len(list(home.iterdir())) == 16
    assert cache.read("39", "1") == 39 and cache.read("0", "1") is None


class Program:
    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("exit 0",)


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_to_is_not_read(home: Path, mode: int) -> None:
    cache.keep("a", "1", "value")
    home.chmod(mode)
    assert cache.folder() is None and cache.read("a", "1") is None
    cache.keep("b", "1", "value")
    home.chmod(0o700)
    assert cache.read("b", "1") is None and cache.read("a", "1") == "value"


def test_a_link_to_a_folder_is_not_followed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    home.symlink_to(tmp_path / "elsewhere")
    cache.keep("a", "1", "value")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_relative_folder_would_be_the_working_folders(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert cache.folder() is None


def test_nothing_is_unpickled_before_it_is_known_to_be_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep("a", "1", "value")
    called: list[str] = []
    monkeypatch.setattr(os, "system", called.append)
    only(home).write_bytes(bytes(32) + pickle.dumps(Program()))
    assert cache.read("a", "1") is None and not called


def test_where_nothing_can_be_written_nothing_is_kept(home: Path, tmp_path: Path) -> None:
    home.write_text("a file in the way", "utf-8")
    cache.keep("a", "1", "value")
    assert cache.read("a", "1") is None and home.read_text("utf-8") == "a file in the way"
