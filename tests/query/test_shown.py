"""Answers in Python: what they show is what the commands print, and in a notebook safe and small HTML."""

from __future__ import annotations

import copy
import json
import pickle
import re
from html.parser import HTMLParser
from typing import Any

import ptxemu
import ptxspec
import pytest
from helpers import ROOT
from ptxspec import notebook
from ptxspec.cli.main import main

QUERIES = [
    ("max.NaN.f64", None, None, None),
    ("max.f32", 3, "sm_90", None),
    ("add.bf16", None, "sm_80", None),
    ("fma.rz.bf16", None, "sm_90", "8.0"),
    ("cvt.rn.satfinite.e2m1x2.f32", None, "sm_120", None),
    ("div.f32", None, None, None),
    ("ld.global.f32", None, None, None),
]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | None) -> str:
    main([str(arguments[0]), "--root", str(ROOT), *(a for a in arguments[1:] if a is not None)])
    return capsys.readouterr().out.rstrip("\n")


@pytest.mark.parametrize(("name", "target"), [("__hmul2", None), ("fma(double)", "sm_90"), ("__hmul2", "sm_52")])
def test_a_function_is_answered_as_query_answers_it(
    db: ptxspec.Database, capsys: pytest.CaptureFixture[str], name: str, target: str | None
) -> None:
    options = ["--target", target] if target else []
    answer = db.query(name, target=target)
    assert repr(answer) == printed(capsys, "query", name, *options)
    assert answer.as_json() == json.loads(printed(capsys, "query", name, *options, "--format", "json"))
    assert bool(answer) == (target != "sm_52")
    assert pickle.loads(pickle.dumps(answer)).variant == name.partition("(")[0]
    with pytest.raises(ptxspec.PtxspecError, match="ptx= applies to variants only;"):
        db.query(name, ptx="8.0")


@pytest.mark.parametrize(("spelling", "operands", "target", "ptx"), QUERIES)
def test_an_answer_reads_as_query_prints_it(
    db: ptxspec.Database,
    capsys: pytest.CaptureFixture[str],
    spelling: str,
    operands: int | None,
    target: str | None,
    ptx: str | None,
) -> None:
    options = {"--operands": operands, "--target": target, "--ptx": ptx}
    given = [str(x) for pair in options.items() if pair[1] is not None for x in pair]
    answer = db.query(spelling, operands, target, ptx)
    assert repr(answer) == printed(capsys, "query", spelling, *given)
    assert answer.as_json()["variant"] == answer.variant


def test_variants_read_as_list_prints_them(db: ptxspec.Database, capsys: pytest.CaptureFixture[str]) -> None:
    found = db.available("H100", type="bf16", opcode="fma")
    assert repr(found) == printed(capsys, "list", "--target", "H100", "--type", "bf16", "--opcode", "fma")
    assert repr(db.available("sm_10", type="bf16")) == "no variants"


def test_of_many_variants_the_first_and_the_last_are_shown(db: ptxspec.Database) -> None:
    every = db.available()
    lines = repr(every).split("\n")
    assert len(lines) < 40 and lines[-1] == f"{len(every):,} variants"
    assert lines[1].startswith(every[0].spelling) and any(line.startswith(every[-1].spelling) for line in lines)
    assert lines.count("...") == 1
    assert len(every._repr_html_()) < 15_000


def test_findings_read_as_lint_prints_them(db: ptxspec.Database) -> None:
    assert repr(db.lint("fma.f32 d, a, b, c;")).startswith("<text>:1:1: error: fma.f32 lacks .rn or .rz")
    assert repr(db.lint("")) == "no findings" and db.lint("") == []


