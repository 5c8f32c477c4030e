"""Tests of lint on a repository that has findings already: mends and ignores that are written into it, a baseline,
changed lines alone, an exit code of 0."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.lint.annotating import ignoring
from ptxspec.lint.changes import changed

BAD = 'asm("add.bad.f32 %0, %1, %2;" : "=f"(a) : "f"(b), "f"(c));'
WORSE = BAD.replace("bad", "worse")
CALL = "inline_asm('add.bad.f32 $0, $1, $2;', '=f,f,f')"
RUST = 'asm!("add.bad.f32 {0}, {1}, {1};", out(reg32) a);'
SAID = "ptxspec: ignore[unknown-modifier]"
BLOCK = "```ptx\nneg.f32 %f1, %f2;\nadd.bad.f32 %f1, %f2, %f3;\n```\n"
QUOTED = "```ptx\n> add.bad.f32 %f1, %f2, %f3;\n> ```\n"
Lint = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["lint", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("c++", f"{BAD}\n", f"{BAD}  // {SAID}\n"),
        ("c++", f"{BAD}  // it\n", f"{BAD}  // it; {SAID}\n"),
        ("c++", f"#define A {BAD}\n", f"#define A {BAD}  // {SAID}\n"),
        ("c++", f"#define A {BAD} \\\n  f();\n", f"#define A {BAD} /* {SAID} */ \\\n  f();\n"),
        (
            "c++",
            'asm(R"(\n add.bad.f32 %0, %1, %2;\n)" : "=f"(a) : "f"(b), "f"(c));',
            f'asm(R"(\n add.bad.f32 %0, %1, %2;  // {SAID}\n)" : "=f"(a) : "f"(b), "f"(c));',
        ),
        ("python", CALL, f"{CALL}  # {SAID}"),
        ("python", 'x = r"""\nadd.bad.f32 $0, $1, $2;\n"""\n', f'x = r"""\nadd.bad.f32 $0, $1, $2;  // {SAID}\n"""\n'),
        ("rust", RUST, f"{RUST}  // {SAID}"),
        ("ptx", "add.bad.f32 %f1, %f2, %f3;\n", f"add.bad.f32 %f1, %f2, %f3;  // {SAID}\n"),
        ("ptx", "add.bad.f32 %f1,  // it\n%f2, %f3;", f"add.bad.f32 %f1,  // it; {SAID}\n%f2, %f3;"),
        # No comment can stand there.
        ("python", "inline_asm('add.bad.f32 $0, $1, $2;', \\\n'=f,f,f')", None),
        ("markdown", f"{BLOCK}\n{BLOCK}", f"<!-- {SAID} -->\n{BLOCK}\n<!-- {SAID} -->\n{BLOCK}"),
        ("markdown", f"It:\n\n> {QUOTED}", f"It:\n\n> <!-- {SAID} -->\n> {QUOTED}"),
        # It would be an item of the list.
        ("markdown", "- ```ptx\n  add.bad.f32 %f1, %f2, %f3;\n  ```\n", None),
    ],
)  # fmt: skip
def test_comments_are_written_that_ignore_what_is_found(
    db: Database, language: str, text: str, wanted: str | None
) -> None:
    def judge(text: str) -> list[object]:
        return list(db.lint(text, language=language, target="sm_80"))

    new = ignoring(text, "f", language, judge)  # type: ignore[arg-type]
    assert new == (text if wanted is None else wanted)
    assert (judge(new) == []) == (wanted is not None)


def test_a_comment_is_one_of_the_language(db: Database) -> None:
    text = '%r = call float asm "add.bad.f32 $0, $1, $1;", "=f,f"(float %x)\n'
    for file, mark in (("a.ll", ";"), ("a.mlir", "//")):
        new = ignoring(text, file, "mlir", lambda text: list(db.lint(text, language="mlir")))
        assert new == f"{text[:-1]}  {mark} {SAID}\n"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c++", f"{BAD}  // ptxspec: ignore[hazard]\n"),
        ("markdown", f"<!-- ptxspec: ignore[hazard] -->\n{BLOCK}"),
    ],
)
def test_a_comment_takes_more_codes(db: Database, language: str, text: str) -> None:
    new = ignoring(text, "f", language, lambda text: list(db.lint(text, language=language, target="sm_80")))
    assert new == text.replace("hazard", "hazard, unknown-modifier")


