"""Links and names of files: nothing outside of a project is shown or written, whatever lies in it."""

from __future__ import annotations

import ast
import os
import py_compile
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.project import Project

SECRET = "// SECRET of another place\n"
Strange = Callable[..., Project]


def _example(root: Path, outside: Path) -> None:
    (root / "spec/examples/evil.ptx").symlink_to(outside)


def _instruction(root: Path, outside: Path) -> None:
    (root / "spec/instructions/evil.yaml").symlink_to(outside)


def _observed(root: Path, outside: Path) -> None:
    (root / "spec/observed/evidence.yaml").symlink_to(outside)


def _folder(root: Path, outside: Path) -> None:
    shutil.rmtree(root / "spec/instructions")
    (outside.parent / "evil.yaml").write_text(SECRET)
    (root / "spec/instructions").symlink_to(outside.parent)


def _device(root: Path, outside: Path) -> None:
    (root / "spec/examples/evil.ptx").symlink_to("/dev/zero")


def _pipe(root: Path, outside: Path) -> None:
    os.mkfifo(root / "spec/examples/evil.ptx")


@pytest.mark.parametrize("put", [_example, _instruction, _observed, _folder, _device, _pipe])
def test_a_link_out_of_spec_is_refused_and_shows_nothing(
    strange: Strange, tmp_path_factory: pytest.TempPathFactory, put: Callable[[Path, Path], None]
) -> None:
    project, outside = strange(), tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    outside.write_text(SECRET)
    put(project.root, outside)
    result = project.run("generate")
    assert result.code in (1, 2) and not (project.root / "generated").exists()
    assert re.search(r"it is (a link to a file outside spec/|not a regular file)", result.err)
    assert "SECRET" not in result.out + result.err


def test_it_is_refused_too_where_all_else_is_known_from_before(strange: Strange) -> None:
    project = strange()
    assert project.run("generate").code == 0
    (project.root / "spec/examples/evil.ptx").symlink_to(project.root / "nowhere")
    assert project.run("generate", "--check").code == 2


def _itself(generated: Path, outside: Path) -> None:
    shutil.copytree(generated, outside / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    (outside / "copy/__pycache__").mkdir()
    (outside / "copy/__pycache__/kept.cpython-311.pyc.1").write_text("kept\n")
    shutil.rmtree(generated)
    generated.symlink_to(outside / "copy")


def _nowhere(generated: Path, outside: Path) -> None:
    shutil.rmtree(generated)
    generated.symlink_to(outside / "nowhere")


def _a_file(generated: Path, outside: Path) -> None:
    shutil.copyfile(generated / "cuda/neg.cu", outside / "same.cu")
    (generated / "cuda/neg.cu").unlink()
    (generated / "cuda/neg.cu").symlink_to(outside / "same.cu")


def _hard(generated: Path, outside: Path) -> None:
    (outside / "other.cu").write_text("other\n")
    (generated / "cuda/neg.cu").unlink()
    os.link(outside / "other.cu", generated / "cuda/neg.cu")


def _packages(generated: Path, outside: Path) -> None:
    shutil.move(generated / "python", outside / "python")
    shutil.rmtree(outside / "python/ptxemu/__pycache__", ignore_errors=True)
    (generated / "python").symlink_to(outside / "python")


def _bytecode(generated: Path, outside: Path) -> None:
    """A file of it, and a folder."""
    package = generated / "python/ptxemu"
    name = f"binary.{sys.implementation.cache_tag}.pyc"
    for module in ("binary.py", "opcodes/__init__.py"):
        compiled = outside / f"{Path(module).stem}.{sys.implementation.cache_tag}.pyc"
        py_compile.compile(str(package / module), str(compiled))
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / name).unlink(missing_ok=True)
    (package / "__pycache__" / name).symlink_to(outside / name)
    shutil.rmtree(package / "opcodes/__pycache__", ignore_errors=True)
    (package / "opcodes/__pycache__").symlink_to(outside)