def test_the_rest_says_what_it_is(db: ptxspec.Database) -> None:
    assert re.fullmatch(r"<ptxspec database: \d+ opcodes, sm_10 to sm_\w+, PTX 1\.0 to \d+\.\d>", repr(db))
    assert repr(db.opcodes["max"]) == "<Opcode max: Select the largest of two or three values.>"
    assert repr(db.variant("max.f32", 3)) == (
        "<Variant max.f32 (3 operands): sm_100 or newer, PTX 8.8 or newer; exact>"
    )
    assert repr(db.variant("div.f32")).startswith("<Variant div.f32 (2 operands): sm_10 or newer, PTX 1.0 to 1.3; ")
    few = db.variant("cvt.rn.satfinite.e2m1x2.f32")
    assert f": sm_100a and {len(few.requires.on) - 1} more, PTX 8.6 or newer; exact>" in repr(few)
    assert repr(db.variant("fma.rz.bf16")).endswith("; unspecified, hazard>")
    assert repr(ptxemu.compile("cvt.rn.f16x2.f32", target="sm_90")) == (
        "<ptxemu kernel cvt.rn.f16x2.f32 (2 operands) on sm_90: d:f16x2 = a1:f32, a0:f32; exact>"
    )
    assert repr(ptxemu.compile("setp.lt.f16x2")).count("p:pred") == 1
    assert repr(ptxemu.variants()[0]) == "<Variant abs.f32 (1 operand): exact>"


def test_answers_are_what_they_were_made_of(db: ptxspec.Database) -> None:
    answer, found = db.query("max.NaN.f64"), db.available("sm_90", opcode="max")
    assert answer == tuple(answer) and isinstance(answer, ptxspec.Verdict)
    assert found == list(found) and found[:2] == [found[0], found[1]]
    for x in (answer, found, db.lint("fma.f32 d, a, b, c;")):
        assert pickle.loads(pickle.dumps(x)) == copy.deepcopy(x) == x
    with pytest.raises(ValueError, match="has no database"):
        answer._replace(operands=2).as_json()


class Page(HTMLParser):
    """A page as a browser reads it: every element is closed, and none is there that could run or load something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in {"div", "strong", "table", "tr", "th", "td", "pre"}
        assert {name for name, _ in attributes} <= {"style", "scope"}
        # Text has the colour of the page, whether that is light or dark.
        style = dict(attributes).get("style") or ""
        assert re.findall(r"(?<!-)color:(\w+)", style) in ([], ["inherit"])
        assert re.findall(r"background:(\w+)", style) in ([], ["none"])
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def test_in_a_notebook_they_are_safe_html_of_the_same_facts(db: ptxspec.Database) -> None:
    alike: list[Any] = [
        *(db.query(s, n, t, p) for s, n, t, p in QUERIES),
        db.lint("fma.f32 d, a, b, c;"),
        ptxemu.compile("setp.lt.f16x2"),
        ptxemu.function("@p mul.f32 d, a, b;"),
    ]
    for x in alike:
        page = Page(x._repr_html_())
        assert [w for w in re.findall(r"[\w.]{4,}", repr(x)) if w not in page.text] == []
    fma = db.available("sm_80", opcode="fma")
    assert "fma.rn.bf16\n3\nsm_80 or newer, PTX 7.0 or newer (CUDA 11.0)\nexact\n" in Page(fma._repr_html_()).text
    assert "max\nSelect the largest of two or three values.\n" in Page(db._repr_html_()).text
    assert all(len(x._repr_html_()) < 20_000 for x in (*alike, fma, db, db.available()))
    assert "reads the operands as f16" in Page(db.variant("fma.rz.bf16")._repr_html_() or "").text


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b"])
def test_no_text_becomes_markup(db: ptxspec.Database, text: str) -> None:
    assert text in Page(db.query(text)._repr_html_() or "").text
    assert text in Page(db.lint(f"add.f32 d, a, b; {text} c;", file=text)._repr_html_() + notebook.text(text)).text
    assert text in Page(notebook.block(text, notebook.table([text], [[text]]), notebook.facts([(text, text)]))).text


def test_many_show_themselves_in_a_line(db: ptxspec.Database) -> None:
    for many in (db.variants, db.opcodes, db.targets, db.versions, db.opcodes["cvt"].variants):
        assert len(repr(many)) < 100
    assert repr(db.targets) == f"<{len(db.targets)} by name: {db.catalog.plain('sm_10')} to {db.catalog.newest_target}>"


def test_a_verdict_is_true_where_the_variant_is_available(db: ptxspec.Database) -> None:
    assert db.query("add.bf16", target="H100") and not db.query("add.bf16", target="A100")
    assert not db.query("max.NaN.f64")