def test_files_keep_what_is_not_touched(lint: Lint) -> None:
    before = {
        "a.cu": f"{BAD}\r\n// caf\u00e9\r\n".encode(),
        "b.cu": f"{BAD}\n// caf\xe9\n".encode("latin-1"),
        "c.cu": f"{BAD}\r\n{BAD}\n".encode(),
        "d.cu": b"// nothing\n",
    }
    for name, data in before.items():
        Path(name).write_bytes(data)
    code, out, err = lint(".", "--add-ignores", "--diff")
    assert code == 2 and f"+{BAD}  // {SAID}\n" in out and err.endswith("1 file would change\n")
    assert {name: Path(name).read_bytes() for name in before} == before
    code, out, err = lint(".", "--add-ignores")
    assert code == 2 and out == "" and err.count("was not changed: it is not UTF-8") == 2
    assert Path("a.cu").read_bytes() == f"{BAD}  // {SAID}\r\n// caf\u00e9\r\n".encode()
    assert all(Path(name).read_bytes() == before[name] for name in ("b.cu", "c.cu", "d.cu"))
    assert lint("a.cu", "d.cu", "--add-ignores")[::2] == (0, "0 files changed\n")
    assert lint("a.cu")[0] == 0


FIXED = """\
void f() {
  asm("max.f16 %0, %1, %2;" : "=h"(x) : "h"(y), "h"(z));
  asm("neg.bf16 %0, %1;" : "=h"(x) : "h"(y));
  asm("add.bad.f32 %0, %1, %2;" : "=f"(x) : "f"(y), "f"(z));
  f();  // ptxspec: ignore[hazard]
}
"""


def test_what_one_change_mends_is_mended(lint: Lint) -> None:
    Path("a.cu").write_text(FIXED)
    wanted = [
        '-  asm("max.f16 %0, %1, %2;" : "=h"(x) : "h"(y), "h"(z));',
        '+  asm("{ .reg .b32 _x, _y, _m; cvt.f32.f16 _x, %1; cvt.f32.f16 _y, %2; max.f32 _m, _x, _y; '
        'cvt.rn.f16.f32 %0, _m; }" : "=h"(x) : "h"(y), "h"(z));',
        "-  f();  // ptxspec: ignore[hazard]",
        "+  f();",
    ]
    code, out, err = lint("a.cu", "--target", "sm_75", "--fix", "--diff")
    assert (code, err) == (0, "1 file would change\n") and Path("a.cu").read_text() == FIXED
    assert sorted(line for line in out.split("\n")[2:] if line[:1] in ("+", "-")) == sorted(wanted)
    code, out, err = lint("a.cu", "--target", "sm_75", "--fix")
    # What would compute something else, and what nobody knows the meaning of, is left and reported.
    assert code == 1 and "[target-too-old]" in out and "[unknown-modifier]" in out and err == "1 file changed\n"
    found = json.loads(lint("a.cu", "--target", "sm_75", "--format", "json")[1])
    assert [(f["line"], f["code"]) for f in found] == [(3, "target-too-old"), (4, "unknown-modifier")]
    assert lint("a.cu", "--target", "sm_75", "--fix", "--add-ignores")[0] == 0
    assert lint("a.cu", "--target", "sm_75")[0] == 0


def test_what_mends_for_one_target_is_no_mend_for_others(lint: Lint) -> None:
    Path("a.cu").write_text(FIXED)
    assert lint("a.cu", "--target", "sm_75,sm_90", "--fix")[2] == "1 file changed\n"
    assert "max.f16 %0, %1, %2;" in Path("a.cu").read_text()


