"""Comments that say what is not to be said: on a line, in a statement or block, in a file."""

from __future__ import annotations

import pytest
from helpers.repository_of_programs import ORDER, WRONG
from ptxspec import Database
from ptxspec.lint.findings import Finding


def left(db: Database, text: str, language: str = "c++", target: str | None = None) -> list[tuple[int, str]]:
    return [(f.line, f.code) for f in db.lint(text, target, language=language)]


BAD = WRONG.strip()
IGNORE = "// ptxspec: ignore[illegal-modifier]"
SAID = "illegal-modifier"
PTX = "max.NaN.f64 %d0, %d1, %d2;\n"
CALL, HASH = BAD.removesuffix(";"), IGNORE.replace("//", "#")
NO_CODE = ("ignore requires a code in brackets", "write ignore[hazard], or another code")


def test_behind_code_it_counts_for_its_line(db: Database) -> None:
    assert left(db, f"{BAD} {IGNORE}\n{BAD}\n") == [(2, SAID)]
    assert left(db, f"{BAD} /* ptxspec: ignore[illegal-modifier] */\n") == []


def test_it_hides_its_own_codes_only(db: Database) -> None:
    both = f"{BAD} {ORDER.strip()}"
    assert left(db, f"{both} {IGNORE}\n") == [(1, "modifier-order")]
    assert left(db, f"{both} // ptxspec: ignore[illegal-modifier, modifier-order]\n") == []


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        ("c++", f"{IGNORE}\n{BAD}\n{BAD}\n", [3]),
        ("c++", f"{IGNORE}\n\n// why\n{BAD}\n", []),
        ("c++", f'{IGNORE}\nasm volatile(\n  "max.NaN.f64 %0, %1, %2;\\n"\n  "neg.f64 %0, %1;"\n);\n{BAD}\n', [6]),
        ("c++", f"{IGNORE}\nvoid f(int a)\n{{\n  if (a) {{ {BAD} }}\n  {BAD}\n}}\n{BAD}\n", [7]),
        ("c++", f"{IGNORE}\n#define ADD \\\n  {BAD}\n{BAD}\n", [4]),
        ("c++", f"#define ADD {BAD} {IGNORE}\n{BAD}\n", [2]),
        ("c++", f"void f() {{\n{BAD}\n{IGNORE}\n}}\n{BAD}\n", [2, 5]),
        ("ptx", f"{IGNORE}\n{PTX}{PTX}", [3]),
        ("ptx", f"{IGNORE}\n.func f(\n.reg .b32 a)\n{{\nmax.NaN.f64 %d0,\n%d1, %d2;\n}}\n{PTX}", [8]),
        ("python", f"{HASH}\nasm(\n  'max.NaN.f64 %0, %1, %2;')\n{CALL}\n", [4]),
        ("python", f"{HASH}\ndef f(a):\n    {CALL}\n\n    {CALL}\n{CALL}\n", [6]),
        ("python", f"def f():\n  {HASH}\n  if a:\n    {CALL}\n  {CALL}\n", [5]),
        ("python", f"{CALL}  {HASH}\n{CALL}\n", [2]),
    ],
)  # fmt: skip
def test_alone_on_its_line_it_counts_for_the_statement_or_block_that_follows(
    db: Database, language: str, text: str, lines: list[int]
) -> None:
    found = [f for f in left(db, text, language) if f[1] == SAID]
    assert [line for line, _ in found] == lines


def test_for_a_file_it_stands_anywhere(db: Database) -> None:
    assert left(db, f"{BAD}\n{BAD}\n// ptxspec: ignore-file[illegal-modifier]\n{BAD}\n") == []


def test_it_may_stand_in_the_ptx_of_a_string(db: Database) -> None:
    text = f'kernel = """\n.version 8.0\n.target sm_80\n{PTX.strip()} {IGNORE}\n"""'
    assert left(db, text, "python") == []


