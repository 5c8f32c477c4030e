"""`ptxspec server` as an editor meets it: it says what `ptxspec lint` says, where editors count it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.editor import Editor
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

PTX = """\
.version 7.8
.target sm_80
.entry k() {
.reg .b16 %h<4>; .reg .f32 %f<4>; .reg .pred %p;
add.bf16 %h0, %h1, %h2;
add.rn.ftz.ftz.f32 %f0, %f1, %f2;
fma.f32 %f0, %f1, %f2, %f3;
max.NaN.f32 %f0, %f1, %f2; // ptxspec: ignore[hazard]
}
"""
FILES = {
    "a kernel.ptx": ("ptx", PTX),
    "windows.ptx": ("ptx", PTX.replace("\n", "\r\n")),
    "kernel.cu": (
        "cuda-cpp",
        "// \N{GRINNING FACE}\n"
        '__device__ void f(short& d, short a) {\n'
        '  /* \N{GRINNING FACE} */ asm("add.bf16 %0, %1, %1;" : "=h"(d) : "h"(a));\n'
        "#if __CUDA_ARCH__ >= 900\n"
        '  asm("add.bf16 %0, %1, %1;" : "=h"(d) : "h"(a));\n'
        "#endif\n"
        "}\n",
    ),
    "kernel.py": ("python", ''''\
s = "\N{GRINNING FACE} {}"
asm("""
  add.rn.rn.f32 %f0, %f1, %f2;
""")
x = "add.rz.bf16 %h0, %h1, %h2;"
'''),
    "kernel.rs": ("rust", 'fn f() { unsafe { asm!("add.bf16 {d}, {a}, {a};", d = out(reg16) d, a = in(reg16) a) } }\n'),
    "kernel.jl": ("julia", 'f() = @asmcall("add.rn.rn.f32 \\$0, \\$1, \\$1;", "=f,f", Float32)\n'),
    "notes.md": ("markdown", "# Notes\n\n```ptx\nadd.foo.f32 %f0, %f1, %f2;\n```\n"),
    "program.ll": ("llvm", '%1 = call float asm "add.rn.rn.f32 $0, $1, $1;", "=f,f"(float %0)\n'),
}  # fmt: skip
CONFIGURATION = '[lint]\ntarget = "sm_80"\nper-file-ignores = {"*.jl" = ["hazard"]}\n'


@pytest.fixture(autouse=True)
def _configured(folder: Path) -> None:
    (folder / "ptxspec.toml").write_text(CONFIGURATION, "utf-8")


def linted(folder: Path, name: str) -> list[tuple[int, int, str, str]]:
    """Return what `ptxspec lint` prints of a file."""
    command = [sys.executable, "-m", "ptxspec", "lint", name, "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [(f["line"], f["column"], f["code"], f["message"]) for f in json.loads(done.stdout)]


def said(found: Sequence[lsp.Diagnostic], text: str) -> list[tuple[int, int, str, str]]:
    """Return the same of an editor's diagnostics, whose columns count as UTF-16 does."""
    lines = text.replace("\r\n", "\n").split("\n")
    places = []
    for d in found:
        line, units = d.range.start.line, d.range.start.character
        before = lines[line].encode("utf-16-le")[: 2 * units].decode("utf-16-le")
        places.append((line + 1, len(before) + 1, str(d.code), d.message))
    return places


@pytest.mark.parametrize("name", FILES)
async def test_what_is_found_is_what_lint_prints(client: LanguageClient, folder: Path, name: str) -> None:
    language, text = FILES[name]
    (folder / name).write_bytes(text.encode("utf-8"))
    found = await Editor(client, (folder / name).as_uri()).open(text, language)
    assert found
    assert said(found, text) == linted(folder, name)


async def test_changes_are_judged_as_they_come(client: LanguageClient, folder: Path) -> None:
    for end in ("\n", "\r\n"):
        text = PTX.replace("\n", end)
        editor = Editor(client, (folder / f"changes{len(end)}.ptx").as_uri())
        before = await editor.open(text, "ptx")
        face = await editor.change((4, 0), (4, 0), f"// \N{GRINNING FACE}{end}/* \N{GRINNING FACE} */")
        assert [(d.range.start.line, d.code) for d in face] == [(d.range.start.line + 1, d.code) for d in before]
        assert face[0].range.start.character == before[0].range.start.character + len("/*  */") + 2
        # Behind the face there are two units.
        gone = await editor.change((5, 8), (5, 8 + len("add.bf16")), "abs.f16 %h0, %h1; //")
        assert {d.code for d in gone} == {d.code for d in before} - {before[0].code}
        back = await editor.change((4, 0), (6, 0), f"add.bf16 %h0, %h1, %h2;{end}")
        assert said(back, text) == said(before, text)