def test_what_is_in_a_baseline_is_said_no_more(lint: Lint) -> None:
    Path("a.cu").write_text(f"{BAD}\n{BAD}\n")
    assert lint(".", "--write-baseline", "known.json")[:2] == (0, "2 findings written to known.json\n")
    Path("a.cu").write_text(f"// more\n\n{BAD}\n{WORSE}\n  {BAD}\n{BAD}\n")
    code, out, _ = lint(".", "--baseline", "known.json")
    assert code == 1 and "2 errors, 2 in the baseline\n" in out
    assert [line.split(":")[1] for line in out.split("\n") if line.startswith("a.cu:")] == ["4", "6"]
    Path("ptxspec.toml").write_text('[lint]\nbaseline = "known.json"\n')
    assert "2 in the baseline\n" in lint(".")[1]
    assert "known before" not in lint(".", "--baseline", "")[1]
    assert lint(".", "--write-baseline", "known.json")[1] == "4 findings written to known.json\n"
    assert lint(".")[0] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "known.json: No such file or directory; create it with --write-baseline"),
        ("{", "known.json is not a baseline; create one with --write-baseline"),
        ("[" * 100_000, "known.json is not a baseline; create one with --write-baseline"),
        ('{"schema": 1, "findings": {"a": [3]}}', "known.json is not a baseline; create one with --write-baseline"),
        ('{"schema": 1, "findings": "\0"}', "known.json is not a text file"),
        ('{"schema": 2, "findings": {}}', "is a baseline of another version; write it again with --write-baseline"),
    ],
)  # fmt: skip
def test_a_baseline_that_is_none_is_said_once(lint: Lint, text: str | None, said: str) -> None:
    Path("a.cu").write_text(BAD)
    if text is not None:
        Path("known.json").write_text(text)
    code, out, err = lint(".", "--baseline", "known.json")
    assert (code, out) == (2, "") and err.count("\n") == 1 and err.endswith(f"{said}\n")


def git(*arguments: str) -> None:
    who = ["-c", "user.name=it", "-c", "user.email=it@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def test_lines_that_have_changed_since_a_commit_are_judged_alone(lint: Lint) -> None:
    git("init", "-q", ".")
    Path("src").mkdir()
    Path("src/a.cu").write_text(f"{BAD}\n\n{BAD}\n")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    assert "2 in the baseline\n" in lint(".", "--since", "HEAD")[1]
    Path("src/a.cu").write_text(f"{WORSE}\n{BAD}\n\n{BAD}\n{WORSE}\n")
    Path("src/new.cu").write_text(f"{BAD}\n")
    code, out, _ = lint(".", "--since", "HEAD", "--format", "json")
    assert code == 1 and [(f["file"], f["line"]) for f in json.loads(out)] == [
        ("src/a.cu", 1),
        ("src/a.cu", 5),
        ("src/new.cu", 1),
    ]
    for wrong in ("nope", "--output=x", "HEAD~9"):
        assert lint(".", f"--since={wrong}") == (
            2,
            "",
            f"ptxspec: no commit '{wrong}' in the repository of this folder\n",
        )
    assert not Path("x").exists()


def test_filters_of_the_repository_do_not_run(lint: Lint) -> None:
    git("init", "-q", ".")
    Path("a.cu").write_text(f"{BAD}\n")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    Path(".gitattributes").write_text("*.cu filter=evil diff=evil\n")
    for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor"):
        git("config", key, "touch ran; cat")
    Path("a.cu").write_text(f"{WORSE}\n{BAD}\n")
    assert "1 error, 1 in the baseline\n" in lint("a.cu", "--since", "HEAD")[1]
    assert not Path("ran").exists()
    assert changed("a.cu", f"{WORSE}\n{BAD}\n", "HEAD") == {1}


def test_the_exit_code_may_be_0_whatever_is_found(lint: Lint) -> None:
    Path("a.cu").write_text(BAD)
    assert lint(".")[0] == 1
    code, out, _ = lint(".", "--exit-zero")
    assert code == 0 and "1 error\n" in out
    assert lint("nope.cu", "--exit-zero")[0] == 2