def test_what_ignores_nothing_is_said_with_its_place(db: Database) -> None:
    (found,) = db.lint('asm("add.rn.f32 %0, %1, %2;"); // ptxspec: ignore[operand-count]\n', language="c++")
    assert (found.line, found.column, found.code, found.severity) == (1, 51, "unused-ignore", "warning")
    assert found.message == "this comment ignores nothing: there is no operand-count on this line"
    assert found.source[found.at :].startswith("operand-count]") and found.help == "remove it"


def test_of_two_comments_for_the_same_the_farther_one_is_not_used(db: Database) -> None:
    text = f"// ptxspec: ignore-file[illegal-modifier]\n{BAD} {IGNORE}\n"
    assert left(db, text) == [(1, "unused-ignore")]


def test_behind_what_the_nearer_one_counts_for_the_farther_one_does(db: Database) -> None:
    text = f"void f() {{ {BAD} }}\n{BAD}\n{IGNORE}\nvoid g() {{\n{IGNORE}\n{BAD}\n{BAD}\n}}\n{BAD}\n"
    assert left(db, text) == [(1, SAID), (2, SAID), (9, SAID)]
    assert left(db, f"{text}// ptxspec: ignore-file[illegal-modifier]\n") == []


def test_what_depends_on_the_target_may_be_ignored_for_another_one(db: Database) -> None:
    text = 'asm("add.bf16 %0, %1, %2;"); // ptxspec: ignore[target-too-old]\n'
    assert left(db, text, target="sm_80") == []
    assert left(db, text) == []
    assert left(db, text, target="sm_90") == [(1, "unused-ignore")]


