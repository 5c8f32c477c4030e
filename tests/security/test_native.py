"""Libraries in a package of kernels: one that is not the one that was built is not loaded."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import ptxemu
import pytest
from ptxemu import accelerator, compiling, shipping


def _exchanged(folder: Path, outside: Path) -> str:
    (folder / "neg_0.so").write_bytes(b"another")
    return "neg_0.so"


def _cut(folder: Path, outside: Path) -> str:
    (folder / "neg_0.so").write_bytes(b"buil")
    return "neg_0.so"


def _beside(folder: Path, outside: Path) -> str:
    return "../outside.so"


def _absolute(folder: Path, outside: Path) -> str:
    return str(outside)


def _gone(folder: Path, outside: Path) -> str:
    (folder / "neg_0.so").unlink()
    return "neg_0.so"


def _folder(folder: Path, outside: Path) -> str:
    (folder / "neg_0.so").unlink()
    (folder / "neg_0.so").mkdir()
    return "neg_0.so"


@pytest.mark.parametrize("lie", [_exchanged, _cut, _beside, _absolute, _gone, _folder])
def test_another_library_is_not_loaded(
    lie: Callable[[Path, Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _loaded(tmp_path / "whole", lambda *_: "neg_0.so", monkeypatch)
    assert not _loaded(tmp_path / "other", lie, monkeypatch)


def _loaded(folder: Path, name: Callable[[Path, Path], str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether a library is loaded from a package whose index names it, with the digest of what was built."""
    inside = folder / "package"
    inside.mkdir(parents=True)
    for path in (inside / "neg_0.so", folder / "outside.so"):
        path.write_bytes(b"built")
    digest = compiling.digest_of_file(str(inside / "neg_0.so"))
    wanted = accelerator.Wanted(*(ptxemu.compile("neg.f32")._wanted or ()))
    key, file = shipping._key(wanted.opcode, wanted.loops), name(inside, folder / "outside.so")
    index = {"machine": shipping._machine(), "needs": [], "files": {file: digest}, "kernels": {key: [file, "neg"]}}
    (inside / "index.json").write_text(json.dumps(index))
    monkeypatch.setattr(shipping, "find_spec", lambda name: SimpleNamespace(submodule_search_locations=[str(inside)]))
    read = shipping._index.__wrapped__()
    monkeypatch.setattr(shipping, "_index", lambda: read)
    seen: list[str] = []

    def load(path: str) -> None:
        seen.append(path)
        raise OSError("no library")

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert shipping.found(wanted.opcode, wanted.function, wanted.signature, wanted.loops) is None
    monkeypatch.undo()
    return bool(seen)
