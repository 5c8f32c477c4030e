"""The manual shows how other packages' results compare with PTX's, as it was recorded; nothing needs it to be there."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from helpers.project import Project
from ptxspec.model import PeerComparison, Spec
from ptxspec.specification import read

PATH = "spec/observed/peers.yaml"
RECORD = """\
command: "compare --record"
date: "2026-01-31"
machine: {"processor": "A <Fast> One"}
peers:
  - {"name": "right", "version": "1.0", "install": "pip install right", "says": "It <promises> much."}
  - {"name": "other", "version": "2.10", "install": "pip install other", "says": "It promises nothing."}
sets:
  "random bits": "Any | bits."
kinds:
  - {"name": "NaN bits", "verdict": "NaN bits", "rule": "Both are NaNs."}
  - {"name": "saturation", "verdict": "policy", "rule": "Too large."}
  - {"name": "double rounding through f32", "verdict": "wrong", "rule": "Twice."}
differences:
  - peer: "other"
    kind: "saturation"
    counts: {"random bits": [7, 2000]}
    example: {"variant": "max.f32", "operands": ["0x1 (5.0)"], "ptx": "0x2 (6.0)", "peer": "0x3 (inf)"}
  - peer: "other"
    kind: "double rounding through f32"
    counts: {"random bits": [1234, 5678]}
    example: {"variant": "add.f64", "operands": ["0x4 (1.0)", "0x5 (2.0)"], "ptx": "0x6 (3.0)", "peer": "0x7 (4.0)"}
groups:
  - title: "Sums"
    operations:
      - {"variant": "add.f64", "judge": "MPFR", "operands": 5678, "equal": ["right"],
         "differ": {"other": {"NaN bits": 3, "double rounding through f32": 1234}}}
      - {"variant": "add.f16", "judge": "MPFR", "operands": 10, "equal": ["right"], "lacking": {"other": "no f16"}}
  - title: "Minimum and maximum"
    operations:
      - {"variant": "max.f32", "judge": "definition", "operands": 2000,
         "lacking": {"right": "no max"}, "differ": {"other": {"saturation": 7}}}