@pytest.mark.parametrize(
    ("comment", "column", "message", "help"),
    [
        ("ignore[ilegal-modifier]", 51, "unknown code 'ilegal-modifier'", "did you mean 'illegal-modifier'?"),
        ("ignore", 44, *NO_CODE),
        ("ignore[]", 44, *NO_CODE),
        ("ignores[hazard]", 44, "unknown word 'ignores' after ptxspec:", "did you mean 'ignore'?"),
        ("ignore-line[hazard]", 44, "unknown word 'ignore-line' after ptxspec:", "did you mean 'ignore'?"),
        ("ignore-files[hazard]", 44, "unknown word 'ignore-files' after ptxspec:", "did you mean 'ignore-file'?"),
        ("noqa[hazard]", 44, "unknown word 'noqa' after ptxspec:", "write ignore[code] or ignore-file[code]"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_it_is_said_and_hides_nothing(
    db: Database, comment: str, column: int, message: str, help: str
) -> None:
    found: dict[str, Finding] = {f.code: f for f in db.lint(f"{BAD} // ptxspec: {comment}\n", language="c++")}
    assert list(found) == [SAID, "unknown-ignore"]
    said = found["unknown-ignore"]
    assert (said.message, said.help, said.severity) == (message, help, "warning")
    assert said.column == len(BAD) + 14 + column - 44


def test_prose_that_begins_with_the_name_of_the_tool_is_no_comment_for_it(db: Database) -> None:
    assert left(db, "// ptxspec: see the manual\n// ptxspec is a tool\n") == []


LONE = IGNORE.replace("//", "/*") + " */"
LAMBDAS = f"auto l = [](int a) {{ {BAD} }}, m = [](int a) {{\n{BAD}\n}};\n"
CLASS = f'class A:\n    def f(a):\n        x("""\nmax.NaN.f64 %0, %1, %2;\n""")\n\n    {CALL}\n'
MODULE = 'k = """\n.version 8.0\n.target sm_80\n'


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        # before code, with the statement that begins on its line
        ("c++", f"{LONE} {BAD}\nvoid f() {{ {BAD} }}\n", [2]),
        ("c++", f"{LONE} void f() {{\n{BAD}\n}}\n{BAD}\n", [4]),
        ("c++", f"int a; {LONE} {BAD}\n{BAD}\n", [2]),
        # a statement that goes on behind a brace
        ("c++", f"{IGNORE}\n{LAMBDAS}{BAD}\n", [5]),
        ("c++", f"{IGNORE}\nif (a) {{ {BAD}\n}} else {{\n{BAD} }}\n{BAD}\n", [5]),
        # decorators, and what is deeper, whatever is in its strings
        ("python", f"{HASH}\n@deco\n@other(\n  a)\ndef f(a):\n    {CALL}\n{CALL}\n", [7]),
        ("python", f"{HASH}\n{CLASS}{CALL}\n", [9]),
        ("python", f"{HASH}\ndef f(a):\n    x(\n{CALL})\n    {CALL}\n\n# why\n\n    {CALL}\n{CALL}\n", [10]),
        ("julia", f"{HASH}\nfunction f(a)\n    {CALL}\nend\n{CALL}\n", [5]),
        # a string, where it stands behind its end
        ("python", f'asm("""\n{PTX}""", "=d,d,d")  {HASH}\n{CALL}\n', [4]),
        # the statement of a string
        ("python", f'{MODULE}{IGNORE}\n{PTX}{PTX}"""\n{CALL}\n', [6, 8]),
        ("python", f'{MODULE}{IGNORE.replace("ignore", "ignore-file")}\n{PTX}{PTX}"""\n{CALL}\n', [8]),
        # in LLVM's assembly
        ("mlir", f"; {IGNORE[3:]}\ncall f64 {CALL}\ncall f64 {CALL}\n", [3]),
        # what a comment of several lines, or of several things, says
        ("c++", f"// NOLINT {IGNORE[3:]}\n{BAD}\n{BAD}\n", [3]),
        ("c++", f"/*\n * reason: {IGNORE[3:]}\n */\n{BAD}\n{BAD}\n", [5]),
    ],
)  # fmt: skip
def test_what_a_comment_counts_for(db: Database, language: str, text: str, lines: list[int]) -> None:
    assert left(db, text, language) == [(line, SAID) for line in lines]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c++", f'const char *s = "{IGNORE}";\n'),
        ("c++", f'const char *s = R"({IGNORE})", *t = "// ptxspec: ignore[nothing]";\n'),
        ("c++", f"// as in `{IGNORE}`, or '{IGNORE}'\n"),
        ("c++", f"// {BAD} {IGNORE}\n"),
        ("rust", f'let s = r#"a "quoted" {IGNORE}"#;\n'),
        ("python", f'"""What it does.\n\n{BAD} {IGNORE}\n"""\n'),
        ("python", f"help = 'write {HASH}'\n"),
        ("markdown", f"`{IGNORE}` hides it, and `<!-- {IGNORE[3:]} -->`\n"),
        ("markdown", f"{IGNORE} hides it\n\n```sh\n{HASH}\n<!-- {IGNORE[3:]} -->\n```\n"),
        ("markdown", f"```cuda\nasm(...); {IGNORE}\n```\n"),
    ],
)  # fmt: skip
def test_what_is_only_quoted_is_not_complained_of(db: Database, language: str, text: str) -> None:
    assert left(db, text, language, "sm_90") == []


HTML = f"<!-- {IGNORE[3:]} -->"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{HTML}\n\n```ptx\n{PTX}{PTX}```\n\n```ptx\n{PTX}```\n", [9]),
        (f"Text {HTML}\n```sh\n```\n```ptx\n{PTX}```\n", []),
        (f"```python\n{HASH}\nx = 1\n```\n\n```ptx\n{PTX}```\n", [7]),
        (f"```cuda\n{IGNORE}\n{BAD}\n{BAD}\n```\n", [4]),
        (f"> ```cuda\n> {IGNORE}\n> {BAD}\n> {BAD}\n> ```\n", [4]),
        (f"```python\n{CALL}  {HASH}\n{CALL}\n```\n", [3]),
    ],
)
def test_in_markdown_it_counts_for_the_block_that_follows_or_within_its_own(
    db: Database, text: str, lines: list[int]
) -> None:
    assert left(db, text, "markdown") == [(line, SAID) for line in lines]


def test_what_hides_nothing_in_front_of_a_block_is_said(db: Database) -> None:
    assert left(db, f"{HTML}\n```sh\n```\n", "markdown") == [(1, "unused-ignore")]
