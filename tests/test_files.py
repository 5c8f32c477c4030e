"""Files are replaced whole, by one process at a time."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from ptxspec.files import only_one, replace_text

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")


@posix
def test_two_at_once_do_not_write_into_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, writing, go_on, write = tmp_path / "file", threading.Event(), threading.Event(), Path.write_text

    def slowly(self: Path, text: str, *arguments: Any, **options: Any) -> int:
        if text[0] == "a":
            write(self, text[:10])
            writing.set()
            assert go_on.wait(60)
        return write(self, text, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", slowly)
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


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_fails_leaves_the_old_file_alone(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "file", Path.write_text
    replace_text(path, "old")

    def half(self: Path, text: str, *arguments: Any, **options: Any) -> int:
        write(self, text[:1])
        raise error

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(error):
        replace_text(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]


@posix
def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with only_one(tmp_path):
            os._exit(0)
    os.waitpid(child, 0)
    with only_one(tmp_path):
        pass