"""


def text_of(page: Path) -> str:
    text = page.read_text("utf-8")
    return html.unescape(text) if page.suffix == ".html" else text.replace("\\<", "<").replace("\\|", "|")


@pytest.fixture
def recorded(project: Project) -> PeerComparison:
    project.write(PATH, RECORD)
    found = read(project.root).peers
    assert found is not None
    return found


def test_a_record_is_read_as_it_was_written(recorded: PeerComparison) -> None:
    assert [(p.name, p.version) for p in recorded.peers] == [("right", "1.0"), ("other", "2.10")]
    assert [(k.name, k.verdict) for k in recorded.kinds][:2] == [("NaN bits", "NaN bits"), ("saturation", "policy")]
    (sums, least) = recorded.groups
    assert sums.operations[0].differ == {"other": {"NaN bits": 3, "double rounding through f32": 1234}}
    assert sums.operations[1].lacking == {"other": "no f16"} and sums.operations[1].equal == ("right",)
    assert least.operations[0].judge == "definition"
    assert recorded.differences[1].counts == {"random bits": (1234, 5678)}
    assert recorded.differences[1].operands == ("0x4 (1.0)", "0x5 (2.0)")


@pytest.mark.exhaustive
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_the_page_shows_what_the_record_says(project: Project, recorded: PeerComparison, suffix: str) -> None:
    assert project.run("generate").code == 0
    page = text_of(project.root / f"generated/manual/peers.{suffix}")
    assert recorded.date in page and recorded.command in page and "A <Fast> One" in page
    assert "2 of them" in page and "3 operations" in page and "7,688 sets of operands" in page
    assert "It <promises> much." in page and "Any | bits." in page

    def row(*cells: str) -> str:
        if suffix == "md":
            return f"\n| {' | '.join(cells)} |\n"
        return f"\n<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"

    def bold(text: str) -> str:
        return f"**{text}**" if suffix == "md" else f"<b>{text}</b>"

    def code(text: str) -> str:
        return f"`{text}`" if suffix == "md" else f"<code>{text}</code>".replace(".", "<wbr>.")

    # A cell is never empty: it says "equal", how many results differ, or why there are none.
    assert row(code("add.f64"), "equal", bold("wrong: 1,234; NaN bits: 3")) in page
    assert row(code("add.f16"), "equal", "— (no f16)") in page
    # A package that has none of a table's operations is told above it.
    assert "These packages have none of the operations: right (no max)." in page
    assert row(code("max.f32"), "saturation: 7") in page
    assert "random bits: 1,234 of 5,678" in page
    assert "0x4 (1.0), 0x5 (2.0): PTX 0x6 (3.0), other 0x7 (4.0)" in page
    # Compared, equal, equal but for NaN bits, policy, wrong: each operation once.
    names = [name if suffix == "md" else f'<a href="#{name}">{name}</a>' for name in ("right", "other")]
    counts = [["1.0", "2", "2", "0", "0", "0"], ["2.10", "2", "0", "0", "1", "1"]]
    for name, row_of in zip(names, counts, strict=True):
        assert row(name, *row_of).strip("\n") in page.replace("</td>\n<td>", "</td><td>")
    # What is wrong stands before what is a policy.
    assert page.index("double rounding through f32", page.index("It promises nothing.")) < page.index("0x3 (inf)")
    assert "MPFR in 2 operations, definition in 1 operation" in page
    assert "No GPU has been recorded by ptxspec yet" in page
    index = text_of(project.root / f"generated/manual/index.{suffix}")
    assert f"peers.{suffix}" in index


@pytest.mark.exhaustive
def test_a_specification_without_a_comparison_has_no_such_page(project: Project) -> None:
    (project.root / PATH).unlink(missing_ok=True)
    assert read(project.root).peers is None
    assert project.run("generate").code == 0
    assert not list((project.root / "generated/manual").glob("peers.*"))
    assert "peers" not in text_of(project.root / "generated/manual/index.md")


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            '"equal": ["right"], "lacking"', '"lacking"', '{"variant": "add.f16"',
            "this tells of other, and the peers are right, other",
        ),
        ('{"saturation": 7}', '{"NaN": 7}', "7}}}", "'NaN' is no kind of this file"),
        ('  - peer: "other"\n    kind: "sat', '  - peer: "none"\n    kind: "sat', '"none"', "'none' is no peer of"),
        ('"wrong", "rule"', '"bad", "rule"', '"bad"', "bad"),
        ('"operands": 10,', '"operands": ten,', "ten,", "ten"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_pointed_at(
    project: Project, recorded: PeerComparison, old: str, new: str, place: str, message: str
) -> None:
    project.edit(PATH, old, new)
    result = project.run("validate")
    assert result.code == 1
    assert f"{project.place(PATH, place)}: error: " in result.err and message in result.err


def test_the_record_in_the_repository_tells_of_each_peer_and_judges_all(spec: Spec) -> None:
    comparison = spec.peers
    assert comparison is not None
    assert {p.name for p in comparison.peers} >= {"numpy", "ml_dtypes", "torch", "gfloat", "apytypes", "softfloatpy"}
    operations = [o for g in comparison.groups for o in g.operations]
    known = {v.spelling for i in spec.instructions.values() for v in i.variants}
    assert {o.variant for o in operations} <= known
    assert {o.judge for o in operations} <= {"MPFR", "NVIDIA host code", "definition"}
    # Each difference that an operation has is explained for its peer, and in the sum.
    for peer in comparison.peers:
        for d in (d for d in comparison.differences if d.peer == peer.name):
            total = sum(o.differ.get(peer.name, {}).get(d.kind, 0) for o in operations)
            assert total == sum(count for count, _ in d.counts.values()) > 0
        kinds = {kind for o in operations for kind in o.differ.get(peer.name, {})}
        assert kinds == {d.kind for d in comparison.differences if d.peer == peer.name}
