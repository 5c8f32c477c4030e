"""`ptxspec lint` for several targets at once, for some files' own, and for what a module says of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ptxspec.cli.main import main

TANH = 'asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(a));'  # from sm_90 on
EX2 = 'asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(r) : "r"(a));'  # too
FP4 = 'asm("{ .reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b, %1, %1; mov.b32 %0, {b, b, b, b}; }" : "=r"(r) : "f"(a));'
WRONG = 'asm("add.bad.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));'
Lint = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, str], *arguments: str) -> list[dict[str, Any]]:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        main(["lint", ".", "--format", "json", *arguments])
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
        return found

    return run


def test_a_finding_names_the_targets_that_it_holds_for(lint: Lint) -> None:
    found = lint({"a.cu": f"{WRONG}\n{TANH}\n{FP4}\n"}, "--target", "sm_80", "--target", "sm_75,sm_90a")
    assert [(f["line"], f["targets"]) for f in found] == [
        (1, ["sm_80", "sm_75", "sm_90a"]),
        (2, ["sm_80"]),
        (2, ["sm_75"]),
        (3, ["sm_80", "sm_75", "sm_90a"]),
    ]
    assert [" (for " in f["message"] for f in found] == [False, True, True, False]
    # Other advice is another finding.
    assert "--target sm_80" in found[1]["message"] and "--target sm_75" in found[2]["message"]
    (both,) = lint({"a.cu": FP4}, "--target", "sm_90,sm_89,sm_100a")
    assert both["targets"] == ["sm_90", "sm_89"]
    assert "sm_90 does not support cvt.rn.satfinite.e2m1x2.f32" in both["message"]
    assert "(for sm_90, sm_89)" in both["message"]


def test_what_is_wrong_with_a_move_of_a_vector_is_told_once(lint: Lint) -> None:
    """It is read as another machine's and as PTX, and names each target once."""
    rank = 'asm("mov.v4.u32 {%0, %1, %2, _}, %%clusterid;" : "=r"(x), "=r"(y), "=r"(z));'
    (found,) = lint({"a.cu": rank}, "--target", "sm_80,sm_90,sm_75")
    assert (found["code"], found["targets"]) == ("target-too-old", ["sm_80", "sm_75"])


def test_conditions_are_decided_for_each_target(lint: Lint) -> None:
    guarded = f"#if __CUDA_ARCH__ < 900\n{TANH}\n#else\n{FP4}\n#endif\n"
    found = lint({"a.cu": guarded}, "--target", "sm_80,sm_90,sm_100a")
    assert [(f["line"], f["targets"]) for f in found] == [(2, ["sm_80"]), (4, ["sm_90"])]


def test_an_ignore_counts_where_it_ignores_anything_for_any_target(lint: Lint) -> None:
    ignored = f"{TANH}  // ptxspec: ignore[target-too-old]\n{WRONG}  // ptxspec: ignore[target-too-old]\n"
    found = lint({"a.cu": ignored}, "--target", "sm_80,sm_90")
    assert [(f["line"], f["code"]) for f in found] == [(2, "unknown-modifier"), (2, "unused-ignore")]
    comment = f"// ptxspec: ignore[target-too-old]\n#if __CUDA_ARCH__ < 900\n{TANH}\n{EX2}\n#endif\n"
    assert lint({"a.cu": comment}, "--target", "sm_80,sm_90") == []


def test_a_module_keeps_the_target_that_it_names(lint: Lint) -> None:
    module = ".version 7.8\n.target sm_90\n.entry k() { .reg .b32 r; tanh.approx.bf16x2 r, r; }\n"
    for name, text in (("a.ptx", module), ("b.py", f'x = r"""{module}"""')):
        assert lint({name: text}, "--target", "sm_80") == []
        (found,) = lint({name: text}, "--target", "sm_80", "--force-target")
        assert (found["code"], found["targets"]) == ("target-too-old", ["sm_80"])
        (Path.cwd() / name).unlink()
    # What names none is judged for the target.
    (found,) = lint({"a.ptx": "tanh.approx.bf16x2 %r1, %r2;\n"}, "--target", "sm_80")
    assert found["code"] == "target-too-old"


def test_files_have_targets_and_ignores_of_their_own(lint: Lint) -> None:
    pyproject = """
[tool.ptxspec.lint]
target = ["sm_80", "sm_90"]
[tool.ptxspec.lint.per-file-targets]
"hopper/**" = "sm_90a"
"hopper.cu" = ["sm_90"]
[tool.ptxspec.lint.per-file-ignores]
"old/*.cu" = ["target-too-old"]
"""
    names = ("a.cu", "hopper/a.cu", "hopper/b/a.cu", "x/hopper.cu", "old/a.cu")
    found = lint({"pyproject.toml": pyproject, **dict.fromkeys(names, TANH)})
    assert [(f["file"], f["targets"]) for f in found] == [("a.cu", ["sm_80"])]
    # The command line wins.
    found = lint({}, "--target", "sm_89")
    assert [f["file"] for f in found] == ["a.cu", "hopper/a.cu", "hopper/b/a.cu", "x/hopper.cu"]


def test_ptxspec_toml_comes_before_pyproject(lint: Lint) -> None:
    files = {"a.cu": TANH, "pyproject.toml": '[tool.ptxspec.lint]\ntarget = "sm_80"\n'}
    assert len(lint(files)) == 1
    assert lint({"ptxspec.toml": '[lint]\ntarget = "sm_90"\n'}) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[lint]\ntarget = ["sm_80", "sm_91"]\n', "ptxspec.toml:2:21: error: unknown target 'sm_91'"),
        ('[lint.per-file-targets]\n"*.cu" = "sm_91"\n', "ptxspec.toml:2:11: error: unknown target 'sm_91'"),
        ("[lint.per-file-targets]\nx = 3\n", "ptxspec.toml:2:1: error: 'x' must be a list of strings"),
        ("[lint]\nper-file-ignores = 3\n", "ptxspec.toml:2:1: error: 'per-file-ignores' must be a table of patterns"),
        ('[lint.per-file-ignores]\nx = ["hazzard"]\n', "ptxspec.toml:2:7: error: unknown code 'hazzard'"),
        ("[lnt]\n", "ptxspec.toml:1:2: error: unknown table lnt"),
        ("lint = 3\n", "ptxspec.toml:1:1: error: lint must be a table"),
    ],
)
def test_what_is_wrong_in_it_is_said_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text(TANH)
    (tmp_path / "ptxspec.toml").write_text(text)
    assert main(["lint", "."]) == 2
    assert capsys.readouterr().err.startswith(said)


def test_conditions_that_are_not_understood_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text(f"#if defined(HAS_TANH)\n{TANH}\n{EX2}\n#endif\n#if A || B\n{TANH}\n#endif\n")
    assert main(["lint", ".", "--target", "sm_80", "--explain-guards"]) == 0
    out = capsys.readouterr().out.split("\n")
    assert out[:3] == ["findings  condition", "       2  #if defined(HAS_TANH)", "       1  #if A || B"]
    assert main(["lint", ".", "--target", "sm_80", "--explain-guards", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"#if defined(HAS_TANH)": 2, "#if A || B": 1}
    # Those of all files count, and those of several targets once.
    (tmp_path / "b.cu").write_text(f"#if A || B\n{TANH}\n#endif\n")
    assert main(["lint", ".", "--target", "sm_80,sm_89", "--explain-guards", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"#if defined(HAS_TANH)": 2, "#if A || B": 2}