@pytest.mark.parametrize("strange", ["\f", "\v", "\x85", "\u2028"])
async def test_only_ends_of_lines_count_as_such(client: LanguageClient, folder: Path, strange: str) -> None:
    editor = Editor(client, (folder / f"strange {ord(strange)}.ptx").as_uri())
    text = f"// a{strange}b\n// c\nadd.rn.rn.f32 %f0, %f1, %f2;\n"
    assert [d.code for d in await editor.open(text, "ptx")] == ["repeated-modifier"]
    assert await editor.change((2, 6), (2, 9), "") == []


async def test_a_completion_does_not_wait_for_the_check(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "large.ptx").as_uri())
    await editor.open("add.f32 %f0, %f1, %f2;\n" * 20_000 + "add.rn.rn.f32 %f0, %f1, %f2;\n", "ptx")
    before = client.said[editor.uri].version
    changing = asyncio.create_task(editor.change((0, 0), (0, 0), "add.\n"))
    await asyncio.sleep(0)
    assert "f32" in {i.label for i in await editor.completions(0, 4)}
    assert client.said[editor.uri].version == before
    assert "repeated-modifier" in {d.code for d in await changing}


async def test_each_folder_has_its_own_configuration(client: LanguageClient, folder: Path, tmp_path: Path) -> None:
    def folders(added: list[Path], removed: list[Path]) -> None:
        both = ([lsp.WorkspaceFolder(path.as_uri(), path.name) for path in paths] for paths in (added, removed))
        event = lsp.WorkspaceFoldersChangeEvent(*both)
        client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))

    other = tmp_path / "another repository"
    other.mkdir()
    file, text = Editor(client, (other / "kernel.cu").as_uri()), 'asm("add.bf16 %0, %1, %1;" : "=h"(d) : "h"(a));\n'
    # A file outside all folders is checked as lint in the first folder would check it.
    assert [d.code for d in await file.open(text, "cuda-cpp")] == ["target-too-old"]
    folders([other], [])
    assert await file.change((0, 0), (0, 0), "\n") == []
    assert await Editor(client, (folder / "of its own.cu").as_uri()).open(text, "cuda-cpp")
    assert await file.change((0, 0), (0, 0), "\n") == []
    other.rmdir()
    assert [d.code for d in await file.change((0, 0), (0, 0), "\n")] == ["target-too-old"]
    folders([], [other])


async def test_a_file_that_is_not_saved_is_judged(client: LanguageClient) -> None:
    found = await Editor(client, "untitled:Untitled-1").open("add.bf16 %h0, %h1, %h2;", "ptx")
    assert [d.code for d in found] == ["target-too-old"]
    text = 'asm("add.rn.rn.f32 %0, %0, %0;" : "+f"(d));'
    assert [d.code for d in await Editor(client, "untitled:Untitled-2").open(text, "cuda-cpp")] == ["repeated-modifier"]


async def test_what_is_excluded_and_what_is_no_text_is_not_judged(client: LanguageClient, folder: Path) -> None:
    (folder / "ptxspec.toml").write_text('[lint]\nexclude = ["third_party/"]\n', "utf-8")
    (folder / "third_party").mkdir(exist_ok=True)
    assert not await Editor(client, (folder / "third_party" / "a.ptx").as_uri()).open(PTX, "ptx")
    assert not await Editor(client, (folder / "strange.ptx").as_uri()).open("add.foo.f32 \x01\x02", "ptx")
    # It may come behind the findings.
    async with asyncio.timeout(10):
        while not client.messages:
            await asyncio.sleep(0.01)
    assert "not a text file" in client.messages.pop().message


async def test_a_wrong_configuration_is_told_once(client: LanguageClient, folder: Path) -> None:
    client.messages.clear()
    (folder / "ptxspec.toml").write_text('[lint]\ntarget = "sm_81"\n', "utf-8")
    editor = Editor(client, (folder / "wrong.ptx").as_uri())
    await editor.open("add.bf16 %h0, %h1, %h2;\n", "ptx")
    found = await editor.change((1, 0), (1, 0), "add.rn.rn.f32 %f0, %f1, %f2;\n")
    assert [d.code for d in found] == ["repeated-modifier"]
    (message,) = client.messages
    assert "ptxspec.toml:2: unknown target" in message.message and "Traceback" not in message.message
    (folder / "ptxspec.toml").write_text(CONFIGURATION, "utf-8")
    client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([]))
    found = await editor.change((2, 0), (2, 0), "\n")
    assert [d.code for d in found] == ["target-too-old", "repeated-modifier"]


