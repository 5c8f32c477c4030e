"""Files are replaced whole, by one process at a time."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from ptxspec.files import only_one, read_bytes, replace_text, update_text

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")


@posix
def test_two_at_once_do_not_write_into_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, writing, go_on, replace = tmp_path / "file", threading.Event(), threading.Event(), Path.replace

    def slowly(self: Path, target: Path) -> Path:
        if self.read_text() == "a" * 100:
            writing.set()
            assert go_on.wait(60)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", slowly)
    first, second = (threading.Thread(target=replace_text, args=(path, c * 100)) for c in "ab")
    first.start()
    assert writing.wait(60)
    second.start()
    second.join(0.05)
    assert second.is_alive() and not path.exists()
    go_on.set()
    first.join(60)
    second.join(60)
    assert path.read_text() == "b" * 100 and os.listdir(tmp_path) == ["file"]


@posix
def test_what_two_add_at_once_is_both_there(tmp_path: Path) -> None:
    path, read, go_on = tmp_path / "file", threading.Event(), threading.Event()
    path.write_text("")

    def first() -> str:
        text = path.read_text()
        read.set()
        assert go_on.wait(60)
        return text + "a"

    changes = (first, lambda: path.read_text() + "b")
    one, other = (threading.Thread(target=update_text, args=(path, change)) for change in changes)
    one.start()
    assert read.wait(60)
    other.start()
    other.join(0.05)
    go_on.set()
    one.join(60)
    other.join(60)
    assert path.read_text() == "ab"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_leaves_the_old_file_alone(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    replace_text(path, "old")

    def failing(self: Path, target: Path) -> Path:
        assert self.read_text() == "new"
        raise error

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(error):
        replace_text(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]


def test_nothing_of_anybody_else_is_written(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    other.write_text("kept")
    new = tmp_path / "file.new"
    new.write_text("kept")
    path.symlink_to(other)
    replace_text(path, "1")
    assert not path.is_symlink() and path.read_text() == "1"
    link = tmp_path / "file.ptxspec.new"
    link.symlink_to(other)
    replace_text(path, "2")
    assert path.read_text() == "2" and not link.is_symlink() and new.read_text() == other.read_text() == "kept"
    assert sorted(os.listdir(tmp_path)) == ["file", "file.new", "other"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_file_stays_as_closed_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, fresh, replace = tmp_path / "file", tmp_path / "fresh", Path.replace
    path.write_text("old")
    path.chmod(0o600)
    (tmp_path / "usual").touch()
    modes = []

    def seen(self: Path, target: Path) -> Path:
        modes.append(self.stat().st_mode)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", seen)
    replace_text(path, "new")
    replace_text(fresh, "new")
    assert [mode & 0o777 for mode in modes] == [0o600, (tmp_path / "usual").stat().st_mode & 0o777]
    assert path.stat().st_mode == modes[0]


@posix
def test_what_has_no_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(OSError, match="it is not a regular file"):
            read_bytes(tmp_path / name, 10)
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_bytes(tmp_path / "file", 10) == read_bytes(tmp_path / "file") == b"0123456789"
    with pytest.raises(OSError, match="it is larger than 9 bytes"):
        read_bytes(tmp_path / "file", 9)


@posix
def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with only_one(tmp_path):
            os._exit(0)
    os.waitpid(child, 0)
    with only_one(tmp_path):
        pass
