"""`ptxspec generate`: the same bytes everywhere, whole or not at all, and a clear word on what changed."""

from __future__ import annotations

import ast
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.project import Project, copied, without_recipes
from helpers.repository import checked
from ptxspec import roots
from ptxspec.check.checking import Checked, check
from ptxspec.cli.main import main
from ptxspec.emit import changes, generate, registry
from ptxspec.emit.parts import Parts
from ptxspec.emit.products import data as json_data, emulator, native
from ptxspec.emit.text import Files, Templates
from ptxspec.model import Spec
from ptxspec.specification import read

ABS, NEG = (f"spec/instructions/{opcode}.yaml" for opcode in ("abs", "neg"))
BFOO = """\
opcode: bfoo
summary: Exclusive or, made up.
manual:
  - {section: 9.7.9.3, anchor: logic-and-shift-instructions-xor}
syntax:
  - bfoo.b32    d, a, b
requires:
  - {ptx: 3.2, target: sm_37, section: 9.7.9.3}
semantics: |
  d = a ^ b
corner_cases:
  - title: Bits
    section: 9.7.9.3
    rows:
      - [0x0f0f0f0f, 0x00ffff00, 0x0ff0f00f]
"""


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """A small opcode is enough to be whole or not at all."""
    return Project(copied(tmp_path / "project", ("neg",), own_templates=True), capsys)


def files(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def ptxspec(*arguments: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ptxspec", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def cells(row: str) -> list[str]:
    """The cells of a row of a Markdown table: a backslash takes a column's line its meaning."""
    return re.sub(r"\\.", "", row).split("|")


def leftovers(project: Project) -> list[str]:
    return [p.name for p in project.root.iterdir() if p.name not in ("spec", "templates", "generated")]


@pytest.mark.exhaustive
def test_the_committed_files_are_what_the_specification_gives(spec: Spec) -> None:
    made = registry.make(spec, [*checked().values()], Templates(ROOT))
    changes = generate.compare(ROOT, made)
    assert not changes, "".join(generate.diff(ROOT, made, changes))[-3000:]


@pytest.mark.exhaustive
def test_the_bytes_depend_on_nothing_but_the_specification(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "anderswo – elsewhere"
    shutil.copytree(project.root, other)
    here = project.run("generate")
    there = ptxspec("generate", "--root", "..", cwd=other / "spec", PYTHONHASHSEED="77", LC_ALL="C", TZ="Asia/Tokyo")
    assert here.code == there.returncode == 0, here.err + there.stderr
    assert files(project.root / "generated") == files(other / "generated")


@pytest.mark.exhaustive
def test_the_emulator_has_bytecode_for_processes_that_write_none(project: Project) -> None:
    package = project.root / "generated/python/ptxemu"
    assert ptxspec("generate", "--root", project.root, PYTHONPYCACHEPREFIX="").returncode == 0
    (package / "__pycache__").rename(project.root / "elsewhere")
    assert ptxspec("generate", "--root", project.root, PYTHONPYCACHEPREFIX="").returncode == 0
    for path in package.rglob("*.py"):
        assert Path(cache_from_source(str(path))).is_file()


# Its format has no room for a stamp.
UNSTAMPED = {"manual/objects.inv"}


@pytest.mark.exhaustive
def test_every_file_is_stamped_and_none_names_a_machine_or_a_time(project: Project) -> None:
    assert project.run("generate").code == 0
    spec = read(project.root)
    measured = [found.date for found in (spec.speed, spec.peers) if found]
    for name, data in files(project.root / "generated").items():
        # The day of a measurement stands in the specification, which is allowed to.
        text = re.sub("|".join(measured) or "$", "", data.decode(errors="surrogateescape"))
        assert str(project.root) not in text and str(Path.home()) + "/" not in text, name
        assert not re.search(r"\b20[2-9]\d-\d\d-\d\d\b|\d\d:\d\d:\d\d", text), name
        assert b"\r" not in data or name in UNSTAMPED
        assert not text or "by ptxspec from" in text[:600] or name in UNSTAMPED, name


def test_what_changed_is_said(project: Project) -> None:
    project.write(ABS, without_recipes((ROOT / ABS).read_text("utf-8")))
    first = project.run("generate")
    assert first.code == 0 and "neg: new, 13 variants\n" in first.out
    assert re.search(r"generated/: (\d+) added, 0 changed, 0 removed, \1 files in all", first.out)
    assert "was up to date" in project.run("generate").out
    project.edit(NEG, "summary: Change the sign of a value.", "summary: Change the sign of one value.")
    (project.root / "generated/stray.txt").write_text("x")
    second = project.run("generate")
    assert "  changed: manual/neg.md\n" in second.out and "neg.cu" not in second.out
    assert "  removed: stray.txt\n" in second.out
    assert not (project.root / "generated/stray.txt").exists()
    (project.root / NEG).unlink()
    third = project.run("generate").out
    assert "neg: gone, 13 variants\n" in third and "  removed: cuda/neg.cu\n" in third


F64 = "  - neg.f64                   d, a\n"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "  d = -a\n\nnan:", "  d = -(-(-a))\n\nnan:",
            {"9 variants of neg: semantics", "9 variants of neg: exact -> unjudged"},
        ),
        ("ptx: 6.0, target: sm_53", "ptx: 6.1, target: sm_60", {"4 variants of neg: sm_53 -> sm_60"}),
        (F64, f"{F64}  - neg.ftz.f64               d, a\n", {"neg.ftz.f64: new"}),
        ("{for: .ftz.f32,         ptx: 1.4}", "{for: .ftz.f32,         ptx: 1.5}", {"neg.ftz.f32: PTX 1.4 -> 1.5"}),
        ("A NaN keeps its payload and becomes quiet.", "A NaN keeps its payload, but quiet.", {"neg: text"}),
    ],
)  # fmt: skip
def test_what_changed_is_told_by_variants(project: Project, old: str, new: str, told: set[str]) -> None:
    assert project.run("generate").code == 0
    project.edit(NEG, old, new)
    plan, done = project.run("generate", "--check"), project.run("generate")
    assert plan.code == 1 and done.code == 0, plan.err
    assert {line for line in done.out.splitlines() if line[0] != " " and "generated/" not in line} == told
    assert plan.out == done.out