async def test_it_asks_to_be_told_of_changed_configurations(client: LanguageClient) -> None:
    async with asyncio.timeout(10):
        while not client.watched:
            await asyncio.sleep(0.01)
    assert client.watched == ["**/ptxspec.toml", "**/pyproject.toml"]


async def test_hover_tells_what_an_instruction_does_and_needs(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "hover.ptx").as_uri())
    await editor.open(PTX, "ptx")
    told = await editor.hover(4, 3)
    assert told.startswith("**add.bf16 (2 operands)**: Add two values")
    assert "no: add.bf16 (2 operands) is not available on sm\\_80 and PTX 7.8" in told
    assert (
        "- requires: sm\\_90 or newer" in told
        and "- claim: exact" in told
        and "fma.rn.bf16 %d, %a, %\\_t, %b" not in told
    )
    assert "add.html#add.bf16-2)" in told
    assert await editor.hover(2, 3) == ""
    program = Editor(client, (folder / "hover.cu").as_uri())
    await program.open(FILES["kernel.cu"][1], "cuda-cpp")
    assert (await program.hover(2, 20)).startswith("**add.bf16")
    assert await program.hover(1, 5) == ""


async def test_hover_tells_what_becomes_of_a_function(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "function.cu").as_uri())
    await editor.open("// a product\nd = __hmul2(a, b) + own(c) + __hmul2;\n", "cuda-cpp")
    told = await editor.hover(1, 6)
    assert told.startswith("**yes: \\_\\_hmul2 on sm\\_80, compiled by nvcc")
    assert "      mul.f16x2 %d, %a, %b;" in told and "fma.rn.bf16x2 %d, %a, %b, %t1;" in told
    assert [await editor.hover(1, column) for column in (1, 12, 20, 30)] == ["", "", "", ""]


@pytest.mark.parametrize(
    ("name", "call", "is_known"),
    [
        ("own.py", "math.exp(x)", False),
        ("own.py", "libdevice.exp(x)", True),
        ("own.cu", "fadd(x, y)", False),
        ("own.cu", "fmaf(x, y, z)", True),
        ("own.mlir", "math.exp %0", True),
        ("own.ll", "fadd float %0, %1", True),
    ],
)
async def test_hover_tells_nothing_of_a_function_with_the_name_of_another_languages(
    client: LanguageClient, folder: Path, name: str, call: str, is_known: bool
) -> None:
    editor = Editor(client, (folder / name).as_uri())
    await editor.open(call, "")
    assert bool(await editor.hover(0, 1)) == is_known


async def test_hover_tells_what_becomes_of_functions_of_triton_and_llvm(client: LanguageClient, folder: Path) -> None:
    kernel = Editor(client, (folder / "kernel.py").as_uri())
    await kernel.open("x = tl.exp2(y) + tl.exp2 + exp2(y)\n", "python")
    told = await kernel.hover(0, 8)
    assert told.startswith("**yes: tl.exp2 on sm\\_80, compiled by Triton") and "ex2.approx.ftz.f32 %d, %a;" in told
    assert [await kernel.hover(0, column) for column in (0, 19, 30)] == ["", "", ""]
    program = Editor(client, (folder / "function.ll").as_uri())
    await program.open("%2 = call float @llvm.nvvm.sqrt.rn.f(float %1)\n", "llvm")
    assert "sqrt.rn.f32 %d, %a;" in await program.hover(0, 25)


async def test_hover_tells_what_becomes_of_operations_of_mlir(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "function.mlir").as_uri())
    await editor.open("%1 = math.sqrt %0 : f32\n%2 = fptosi float %1 to i32\n%3 = sqrt %2\n", "mlir")
    assert (await editor.hover(0, 8)).startswith("**yes: math.sqrt on sm\\_80, lowered to \\_\\_nv\\_sqrtf or")
    assert "cvt.rzi.s32.f32 %d, %a;" in await editor.hover(1, 6)
    assert await editor.hover(2, 6) == await editor.hover(0, 0) == ""


async def test_hover_tells_what_a_special_register_holds_and_needs(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "special.ptx").as_uri())
    await editor.open(".version 7.0\n.target sm_80\nmov.u32 %r0, %clusterid.x;\n", "ptx")
    told = await editor.hover(2, 18)
    assert told.startswith("**no: %clusterid is not available on sm\\_80 and PTX 7.0**")
    assert "- requires: sm\\_90 or newer, PTX 7.8" in told and "- holds: The cluster within the grid" in told
    assert await editor.hover(2, 10) == ""
    program = Editor(client, (folder / "special.cu").as_uri())
    await program.open('asm("mov.u32 %0, %%laneid;" : "=r"(x));\n', "cuda-cpp")
    assert (await program.hover(0, 20)).startswith("**yes: %laneid on sm\\_80")


