"""Reading again after an edit gives what reading everything gives, and reads no more than what changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import grimp
import pytest
from helpers import ROOT
from helpers.project import Project, copied
from ptxspec import cache, specification
from ptxspec.cli.main import main
from ptxspec.emit import generate
from ptxspec.emit.text import Files
from ptxspec.read import link, schema
from ptxspec.specification import Specification

OPCODES = ("neg", "not", "xor")
NEG, XOR = (f"spec/instructions/{name}.yaml" for name in ("neg", "xor"))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the recipes of neg that are made of xor."""
    root = copied(tmp_path_factory.mktemp("first") / "project", OPCODES, own_templates=True)
    for name in OPCODES:
        shutil.copy(ROOT / f"spec/instructions/{name}.yaml", root / "spec/instructions")
    text = (root / NEG).read_text("utf-8")
    before, of_bytes, after = text.partition("  # Every lane has a one above it")
    assert of_bytes
    (root / NEG).write_text(before + after[after.index("\nnotes:\n") :], "utf-8")
    return root


@pytest.fixture(scope="module")
def place(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project, generated, and all of it kept: what is kept is that of a path."""
    found = tmp_path_factory.mktemp("place") / "now"
    (found / "cache").mkdir(parents=True)
    shutil.copytree(first, found / "project", symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "folder", lambda: found / "cache")
        assert main(["generate", "--root", str(found / "project")]) == 0
    shutil.copytree(found, found.with_name("before"), symlinks=True)
    return found


@pytest.fixture
def folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where things are kept between runs."""
    shutil.rmtree(place)
    shutil.copytree(place.with_name("before"), place, symlinks=True)
    monkeypatch.setattr(cache, "folder", lambda: place / "cache")
    return place / "cache"


@pytest.fixture
def project(folder: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(folder.with_name("project"), capsys)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files of instructions that are read."""
    names: list[str] = []
    load = link.positioned.load

    def noted(path: Path, root: Path) -> object:
        if path.parent.name == "instructions":
            names.append(path.stem)
        return load(path, root)

    monkeypatch.setattr(link.positioned, "load", noted)
    return names  # type: ignore[return-value]


def anew(project: Project, folder: Path) -> Files | list[str]:
    """Return what everything gives where nothing is kept: files, or complaints."""
    shutil.rmtree(folder)
    folder.mkdir()
    return again(project)


def again(project: Project) -> Files | list[str]:
    found = specification.load(project.root)
    return list(map(str, found.diagnostics)) or generate.build(project.root)


def replaced(path: str, old: str, new: str) -> Callable[[Project], None]:
    return lambda project: project.edit(path, old, new)


def removed(name: str) -> Callable[[Project], None]:
    return lambda project: (project.root / f"spec/instructions/{name}.yaml").unlink()


def added(name: str) -> Callable[[Project], None]:
    source = ROOT / f"spec/instructions/{name}.yaml"
    return lambda project: project.write(f"spec/instructions/{name}.yaml", source.read_bytes())


EDITS: dict[str, Callable[[Project], None]] = {
    "semantics": replaced(XOR, "      d = a ^ b\n", "      d = b ^ a\n"),
    "a name in semantics": replaced(XOR, "      p = a != b\n", "      both = a != b\n      p = both\n"),
    "a summary": replaced(NEG, "summary: ", "summary: Changed. "),
    "a requirement": replaced(XOR, "{ptx: 1.0, ", "{ptx: 2.0, "),
    "a table": replaced(XOR, "[0x0f0f0f0f, 0x00ffff00, 0x0ff0f00f]", "[0x0f0f0f0f, 0x0f0f0f00, 0x0000000f]"),
    "a note": replaced(XOR, "ptxas accepts them negated too", "ptxas accepts both"),
    "a recipe": replaced(NEG, "xor.b16 %d, %a, 0x8000;", "xor.b16 %d, 0x8000, %a;"),
    "a recipe of other statements": replaced(NEG, "xor.b16 %d, %a, 0x8000;", "not.b16 %d, %a;"),
    "an opcode more": added("or"),
    "an opcode less": removed("not"),
    "what a recipe is made of is gone": removed("xor"),
    "what a recipe is made of computes something else": replaced(XOR, "      d = a ^ b\n", "      d = a | b\n"),
    "a judgement": replaced("spec/observed/judged/xor.yaml", "judges:\n", 'judges:\n  MPFR: {"0123456789": .b32}\n'),
    "no judgements": lambda p: (p.root / "spec/observed/judged/xor.yaml").unlink(),
    "a file in their folder that is no judgement": lambda p: p.write("spec/observed/judged/xor.yml", ""),
    "a mistake": replaced(XOR, "      d = a ^ b\n", "      d = a ^ c\n"),
    "no YAML": replaced(NEG, "syntax:\n", "syntax: [\n"),
    "a page of the same name": lambda p: p.write("templates/manual/xor.html.j2", "{{ stamp }}\n"),
    "a modifier": replaced("spec/modifiers.yaml", "copySign(0, x) if isSubnormal(x)", "copySign(0, x) if isZero(x)"),
    "a type": replaced("spec/types.yaml", "10, canonical_nan: 0x7fff", "10, canonical_nan: 0x7e00"),
    "a target": replaced("spec/targets.yaml", "names: [V100, ", "names: [V1000, "),
    "a schema": lambda p: link_replaced(p.root / "spec/schema"),
    "a template of kernels": replaced("templates/cuda/instruction.cu.j2", "{{ stamp }}", "{{ stamp }}\n"),
    "a template of pages": replaced("templates/manual/instruction.md.j2", "{{ stamp }}", "{{ stamp }}\n"),
    "a template of C": replaced("templates/native/opcode.c.j2", "{{ stamp }}", "{{ stamp }}\n"),
    "what all C includes": lambda p: p.write("templates/native/src/unit.h", "static int i;\n"),
    "a template of the emulator": replaced("templates/emulator/opcodes/opcode.py.j2", "{{ stamp }}", "{{ stamp }}\n"),
    "a module of the emulator": lambda p: p.write("templates/runtime/sums.py", "import numpy\n"),
}  # fmt: skip


def link_replaced(folder: Path) -> None:
    source = folder.resolve()
    folder.unlink()
    shutil.copytree(source, folder)
    # A process reads the schemas of a path once.
    schema._schemas.cache_clear()
    path = folder / "instruction.schema.json"
    path.write_text(path.read_text("utf-8").replace('"summary"', '"brief"'), "utf-8")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_gives_what_reading_everything_gives(
    project: Project, folder: Path, edit: Callable[[Project], None]
) -> None:
    before = again(project)
    edit(project)
    found = again(project)
    assert found != before
    assert found == anew(project, folder)


@pytest.mark.exhaustive
def test_what_a_recipe_for_missing_spellings_needs_is_told_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opcodes = ("and", "copysign", "neg", "not", "or", "xor")
    project = Project(copied(tmp_path / "project", opcodes), capsys)
    for name in ("and", "copysign"):
        shutil.copy(ROOT / f"spec/instructions/{name}.yaml", project.root / "spec/instructions")
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "cache")
    assert "PTX 1.0" in str(again(project))
    project.edit("spec/instructions/and.yaml", "  - {ptx: 1.0, section", "  - {ptx: 3.2, section")
    found = again(project)
    assert found == anew(project, tmp_path / "cache")


def test_what_did_not_change_is_not_read(project: Project, opened: list[str]) -> None:
    assert not specification.load(project.root).diagnostics and opened == []
    EDITS["a note"](project)
    assert not specification.load(project.root).diagnostics and opened == ["xor"]
    assert not specification.load(project.root).diagnostics and opened == ["xor"]


def test_programs_are_kept_as_they_were(project: Project) -> None:
    def described(found: Specification) -> list[tuple[str, list[int], str]]:
        """The programs as text, the first of each group of equal ones, and whose formats they have."""
        about = []
        for c in found.checked:
            programs = [p for of in c.programs.values() for p in of.values()]
            numbers = [next(n for n, other in enumerate(programs) if other is p) for p in programs]
            about.append((repr(programs), numbers, repr([*c.programs])))
            kinds = {id(i.kind.format) for p in programs for i in p.inputs}
            assert kinds <= {id(f) for f in (*found.right().formats.values(), None)}
        return about

    first = described(specification.load(project.root))
    EDITS["a note"](project)
    for _ in range(2):
        assert described(specification.load(project.root)) == first


def test_what_is_wrong_is_wrong_every_time_and_then_right_again(project: Project, opened: list[str]) -> None:
    text = (project.root / XOR).read_bytes()
    EDITS["a mistake"](project)
    wrong = specification.load(project.root).diagnostics
    assert len(wrong) == 1 and specification.load(project.root).diagnostics == wrong
    project.write(XOR, text)
    assert not specification.load(project.root).diagnostics and opened == ["xor", "xor"]


@pytest.mark.exhaustive
def test_a_damaged_cache_is_none(project: Project, folder: Path) -> None:
    before = again(project)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert again(project) == before
    for path in folder.iterdir():
        path.write_bytes(b"")
    assert again(project) == before


@pytest.mark.exhaustive
def test_another_version_of_the_program_begins_anew(
    project: Project, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specification, "_code", lambda names: "another")
    assert not specification.load(project.root).diagnostics and sorted(opened) == [*OPCODES]


def test_only_code_that_reads_or_generates_makes_what_is_kept_stale() -> None:
    graph = grimp.build_graph("ptxspec")
    products = [m for m in graph.modules if m.startswith("ptxspec.emit.products.")]

    def needed_by(*modules: str) -> set[str]:
        return {m for one in modules for m in (one, *graph.find_upstream_modules(one))}

    def named(names: Sequence[str], modules: set[str]) -> set[str]:
        """The modules that are, or are in, one of the names."""
        dotted = [f"ptxspec.{n.replace('/', '.')}" for n in names]
        for name in dotted:
            assert any(f"{m}.".startswith(f"{name}.") for m in modules), f"{name} is named and not needed"
        return {m for m in modules if any(f"{m}.".startswith(f"{n}.") for n in dotted)}

    reading = needed_by("ptxspec.specification")
    generating = needed_by("ptxspec.emit.generate", *products) - reading
    assert reading == named(specification.READ_BY, reading)
    assert (
        named(specification.GENERATED_BY, generating) | named(specification.READ_BY, reading | generating) >= generating
    )


def test_generate_makes_nothing_where_nothing_changed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(root: Path) -> Files:
        raise AssertionError("everything is made again")

    build = generate.build
    monkeypatch.setattr(generate, "build", none)
    assert "up to date" in project.run("generate", "--check").out
    assert "up to date" in project.run("generate").out
    # Somebody edited what is generated.
    project.edit("generated/manual/index.md", "do not edit", "do edit")
    monkeypatch.setattr(generate, "build", build)
    assert project.run("generate", "--check").code == 1
    assert project.run("generate").code == 0
    assert "do not edit" in (project.root / "generated/manual/index.md").read_text("utf-8")


def test_what_is_edited_while_it_is_read_is_not_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    EDITS["a note"](project)
    check = specification.check

    def late(*arguments: object) -> object:
        EDITS["a summary"](project)
        return check(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(specification, "check", late)
    specification.load(project.root)
    monkeypatch.setattr(specification, "check", check)
    spec = specification.load(project.root).right()
    assert spec.instructions["neg"].summary.startswith("Changed")