def test_files_of_data_have_no_empty_lines(project: Project) -> None:
    spec = read(project.root)
    made = json_data.emit(spec, check(spec)[0], Templates(project.root), Parts())
    text = made["data/opcodes/neg.json"]
    assert '\n"hardware":[],\n' in text and '\n"variants":[\n[' in text
    assert not [name for name, text in made.items() if "\n\n" in text]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("recipes", "recipes"),
        ("missing", "recipes"),
        ("hardware", "semantics on some targets"),
        ("corner_cases", "tables"),
        ("notes", "text"),
    ],
)
def test_what_changed_besides_variants_is_told_by_its_part(key: str, told: str) -> None:
    before = json.loads((ROOT / "generated/data/opcodes/max.json").read_text("utf-8"))
    after = {**before, key: [*before[key], "another"] if isinstance(before[key], list) else {}}
    assert changes.told("max", json.dumps(before), json.dumps(after)) == [f"max: {told}"]


def test_the_same_content_in_another_layout_is_told_as_such() -> None:
    text = (ROOT / "generated/data/opcodes/neg.json").read_text("utf-8")
    assert changes.told("neg", json.dumps(json.loads(text)), text) == ["neg: layout of the file"]


@pytest.mark.exhaustive
def test_what_another_version_wrote_is_made_anew(project: Project) -> None:
    assert project.run("generate").code == 0
    for text in ("no JSON", "{}", '{"variants": [1]}'):
        (project.root / "generated/data/opcodes/neg.json").write_text(text, "utf-8")
        assert "neg: made anew\n" in project.run("generate").out