async def test_hover_warns_of_a_hazard(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "hazard.ptx").as_uri())
    await editor.open(".version 9.0\n.target sm_90\nfma.rz.bf16 %h0, %h1, %h2, %h3;\n", "ptx")
    told = await editor.hover(2, 3)
    assert "yes, but: fma.rz.bf16" in told and "- hazard: " in told


@pytest.mark.parametrize(
    ("written", "some", "none"),
    [
        ("add.", {"rn", "rz", "ftz", "sat", "f32", "f64", "f16"}, {"bf16", "f32x2", "relu"}),
        ("add.ftz.", {"rn", "rz", "sat", "f32"}, {"f64", "ftz"}),
        ("add.ftz.r", {"rn", "rz"}, {"sat", "f32"}),
        ("fma.rn.", {"f32", "bf16", "relu", "ftz"}, {"rz", "f32x2"}),
        ("cvt.rn.f16.", {"f32"}, {"rn", "f64x2"}),
        # The assembler accepts .hi and .full only directly behind the opcode.
        ("mad24.", {"hi", "lo"}, {"sat", "s32"}),
        ("mad24.hi.", {"sat", "s32"}, {"lo"}),
        ("div.", {"full", "rn"}, set()),
        ("div.ftz.", {"approx"}, {"full"}),
        ("foo.", set(), {"f32"}),
        ("ma", {"max"}, {"min", "f32"}),
        ("@%p ma", {"max"}, {"min"}),
        # No target of this PTX version has it.
        ("cl", {"clz"}, {"clmad"}),
        ("add.f32 ma", set(), {"max"}),
        ("// add.", set(), {"f32"}),
    ],
)
async def test_a_spelling_goes_on_with_what_exists(
    client: LanguageClient, folder: Path, written: str, some: set[str], none: set[str]
) -> None:
    header = ".version 7.8\n.target sm_80\n"
    uri = (folder / f"going on {abs(hash(written))}.ptx").as_uri()
    editor = Editor(client, uri)
    await editor.open(header + written, "ptx")
    words = {i.label for i in await editor.completions(2, len(written))}
    assert some <= words and not none & words


async def test_the_next_in_the_manuals_order_comes_first(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "order.ptx").as_uri())
    await editor.open("fma.rn.", "ptx")
    found = await editor.completions(0, 7)
    assert found[0].detail and {i.label for i in found[:3]}.isdisjoint({"rn"})
    text = found[0].text_edit
    assert isinstance(text, lsp.TextEdit) and text.range.start.character == 7


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("a.cu", 'void f() { asm volatile("add.', "f32"),
        ("b.cu", 'void f() { asm("add.', "f32"),
        ("c.cu", "void f() { x = max.", ""),
        ("d.cu", 'void f() { puts("max.', ""),
        ("e.py", "asm('ma", "max"),
        ("f.py", "print('ma", ""),
        ("g.rs", 'fn f() { asm!("add.', "f32"),
        ("h.md", "```ptx\nadd.", "f32"),
        ("j.cu", '#define ADD(d) asm("add.', "f32"),
        ("k.cu", '#define MAX(d) puts("max.', ""),
        ("l.rs", 'fn f() { asm!("add.f32 {a}, {b}, {b};", "max.', "f32"),
        ("m.py", 'inline_asm_elementwise("max.f32 $0, $1, $2;", "ma', ""),
        ("p.cu", 'void f() { asm("{add." "r', "rn"),
        ("q.cu", 'void f() { asm("{add.rn.f32 %0, %1;" "ma', "max"),
        ("r.cu", 'void f() { asm("{add.rn.f32 %0, " "ma', ""),
        ("s.cu", 'void f() { asm("{ad" "d', ""),
        ("n.ll", '%1 = call float asm sideeffect "add.', "f32"),
        ("o.cs", 'class A { void F() { CudaAsm.Emit("add.', "f32"),
        ("i.md", "add.", ""),
    ],
)
async def test_in_a_program_only_strings_of_ptx_go_on(
    client: LanguageClient, folder: Path, name: str, text: str, word: str
) -> None:
    behind = {'"': '", x);', "'": "')"}.get(next((c for c in reversed(text) if c in "\"'"), ""), "\n```")
    editor = Editor(client, (folder / name).as_uri())
    await editor.open(text + behind, "")
    *before, last = text.split("\n")
    words = {i.label for i in await editor.completions(len(before), len(last))}
    assert word in words if word else not words


