"""Files that cannot be read, and whatever else may happen to one."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
import yaml
from helpers.project import Project
from helpers.validating import ADD, MAX, MODIFIERS, TYPES, expect_error
from ptxspec.check.checking import check
from ptxspec.diagnostics import PtxspecError, SpecError
from ptxspec.read import positioned
from ptxspec.read.positioned import load
from ptxspec.specification import read_all

# Files that cannot be read: the bytes, the place and a part of the message.
UNREADABLE: dict[str, tuple[bytes, str, str]] = {
    "not UTF-8": (b"opcode: add\nsummary: na\xefve\n", "2:12", "not UTF-8: byte 0xef"),
    "UTF-16": ("opcode: add\n".encode("utf-16"), "1:1", "not UTF-8"),
    "empty": (b"", "1:1", "the file is empty"),
    "only a comment": (b"# nothing\n", "1:1", "the file is empty"),
    "anchors and aliases": (b"a: &a [x, x]\nb: &b [*a, *a]\n", "1:4", "anchors and aliases are not used"),
    "deeply nested": (b"a: " + b"[" * 10_000 + b"]" * 10_000, "1:35", "nested more than 32 deep"),
    "too large": (b"a: x\n" * 2_000_000, "1:1", "larger than"),
    "two documents": (b"opcode: add\n---\nopcode: sub\n", "2:1", "a second document"),
    "a control character": (b"opcode: add\nsummary: a\x01b\n", "2:11", "the character U+0001 cannot stand in it"),
    "a line separator": ("opcode: add\nsummary: a\u2028b\n".encode(), "2:11", "the line separator U+2028"),
    "a tab": (b"opcode:\tadd\n\tsummary: x\n", "2:1", "not valid YAML"),
    "an unfinished list": (b"opcode: [add\n", "1:13", "not valid YAML"),
    "a list as a key": (b"[a, b]: c\n", "1:1", "a key must be plain text"),
    "plain text": (b"add\n", "1:1", "expected a mapping, this is text"),
    "a list": (b"- add\n", "1:1", "expected a mapping, this is a list"),
}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("path", [ADD, TYPES])
def test_a_file_that_cannot_be_read_is_one_clear_error(project: Project, path: str, name: str) -> None:
    data, place, message = UNREADABLE[name]
    (project.root / MAX).unlink()
    project.write(path, data)
    result = project.run("validate")
    assert result.code == 1
    head = result.err.splitlines()[0]
    assert head.startswith(f"{path}:{place}: error: ") and message in head
    assert result.err.endswith("\n1 error\n") or name in ("plain text", "a list as a key", "a list")


class Impatient(yaml.SafeLoader):
    """A parser that bounds nesting itself, and reads ahead before it tells of anything."""

    def fetch_flow_collection_start(self, TokenClass: type[yaml.Token]) -> None:
        if self.flow_level >= 40:
            mark = self.get_mark()
            raise yaml.scanner.ScannerError(None, None, "too much for this one", mark)
        super().fetch_flow_collection_start(TokenClass)


PARSERS = {name: getattr(yaml, name) for name in ("SafeLoader", "CSafeLoader") if hasattr(yaml, name)}
# Texts that are nested by one more than is taken, and the place of that.
NESTED = {
    "lists": ("a: " + "[" * 32, "1:35"),
    "lists without end": ("a: " + "[" * 32 + "[" * 10_000, "1:35"),
    "mappings": ("a: " + "{b: " * 31 + "{c: d}", "1:128"),
    "mappings without end": ("{a: " * 10_000, "1:129"),
    "lists over lines": ("a:\n" + " [\n" * 2_000, "33:2"),
    "lists in a row": ("a: [" + "[x], " * 50 + "[" * 50, "1:285"),
    "lists beside brackets that are text": ('a: [\'[[[[\', "[\\"[[[", [x], # [[[[\n ' + "[" * 50, "2:32"),
    "lists in a list of lines": ("- a: x[[[\n" * 9 + "- - " + "[" * 50, "10:35"),
    "lines": ("- " * 10_000, "1:65"),
    "lines with lists": ("- " * 10 + "[" * 50, "1:43"),
    "keys over lines": ("".join(" " * i + "a:\n" for i in range(300)), "33:33"),
    "what ends wrong": ("a: " + "[" * 50 + "@", "1:35"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("parser", [*PARSERS.values(), Impatient])
@pytest.mark.parametrize("name", NESTED)
def test_nesting_has_our_bound_whichever_parser_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, parser: type
) -> None:
    text, place = NESTED[name]
    monkeypatch.setattr(positioned, "_LOADER", parser)
    (tmp_path / "x.yaml").write_text(text, "utf-8")
    with pytest.raises(SpecError) as error:
        load(tmp_path / "x.yaml", tmp_path)
    (found,) = error.value.diagnostics
    assert (f"{found.mark.line}:{found.mark.column}", found.message) == (place, "nested more than 32 deep")


@pytest.mark.parametrize("parser", [*PARSERS.values(), Impatient])
def test_brackets_that_are_text_are_not_nesting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parser: type) -> None:
    """Brackets in text do not count as nesting, and a mistake behind them is reported."""
    many = "[{" * 50
    monkeypatch.setattr(positioned, "_LOADER", parser)
    (tmp_path / "x.yaml").write_text(f"a: x{many}\nb: '{many}'\nc: ['{many}', \"{many}\"]\nd: |\n  {many}\n", "utf-8")
    assert len(load(tmp_path / "x.yaml", tmp_path).data) == 4
    for line in (f"a: x{many}: b", f"a: '{many}': b", f"a: ['{many}', @]", f"a: [b, # {many}\n @]"):
        (tmp_path / "y.yaml").write_text(f"{line}\n", "utf-8")
        with pytest.raises(SpecError, match="not valid YAML"):
            load(tmp_path / "y.yaml", tmp_path)


@pytest.mark.parametrize("name", ["types", "modifiers", "targets"])
def test_a_missing_common_file_is_named(project: Project, name: str) -> None:
    (project.root / f"spec/{name}.yaml").unlink()
    result = project.run("validate")
    assert result.code == 1
    assert f"spec/{name}.yaml:1:1: error: cannot read the file: No such file or directory" in result.err


def test_a_folder_a_pipe_and_a_dangling_link_are_no_files(project: Project) -> None:
    folder = project.root / "spec/instructions"
    (folder / "folder.yaml").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "link.yaml").symlink_to("nowhere")
    result = project.run("validate")
    assert result.code == 1 and result.err.endswith("3 errors\n")
    for name in ("folder", "pipe", "link"):
        assert f"spec/instructions/{name}.yaml:1:1: error: cannot read the file" in result.err


def test_a_project_without_instructions_is_an_error(project: Project) -> None:
    for path in (project.root / "spec/instructions").iterdir():
        path.unlink()
    result = project.run("validate")
    assert result.code == 1 and "no instruction files here" in result.err


@pytest.mark.exhaustive
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(project: Project) -> None:
    text = (project.root / ADD).read_bytes()
    assert project.run("generate").code == 0
    project.write(ADD, b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    result = project.run("generate", "--check")
    assert result.code == 0, result.out
    project.edit(ADD, "target: sm_53,", "target: sm_54,")
    expect_error(project, project.run("validate"), project.place(ADD, "sm_54"), "unknown target")


def test_scalars_are_text_as_written(tmp_path: Path) -> None:
    texts = [".NaN", "-0.0", "8.10", "no", "0x7f", "1e3", "null", "~", "1_000", "12:30", "2001-01-01", "+.inf", "Yes"]
    (tmp_path / "x.yaml").write_text("".join(f"- {t}\n" for t in texts), "utf-8")
    assert load(tmp_path / "x.yaml", tmp_path).data == texts
    (tmp_path / "y.yaml").write_text("[true, false, 'true']", "utf-8")
    assert load(tmp_path / "y.yaml", tmp_path).data == [True, False, "true"]


TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
STRANGE = ["{", "}", "[", ":", "|", "\t", '"', "&x", "*x", "!!int", "é", "0x", "1e9999", "9" * 5000, "def f(x):", "a.b",
           "0x1p99999", "2**20000", "<<", "return", "lambda:", "not", "import x", "\x85", "~", "%", "()", "None"]  # fmt: skip  # noqa: E501


def mutated(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                del tokens[i : i + rng.choice((1, 1, 30))]
            case 1:
                tokens[i] = rng.choice(tokens)
            case 2:
                tokens.insert(i, rng.choice(STRANGE))
            case 3:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 4:
                tokens[i:i] = tokens[j : j + 30]
    return "".join(tokens)


@pytest.mark.parametrize("count", [30, pytest.param(250, marks=pytest.mark.exhaustive)])
def test_whatever_happens_to_a_file_is_reported_and_never_a_crash(project: Project, count: int) -> None:
    rng = random.Random(20240607)
    (project.root / MAX).unlink()
    originals = {p: (project.root / p).read_text("utf-8") for p in (ADD, TYPES, MODIFIERS)}
    wrong = 0
    for _ in range(count):
        path, text = rng.choice(list(originals.items()))
        project.write(path, mutated(text, rng))
        try:
            reading = read_all(project.root)
            errors = list(reading.diagnostics)
            if reading.spec is not None:
                errors += check(reading.spec)[1]
            wrong += bool(errors)
            assert all(str(e).startswith("spec/") for e in errors)
        except PtxspecError:
            wrong += 1
        project.write(path, text)
    assert wrong > 0.4 * count


def test_a_file_that_would_be_ignored_is_an_error(project: Project) -> None:
    project.write("spec/instructions/sub.yml", "opcode: sub\n")
    result = project.run("validate")
    assert result.code == 1
    assert result.err.startswith("spec/instructions/sub.yml:1:1: error: this file would be ignored")
    assert "rename it to sub.yaml" in result.err