SHARED = {"data/ptxspec.json", "python/ptxemu/index.py", "native/meson.build"}


def test_another_opcode_leaves_the_files_of_the_rest_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = Project(copied(tmp_path, ("add", "max")), capsys)
    before = made_for_programs(project)
    # It comes between the two, and has a requirement and a signature that neither has.
    project.write("spec/instructions/bfoo.yaml", BFOO)
    after = made_for_programs(project)
    changed = {name for name in after if after[name] != before.get(name)}
    own = {"python/ptxemu/opcodes/bfoo.py", "python/ptxemu/instructions/bfoo.py", "native/src/bfoo.c"}
    assert changed == own | SHARED | {"data/opcodes/bfoo.json"}
    assert before.keys() == after.keys() - own - {"data/opcodes/bfoo.json"}
    for name, more in (("data/ptxspec.json", 2), ("python/ptxemu/index.py", 1), ("native/meson.build", 1)):
        lines = [x for x in difflib.ndiff(before[name].splitlines(), after[name].splitlines()) if x[0] != " "]
        assert len(lines) == more and all(line[0] == "+" and "bfoo" in line for line in lines)


@pytest.mark.parametrize(("opcode", "takes_long"), [("tanh", True), ("rcp", True), ("fma", False)])
def test_only_c_with_elementary_functions_or_units_takes_long_to_compile(opcode: str, takes_long: bool) -> None:
    """All of tanh's elementary functions are without units, and rcp has units only."""
    module = native.part(checked()[opcode], Templates(ROOT), Parts())
    assert module and module.takes_long == takes_long


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [("group: ", "# A remark.\ngroup: ", True), ("  d = -a\n\nnan:", "  d = -(-(-a))\n\nnan:", False)],
)
def test_the_digest_of_c_is_of_what_is_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, same: bool
) -> None:
    """The comments in the C number the lines of the specification."""
    project, digest = Project(copied(tmp_path, ("neg",)), capsys), re.compile(r'digest\[\] = "(\w+)"|NATIVE = "(\w+)"')

    def made() -> tuple[str, list[str]]:
        files = made_for_programs(project)
        c, module = files["native/src/neg.c"], files["python/ptxemu/instructions/neg.py"]
        return c, [m[m.lastindex or 0] for m in digest.finditer(c + module)]

    text, (of_c, of_python) = made()
    project.edit(NEG, old, new)
    other, found = made()
    assert of_c == of_python and other != text and (found == [of_c, of_c]) is same


# Files of the manual that list opcodes. Those of other folders are in `SHARED`.
LIST = {
    *(f"{name}.{suffix}" for name in ("index", "availability", "history") for suffix in ("html", "md")),
    "catalog.data.js", "functions.html", "search.data.js", "hover.json", "llms.txt", "objects.inv",
}  # fmt: skip
# Every page has one of these, which leads to the opcode's.
NAVIGATION = '<li><a href="bfoo.html">bfoo</a>'


def lines_of(folder: Path) -> dict[str, Counter[str]]:
    """Those of each file but for the opcode's own."""
    found = {p.name: p for p in folder.iterdir() if p.name.partition(".")[0] != "bfoo"}
    return {name: Counter(p.read_text("utf-8", "replace").split("\n")) for name, p in found.items()}


