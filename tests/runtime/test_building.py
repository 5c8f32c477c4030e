"""Kernels in C are found, built, kept and refused as accelerator.py says; where there are none, NumPy goes on."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.accelerating import A, B, add, forget, skip_without_a_compiler
from ptxemu import accelerator, compiling, folders, shipping, switch

skip_without_a_compiler()

# Every name that C of the package is included by, and headers of a system's.
C = sorted({p.name for p in Path(compiling.SOURCES).iterdir()} | {"math.h", "stdint.h", "fenv.h"})


def test_the_first_use_compiles_and_says_so_in_a_line(
    fresh: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add() is not None
    said = capsys.readouterr().err
    assert said.startswith("ptxemu: compiling add.rz.f32 with ") and said.endswith(f"; kept in {fresh}\n")
    assert said.count("\n") == 1
    assert sorted(p.suffix for p in fresh.iterdir() if p.is_file()) == [".digest", ".so"]
    forget(monkeypatch)
    assert add() is not None
    assert capsys.readouterr().err == ""


def test_a_single_element_is_left_to_numpy(fresh: Path) -> None:
    assert ptxemu.execute("add.rz.f32", np.float32(1), np.float32(2)) == 3
    assert not fresh.exists()


def test_the_switch(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch.SWITCH, "0")
    assert add() is None and not fresh.exists()
    for has_wheel in (False, True):
        monkeypatch.setattr(switch, "_has_wheel", lambda has_wheel=has_wheel: has_wheel)
        monkeypatch.setenv(switch.SWITCH, "")
        assert (switch.is_accelerated(), switch.is_left_to_time()) == (has_wheel, not has_wheel)
        monkeypatch.delenv(switch.SWITCH)
        assert (switch.is_accelerated(), switch.is_left_to_time()) == (has_wheel, not has_wheel)


@pytest.mark.usefixtures("fresh")
def test_a_bad_value_of_the_switch_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch.SWITCH, "yes")
    with pytest.raises(ValueError, match="PTXEMU_ACCELERATOR is 'yes'; 1 is on, 0 is off"):
        ptxemu.execute("add.f32", A, B)


@pytest.mark.parametrize("variable", ["", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"])
def test_no_c_of_the_working_folder_is_compiled(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in C:
        (folder / name).write_text('#error "a stranger has written this"\n')
    monkeypatch.chdir(folder)
    if variable:
        # Nothing between two colons is the folder where the compiler runs.
        monkeypatch.setenv(variable, f":{tmp_path}")
    assert add() is not None
    pieces = ptxemu.function("{ .reg .f32 x; add.rz.f32 x, a, b; mul.rz.f32 d, x, b; }")
    assert pieces(a=np.repeat(A, 4096), b=np.repeat(B, 4096)) is not None
    assert "a stranger" not in capsys.readouterr().err


def test_a_kernel_that_was_kept_before_is_not_used(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add() is not None
    (kept,) = fresh.glob("*.so")
    monkeypatch.setattr(compiling, "_HANDED", compiling._HANDED + 1)
    text, sources = "int one;", ["add.c"]
    now = compiling.digest_of(text, sources)
    monkeypatch.undo()
    assert compiling.digest_of(text, sources) != now and kept.exists()


def failing(tmp_path: Path) -> str:
    path = tmp_path / "failing-cc"
    path.write_text("#!/bin/sh\necho '<stdin>:1: error: out of order' >&2\nexit 1\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")
@pytest.mark.usefixtures("fresh")
def test_a_failing_compiler_is_said_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", failing(tmp_path))
    assert add() is None and add("add.rm.f32") is None
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == ["ptxemu: failing-cc does not compile: <stdin>:1: error: out of order; NumPy goes on"]


@pytest.mark.usefixtures("fresh")
def test_a_compiler_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O1")
    assert add() is None and add("add.rm.f32") is None
    assert capsys.readouterr().err == (
        "ptxemu: there is no compiler no-such-compiler, which the environment variable CC names; NumPy goes on\n"
    )
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(compiling, "find_spec", lambda name: None)
    assert add("add.rp.f32") is None
    assert "there is no C compiler: none in CC, no gcc, cc or clang on the path" in capsys.readouterr().err


@pytest.fixture
def temporary(fresh: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for temporary files, where the cache cannot be written."""
    fresh.parent.write_text("a file in the way")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_cache_that_cannot_be_written_has_a_temporary_folder_in_its_place(
    temporary: Path, fresh: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add() is not None
    (folder,) = temporary.iterdir()
    assert f"; kept in {folder}, as {fresh} cannot be written\n" in capsys.readouterr().err
    forget(monkeypatch)
    assert add() is not None
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_processes_share_one_temporary_folder(temporary: Path) -> None:
    children = []
    for spelling in ("add.rz.f32", "add.rm.f32", "add.rp.f32"):
        child = os.fork()
        if child == 0:
            # As multiprocessing ends its workers: without atexit.
            os._exit(0 if add(spelling) is not None else 1)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    (folder,) = temporary.iterdir()
    assert sorted(p.suffix for p in folder.iterdir() if p.is_file()) == [".digest"] * 3 + [".so"] * 3
    assert not list(folder.glob("ptxemu-compile-*"))


@pytest.mark.skipif(os.name == "nt", reason="permissions have another form there")
@pytest.mark.parametrize("whose", ["open to others", "a link"])
def test_a_temporary_folder_of_somebody_else_is_not_used(
    whose: str, temporary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = temporary / f"ptxemu-{os.getuid()}"
    if whose == "a link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert add() is None
    assert capsys.readouterr().err == (
        f"ptxemu: there is no folder to compile in: {folder} is not this user's alone; NumPy goes on\n"
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("damage", ["cut short", "garbage"])
def test_a_damaged_library_is_built_again(
    damage: str, fresh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add() is not None
    (library,) = fresh.glob("*.so")
    # Elsewhere, since what this process has loaded once it does not load again.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    other = shutil.copytree(fresh, tmp_path / "other" / "ptxemu") / library.name
    other.write_bytes(library.read_bytes()[:5000] if damage == "cut short" else b"no library")
    if damage == "garbage":
        other.with_name(other.name + ".digest").write_text(compiling._digest(other.read_bytes()))
    capsys.readouterr()
    forget(monkeypatch)
    assert add() is not None
    assert "compiling add.rz.f32" in capsys.readouterr().err


def test_a_kernel_that_disagrees_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fresh: Path
) -> None:
    shutil.copytree(compiling.SOURCES, tmp_path / "native")
    path = tmp_path / "native" / "add.c"
    right, wrong = "addition_f32(v_a, v_b, roundTowardZero, 0)", "addition_f32(v_a, v_a, 0, 0)"
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    monkeypatch.setattr(compiling, "SOURCES", str(tmp_path / "native"))
    assert add() is None
    line = "ptxemu: the compiled add.rz.f32 disagrees with NumPy's and is not used; NumPy goes on"
    assert capsys.readouterr().err.splitlines()[1:] == [line]
    assert add("add.rm.f32") is not None


@pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("made", ["echo no library >", "echo 'int nothing;' | {cc} -x c - -shared -fPIC -o"])
def test_a_compiler_whose_libraries_cannot_be_loaded_is_given_up(
    made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made.format(cc=" ".join(compiling._compiler().command))
    path = tmp_path / "lying"
    path.write_text(f"""#!/bin/sh\ncat > {tmp_path}/source\nwhile [ "$1" != -o ]; do shift; done\n{made} "$2"\n""")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    assert [add(f"add.{direction}.f32") for direction in ("rz", "rm", "rp")] == [None] * 3
    compiled, failed = capsys.readouterr().err.splitlines()
    assert "compiling add.rz.f32 with lying" in compiled
    assert "which lying has made, cannot be loaded: " in failed and failed.endswith("; NumPy goes on")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("fresh")
def test_a_compiler_of_wrong_code_is_given_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerator, "_agrees", lambda *_: False)
    assert [add(f"add.{direction}.f32") for direction in ("rz", "rm", "rp", "rn")] == [None] * 4
    *_, last = lines = capsys.readouterr().err.splitlines()
    assert last == "ptxemu: what is compiled is wrong, as add.rz.f32 and add.rm.f32 were; NumPy goes on"
    assert sum("compiling" in line for line in lines) == 2


@pytest.mark.parametrize(
    "damage",
    [{"kernels": []}, {"files": {}}, {"files": []}, {"kernels": {"key": ["add_0.so"]}}, {"files": {"add_0.so": 1}}],
    ids=str,
)
def test_a_damaged_package_of_kernels_is_none(
    damage: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = accelerator.Wanted(*(ptxemu.compile("add.rz.f32")._wanted or ()))
    key = shipping._key(wanted.opcode, wanted.loops)
    index = {"machine": shipping._machine(), "needs": [], "files": {}, "kernels": {key: ["add_0.so", "x"]}} | damage
    (tmp_path / "index.json").write_text(json.dumps(index))
    package = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(shipping, "find_spec", lambda name: package)
    read = shipping._index.__wrapped__()
    monkeypatch.setattr(shipping, "_index", lambda: read)
    assert shipping.found(wanted.opcode, wanted.function, wanted.signature, wanted.loops) is None


def test_another_processor_or_compiler_has_libraries_of_its_own(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add()
    forget(monkeypatch)
    processor = compiling.processor()
    with monkeypatch.context() as m:
        m.setattr(compiling, "processor", lambda: processor and processor + " avx1024")
        add()
    assert len(list(fresh.glob("*.so"))) == (2 if processor else 1)


@pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")
@pytest.mark.usefixtures("fresh")
def test_a_full_disk_is_no_fault_of_the_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", failing(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    assert add() is None and add("add.rm.f32") is None
    _, line = capsys.readouterr().err.splitlines()
    assert line.startswith("ptxemu: there is no room in ") and "out of order" not in line


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("command", ['"', "gcc\\"])
def test_a_compiler_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setenv("CC", command)
    assert add() is None
    assert capsys.readouterr().err.startswith(f"ptxemu: the environment variable CC is {command!r}: No ")


@pytest.mark.usefixtures("fresh")
def test_a_relative_cache_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/dir")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folders.cache() == str(tmp_path / "home/.cache/ptxemu")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # nobody's home is known
    assert folders.cache() == ""


@pytest.mark.usefixtures("fresh")
def test_no_folder_to_write_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError("no space left")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert add() is None
    assert capsys.readouterr().err == "ptxemu: there is no folder to compile in: no space left; NumPy goes on\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.usefixtures("fresh")
def test_a_forked_process_has_a_lock_of_its_own() -> None:
    with accelerator._lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if accelerator._lock.acquire(timeout=5) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


NOTICE = """
import ptxemu, numpy as np
a = np.ones(5, np.float32)
print(ptxemu.execute("add.f32", a, a), flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.usefixtures("fresh")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&-"])
def test_nothing_depends_on_stderr(stderr: str) -> None:
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(NOTICE)} {stderr}"
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[2. 2. 2. 2. 2.]\n")