def _foreign(generated: Path, outside: Path) -> None:
    (generated / "mine").mkdir()
    (generated / "mine/notes.txt").write_text("mine\n")
    (generated / "elsewhere").symlink_to(outside)
    (generated / "again").symlink_to(generated)


def _while_writing(generated: Path, outside: Path) -> None:
    (generated / "cuda/neg.cu").write_text("changed\n")
    for name in (".generated-new", ".generated-old"):
        (generated.parent / name).symlink_to(outside)


GENERATED = (_itself, _nowhere, _a_file, _hard, _packages, _bytecode, _foreign, _while_writing)


@pytest.mark.exhaustive
@pytest.mark.parametrize("put", GENERATED)
@pytest.mark.sampled(1)
def test_what_lies_in_generated_leads_nowhere(
    strange: Strange, tmp_path_factory: pytest.TempPathFactory, put: Callable[[Path, Path], None]
) -> None:
    project, outside = strange(), tmp_path_factory.mktemp("elsewhere")
    generated = project.root / "generated"
    assert project.run("generate").code == 0
    files = {p.relative_to(generated): p.read_bytes() for p in generated.rglob("*.*") if "__pycache__" not in p.parts}
    put(generated, outside)
    (outside / "kept.cpython-311.pyc.1").write_text("kept\n")
    before = {p: (p.stat().st_mtime_ns, p.is_file() and p.read_bytes()) for p in outside.rglob("*")}
    assert project.run("generate", "--check").code == 1
    assert project.run("generate").code == 0
    assert {p: (p.stat().st_mtime_ns, p.is_file() and p.read_bytes()) for p in outside.rglob("*")} == before
    assert not generated.is_symlink() and not any(p.is_symlink() for p in generated.rglob("*"))
    assert not {p.stat().st_ino for p in outside.rglob("*")} & {p.stat().st_ino for p in generated.rglob("*")}
    again = {p.relative_to(generated): p.read_bytes() for p in generated.rglob("*.*") if "__pycache__" not in p.parts}
    assert again == files


OPCODE = """\
opcode: {0}
summary: Nothing.
syntax:
  - "{0}.f32  d, a, b"
requires:
  - {{ptx: 9.5, target: sm_120}}
semantics: |
  d = a + b
"""
REFUSED = [
    "con",
    "nul",
    "com1",
    "__init__",
    "A",
    "a b",
    "$(touch CANARY)",
    "<img src=x>",
    "C:x",
    "-rf",
    "a.b",
    "{{7*7}}",
    "`touch CANARY`",
    "a;b",
    "é",
    "a%n",
    "index",
    "x\\..\\y",
]


def test_an_opcode_has_a_plain_name(strange: Strange) -> None:
    project = strange()
    for name in REFUSED:
        path = project.root / f"spec/instructions/{name}.yaml"
        path.write_text(OPCODE.format(name).replace(f"opcode: {name}", f'opcode: "{name}"'), "utf-8")
        result = project.run("validate")
        assert result.code == 1 and f"spec/instructions/{name}.yaml:" in result.err, name
        path.unlink()
    for name in ("../evil", "a\n", "/tmp/evil"):
        project.write("spec/instructions/neg.yaml", OPCODE.format("neg").replace("opcode: neg", f"opcode: {name!r}"))
        result = project.run("validate")
        assert result.code == 1 and "spec/instructions/neg.yaml:1:9: error: " in result.err


@pytest.mark.parametrize("name", ["class", "import", "ptxemu", "json", "catalog", "print", "x" * 200])
@pytest.mark.exhaustive
def test_an_opcode_may_be_called_as_python_calls_something(strange: Strange, name: str) -> None:
    project = strange()
    project.write(f"spec/instructions/{name}.yaml", OPCODE.format(name))
    assert project.run("generate").code == 0
    for path in (project.root / "generated/python").rglob("*.py"):
        ast.parse(path.read_text("utf-8"))
    assert f"{name}.f32 (2 operands)" in project.run("eval", f"{name}.f32", "1", "2").out