@pytest.mark.exhaustive
def test_one_more_opcode_changes_few_lines_of_what_lists_opcodes(project: Project) -> None:
    project.bring("spec/tensor", *(f"spec/observed/{n}.yaml" for n in ("calls", "evidence", "machine_code", "peers")))
    manual = project.root / "generated/manual"
    assert project.run("generate").code == 0
    before = lines_of(manual)
    project.write("spec/instructions/bfoo.yaml", BFOO)
    assert project.run("generate").code == 0
    after = lines_of(manual)
    assert before.keys() == after.keys()
    changed = {name: (before[name] - after[name]) + (after[name] - before[name]) for name in after}
    told = {name: found for name, found in changed.items() if sum(found.values()) > found[NAVIGATION]}
    assert set(told) == LIST and len(LIST | SHARED) <= 15
    many = {name: [*found] for name, found in told.items() if sum(found.values()) > 12}
    assert not many
    # The assembler was asked about the others, and that stays true.
    asked = "has not checked these variants yet"
    assert [p.name for p in sorted(manual.glob("*.md")) if asked in p.read_text("utf-8")] == ["bfoo.md"]


def test_a_modifier_may_bring_other_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = Project(copied(tmp_path, ("not",)), capsys)
    other = BFOO.replace("b32    d, a, b\n", "b32    d, a, b\n  - bfoo.sat.b32    d, a, b:u32\n")
    project.write("spec/instructions/bfoo.yaml", other.replace("d = a ^ b", "d = a ^ (bits(b) if sat else b)"))
    for name, text in made_for_programs(project).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    code = "import ptxemu; print(*(ptxemu.compile(s) for s in ('bfoo.b32', 'bfoo.sat.b32')), sep=chr(10))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path / "python", capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "<ptxemu kernel bfoo.b32 (2 operands): d:b32 = a:b32, b:b32; unjudged>",
        "<ptxemu kernel bfoo.sat.b32 (2 operands): d:b32 = a:b32, b:u32; unjudged>",
    ]


def made_for_programs(project: Project) -> Files:
    """The files of generated/data, generated/python and generated/native."""
    spec, templates = read(project.root), Templates(project.root)
    made = check(spec)[0]
    parts = [product.emit(spec, made, templates, Parts()) for product in (json_data, emulator, native)]
    return parts[0] | parts[1] | parts[2]


@pytest.mark.exhaustive
def test_check_shows_the_difference_and_writes_nothing(project: Project) -> None:
    missing = project.run("generate", "--check", "--diff")
    assert missing.code == 1 and "+++ " in missing.out and not (project.root / "generated").exists()
    project.run("generate")
    fresh = project.run("generate", "--check")
    assert fresh.code == 0 and re.fullmatch(r"generated/ is up to date: \d+ files\n", fresh.out)
    before = files(project.root)
    project.edit(NEG, "summary: Change the sign of a value.", "summary: Change the sign of one value.")
    result = project.run("generate", "--check", "--diff")
    assert result.code == 1
    assert "-Change the sign of a value." in result.out and "+Change the sign of one value." in result.out
    assert "generated/: 0 added" in result.out and "generated/ is out of date; run `ptxspec generate`" in result.err
    plan = project.run("generate", "--check").out
    assert "the sign of" not in plan and "generated/: 0 added" in plan and "  changed: manual/neg.md\n" in plan
    assert {**files(project.root), NEG: before[NEG]} == before


def test_what_is_the_same_is_not_written_or_compiled_again(project: Project) -> None:
    assert ptxspec("generate", "--root", project.root, PYTHONPYCACHEPREFIX="").returncode == 0
    generated = project.root / "generated"
    same, edited = (generated / f"python/ptxemu/{name}.py" for name in ("formats", "instructions/neg"))
    made = [same, Path(cache_from_source(str(same)))]
    before = [path.stat().st_ino for path in made]
    project.edit(NEG, "summary: Change the sign of a value.", "summary: Change the sign of one value.")
    assert ptxspec("generate", "--root", project.root, PYTHONPYCACHEPREFIX="").returncode == 0
    assert [path.stat().st_ino for path in made] == before
    assert "Change the sign of one value." in edited.read_text("utf-8")
    assert Path(cache_from_source(str(edited))).stat().st_mtime >= edited.stat().st_mtime