def applied(text: str, action: lsp.CodeAction) -> str:
    """Return an ASCII text with an action's change in it."""
    assert action.edit and action.edit.changes
    ((change,),) = action.edit.changes.values()
    lines = text.split("\n")
    at = [sum(len(line) + 1 for line in lines[: p.line]) + p.character for p in (change.range.start, change.range.end)]
    return text[: at[0]] + change.new_text + text[at[1] :]


async def test_quick_fixes_mend_or_ignore(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "fixes.ptx").as_uri())
    await editor.open(PTX, "ptx")
    recipe, ignore = await editor.actions(4, 2)
    block = "{ .reg .b16 %_t; mov.b16 %_t, 0x3f80; fma.rn.bf16 %h0, %h1, %_t, %h2; }"
    assert applied(PTX, recipe) == PTX.replace("add.bf16 %h0, %h1, %h2;", block)
    assert recipe.is_preferred and recipe.diagnostics and recipe.diagnostics[0].code == "target-too-old"
    assert ignore.title == "Ignore target-too-old here" and "%h2;  // ptxspec: ignore[target-too-old]\n" in applied(
        PTX, ignore
    )
    once, _ = await editor.actions(5, 12)
    assert once.title == "Write add.rn.ftz.f32" and "\nadd.rn.ftz.f32 %f0" in applied(PTX, once)
    # Of several roundings nobody knows which was meant.
    assert [a.title for a in await editor.actions(6, 2)] == ["Ignore missing-modifier here"]
    (remove,) = await editor.actions(7, 50)
    assert remove.title == "Remove it" and "max.NaN.f32 %f0, %f1, %f2;\n}" in applied(PTX, remove)
    assert await editor.actions(2, 0) == []


@pytest.mark.parametrize(
    ("name", "line", "comment"),
    [
        ("kernel.cu", 2, "// "),
        ("kernel.py", 2, "// "),
        ("kernel.py", 4, "# "),
        ("kernel.jl", 0, "# "),
        ("program.ll", 0, "; "),
    ],
)
async def test_an_ignore_is_a_comment_of_the_language(
    client: LanguageClient, folder: Path, name: str, line: int, comment: str
) -> None:
    language, text = FILES[name]
    editor = Editor(client, (folder / f"ignore {line} {name}").as_uri())
    found = await editor.open(text, language)
    (d,) = (d for d in found if d.range.start.line == line)
    *_, ignore = await editor.actions(line, d.range.start.character)
    assert ignore.edit and ignore.edit.changes
    ((change,),) = ignore.edit.changes.values()
    assert change.new_text == f"  {comment}ptxspec: ignore[{d.code}]"


async def test_an_ignore_leaves_no_other_finding_about_its_statement(client: LanguageClient, folder: Path) -> None:
    text = ".version 7.8\n.target sm_80\nmax.f32 %f0, %f1, %f2, %f3;\n"
    editor = Editor(client, (folder / "two reasons.ptx").as_uri())
    assert [d.code for d in await editor.open(text, "ptx")] == ["target-too-old"]
    *_, ignore = await editor.actions(2, 0)
    assert ignore.title == "Ignore target-too-old and ptx-too-old here"
    assert await Editor(client, (folder / "no reason.ptx").as_uri()).open(applied(text, ignore), "ptx") == []


async def test_no_ignore_is_offered_where_a_line_goes_on(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "long.py").as_uri())
    await editor.open('x = inline_asm("add.rn.rn.f32 $0, $1, $1;", \\\n"=f,f", [y])\n', "python")
    assert [a.title for a in await editor.actions(0, 23)] == ["Write add.rn.f32"]


async def test_hints_tell_what_needs_a_newer_ptx_than_its_target(client: LanguageClient, folder: Path) -> None:
    text = ".version 9.5\n.target sm_100\nadd.f32 %f0, %f1, %f2;\nmax.f32 %f0, %f1, %f2, %f3;\n"
    editor = Editor(client, (folder / "hints.ptx").as_uri())
    await editor.open(text, "ptx")
    (hint,) = await editor.hints(5)
    assert (hint.label, hint.position.line, hint.position.character) == ("PTX 8.8", 3, len("max.f32"))


async def test_what_nobody_has_opened_has_no_answer(client: LanguageClient, folder: Path) -> None:
    editor = Editor(client, (folder / "nowhere.ptx").as_uri())
    assert await editor.hover(0, 0) == "" and await editor.completions(0, 0) == [] and await editor.actions(0, 0) == []
    assert await editor.hints(9) == []