@pytest.mark.exhaustive
def test_a_write_that_fails_leaves_the_old_files(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.run("generate")
    before = files(project.root / "generated")
    project.edit(NEG, "summary: Change the sign of a value.", "summary: Change the sign of one value.")
    written = 0

    def full(path: Path, data: bytes) -> int:
        nonlocal written
        written += 1
        if written > 5:
            raise OSError(28, "No space left on device", str(path))
        return path.open("wb").write(data)

    with monkeypatch.context() as m:
        m.setattr(Path, "write_bytes", full)
        result = project.run("generate")
    assert result.code == 2 and "No space left on device" in result.err
    assert files(project.root / "generated") == before
    assert leftovers(project) == []
    assert project.run("generate").code == 0
    assert leftovers(project) == []


# Where a run is killed: in its n-th call of a function of the module or of Path.
KILLED = {
    "while it writes": (Path, "write_bytes", 7, True),
    "before the exchange": (generate, "_exchange", 1, True),
    "after the exchange": (generate, "_remove", 3, True),
    "before the first of two renames": (Path, "rename", 1, False),
    "between two renames": (Path, "rename", 2, False),
    "after two renames": (generate, "_remove", 3, False),
}


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("moment", KILLED)
def test_a_killed_run_leaves_all_or_nothing(project: Project, moment: str) -> None:
    owner, name, count, exchange = KILLED[moment]
    project.run("generate")
    before = files(project.root / "generated")
    project.edit(NEG, "summary: Change the sign of a value.", "summary: Change the sign of one value.")
    child = os.fork()
    if child == 0:
        calls = 0
        killed = getattr(owner, name)

        def killing(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return killed(*arguments)

        try:
            if not exchange:
                setattr(generate, "_exchange", lambda one, other: False)  # noqa: B010
            setattr(owner, name, killing)
            generate.generate(project.root)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    after = files(project.root / "generated")
    if moment.startswith("after"):
        assert b"Change the sign of one value." in after["manual/neg.md"] and after.keys() == before.keys()
    elif moment == "between two renames":
        assert after == {}
    else:
        assert after == before
    assert project.run("generate").code == 0
    assert leftovers(project) == []
    assert project.run("generate", "--check").code == 0


@pytest.mark.exhaustive
def test_files_in_the_way_are_replaced(project: Project) -> None:
    for name in ("generated", ".generated-new", ".generated-old"):
        (project.root / name).write_text("in the way")
    assert project.run("generate").code == 0
    assert leftovers(project) == [] and (project.root / "generated/cuda/neg.cu").exists()


def test_a_text_of_the_specification_is_no_code_of_the_emulator(project: Project) -> None:
    strange = 'A """quoted""" \\d, and "'
    text = (project.root / NEG).read_text("utf-8")
    project.write(NEG, re.sub(r"(?m)^summary: .*", lambda _: f"summary: '{strange}'", text))
    assert project.run("generate").code == 0
    module = (project.root / "generated/python/ptxemu/instructions/neg.py").read_text("utf-8")
    assert ast.get_docstring(ast.parse(module)) == f"neg: {strange}"


def test_a_text_of_the_specification_is_no_markup_of_the_manual(project: Project) -> None:
    project.bring("spec/observed/evidence.yaml", "spec/observed/speed.yaml")
    strange = "one | two <script>alert()</script> 1 < 2"
    for path, line in (
        (NEG, "summary: "), ("spec/types.yaml", "    summary: "), ("spec/modifiers.yaml", "    summary: (?=[^>])"),
        ("spec/observed/evidence.yaml", "assembler: "), ("spec/observed/speed.yaml", "  system: |    note: "),
    ):  # fmt: skip
        text = (project.root / path).read_text("utf-8")
        changed = re.sub(rf"(?m)^({line}).*", lambda m: f"{m[1]}'{strange}'", text)
        assert strange in changed
        project.write(path, changed)
    assert project.run("generate").code == 0
    pages = {p.stem: p.read_text("utf-8") for p in (project.root / "generated/manual").glob("*.md")}
    assert pages.keys() > {"index", "differences", "speed", "neg"}
    for name, text in pages.items():
        assert "<script" not in text.replace("\\<", ""), name
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            assert len({len(cells(row)) for row in table.splitlines()}) == 1, f"{name}: {table}"
    shown = r"one \| two \<script>alert()\</script> 1 < 2"
    assert f"| {shown} |" in pages["index"] and f"\n{shown}\n" in pages["neg"]


@pytest.mark.exhaustive
def test_another_product_is_a_function_and_its_templates(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(ABS, without_recipes((ROOT / ABS).read_text("utf-8")))
    (project.root / "templates/sizes.csv.j2").write_text(
        "{{ stamp }}\n{% for r in rows %}{{ r }}\n{% endfor %}", "utf-8"
    )

    def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
        programs = {v: p[None] for c in checked for v, p in c.programs.items()}
        rows = [f"{v.spelling},{len(programs[v].lets)}" for i in spec.instructions.values() for v in i.variants]
        return {"tables/sizes.csv": templates.render("sizes.csv.j2", ["spec/instructions"], rows=rows)}

    every = {**registry.products(), "sizes": emit}
    monkeypatch.setattr(registry, "products", lambda: every)
    assert project.run("generate").code == 0
    stamp, *rows = (project.root / "generated/tables/sizes.csv").read_text("utf-8").splitlines()
    assert stamp == "# Generated by ptxspec from spec/instructions, templates/sizes.csv.j2; do not edit."
    assert {"abs.f64,1", "neg.ftz.f32,3"} < set(rows)
    assert project.run("generate", "--check").code == 0


def test_two_products_cannot_make_the_same_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    every = {**registry.products(), "another": lambda spec, checked, templates, parts: {"manual/index.md": ""}}
    monkeypatch.setattr(registry, "products", lambda: every)
    result = project.run("generate")
    assert result.code == 2 and not (project.root / "generated").exists()
    assert "generated/manual/index.md is made twice: by the products manual and another" in result.err


@pytest.mark.exhaustive
def test_a_broken_template_is_named(project: Project) -> None:
    project.run("generate")
    before = files(project.root / "generated")
    path = project.root / "templates/cuda/instruction.cu.j2"
    good = path.read_text("utf-8")
    path.write_text(good + "{% for x in %}", "utf-8")
    result = project.run("generate")
    assert result.code == 2 and "templates/cuda/instruction.cu.j2:" in result.err
    path.write_text(good + "{{ nobody_knows }}", "utf-8")
    result = project.run("generate")
    assert result.code == 2 and "templates/cuda/instruction.cu.j2" in result.err and "nobody_knows" in result.err
    path.unlink()
    result = project.run("generate")
    assert result.code == 2 and "the template is missing" in result.err
    assert files(project.root / "generated") == before


@pytest.mark.parametrize("command", [("generate",), ("generate", "--check"), ("validate",), ("verify", "--record")])
def test_what_is_installed_is_neither_written_nor_judged(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.setattr("ptxspec.roots.PACKAGE", project.root)
    monkeypatch.chdir(tmp_path)
    assert roots.find() == roots.Root(project.root) and roots.find().packaged
    assert main(command) == 2
    said = f"the specification in {project.root} is installed and read-only; name a clone with --root DIR"
    assert capsys.readouterr().err == f"ptxspec: {said}\n"
    assert not (project.root / "generated").exists()


def test_a_checkout_without_templates_is_not_passed_over(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(project.root / "templates")
    monkeypatch.chdir(project.root / "spec")
    for command in (["generate"], ["validate"], ["query", "add.f32"]):
        assert main([*command, "--root", ".."]) == 2
        assert ".. has no templates/" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_opcodes_are_built_from_the_api(project: Project) -> None:
    assert generate.generate(project.root).added
    assert not generate.generate(project.root)
