"""The manual shows the speed that was recorded, as it was recorded; nothing needs it to be there."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
import tables
from helpers.project import Project
from ptxspec.model import Spec, Speed
from ptxspec.specification import read

MACHINE = {"processor": "A <Fast> One", "cores": "64", "compiler": "none"}
SHOWN = [
    tables.Table(
        "Kernels",
        "Less is faster.",
        ["family", "ns", "peer"],
        [["f8", "0.5 (6)", ""], ["-0.0", "no", "8.10, 1 of 9 wrong"]],
    ),
    tables.Table(
        "Around",
        "In ms.",
        ["what", "measured", "at most", "against", "ratio", "ratio at most"],
        [
            ['"quoted": here', "1 # not a comment", "", "", "", ""],
            ["a call", "3 \N{MICRO SIGN}s", "2 \N{MICRO SIGN}s", "numpy.add", "1.24", ""],
        ],
    ),
]


def text_of(page: Path) -> str:
    return html.unescape(page.read_text("utf-8")) if page.suffix == ".html" else page.read_text("utf-8")


def rows(page: str, suffix: str) -> list[list[str]]:
    """The rows of a page's tables."""
    if suffix == "md":
        lines = [line[2:-2].split(" | ") for line in page.splitlines() if line.startswith("| ")]
        return [cells for cells in lines[1:] if {*cells} != {"---"}]
    lines = re.findall(r"<tr>(.*?)</tr>", page)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in lines]


@pytest.fixture
def recorded(project: Project) -> Speed:
    """A specification with a record as the benchmarks write it, read back."""
    project.write("spec/observed/speed.yaml", tables.as_yaml(SHOWN, MACHINE))
    speed = read(project.root).speed
    assert speed is not None
    return speed


def test_what_the_benchmarks_write_is_what_is_read(recorded: Speed) -> None:
    assert recorded.machine == MACHINE
    assert recorded.command == tables.COMMAND
    for written, found in zip(SHOWN, recorded.tables, strict=True):
        assert (found.title, found.note, list(found.columns)) == (written.title, written.note, written.columns)
        assert [list(row) for row in found.rows] == written.rows


@pytest.mark.exhaustive
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_the_page_shows_what_the_record_says(project: Project, recorded: Speed, suffix: str) -> None:
    assert project.run("generate").code == 0
    # A sign that Markdown would take for markup has a backslash before it.
    page = text_of(project.root / f"generated/manual/speed.{suffix}").replace("\\<", "<")
    for expected in (recorded.date, recorded.command, *(t.title for t in SHOWN), *(t.note for t in SHOWN)):
        assert expected in page
    assert rows(page, suffix)[len(MACHINE) :] == [
        ["Group of variants", "Time per element (ns)"], ["f8", "0.5 (6)"], ["-0.0", "no"],
        ["Group of variants", "Library", "Median time per element (ns)", "Results that differ from MPFR's"],
        ["-0.0", "peer", "8.10", "1 of 9 wrong"],
        ["Measurement", "Result", "Aim: at most"],
        ['"quoted": here', "1 # not a comment", "none"],
        ["a call", "3 \N{MICRO SIGN}s; 1.24 relative to numpy.add", "2 \N{MICRO SIGN}s"],
    ]  # fmt: skip
    assert "" not in [cell for row in rows(page, suffix) for cell in row]
    for name, value in MACHINE.items():
        assert (f"| {name} | {value} |\n" if suffix == "md" else f'">{name}</th><td>{value}</td></tr>\n') in page
    assert f"speed.{suffix}" in text_of(project.root / f"generated/manual/index.{suffix}")


CHARTED = tables.Table(
    "Kernels",
    "Of each family one. 'x add': the time over that of numpy.add. 'ns': nanoseconds. 'C' stands before others.",
    ["family", "ns", "x add", "C x add", "x own"],
    [["f8", "3", "4.0 (8)", "0.5", ""], ["f9", "2", "", "2.0", "no"]],
)


@pytest.mark.exhaustive
def test_ratios_are_charted_and_columns_explained_by_their_heads(project: Project) -> None:
    project.write("spec/observed/speed.yaml", tables.as_yaml([CHARTED], MACHINE))
    assert project.run("generate").code == 0
    page = (project.root / "generated/manual/speed.html").read_text("utf-8")
    assert (
        "<p>Of each family one.</p>" in page
        and "<dt>Time per element (ns)</dt><dd>Nanoseconds. &#39;C&#39; stands" in page
    )
    (chart,) = re.findall(r'<figure class="chart">.*?</figure>', page, re.DOTALL)
    assert '<th scope="col">Group of variants</th>' in chart
    assert "<h3>Time relative to numpy.add</h3>" in chart and "<p>The time over that of numpy.add.</p>" in chart
    marks = dict(re.findall(r'<span style="left: ([\d.]+)%">([\d.]+)</span>', chart))
    place = {number: float(at) for at, number in marks.items()}
    bars = [
        list(map(float, b)) for b in re.findall(r'<rect class="series\d" x="([\d.]+)" y="\d+" width="([\d.]+)"', chart)
    ]
    # From 1 to 4, from 0.5 to 1 and from 1 to 2; the aim is twice as far from 4 as 4 is from 2.
    octave = place["2"] - place["1"]
    wanted = [(place["1"], 2 * octave), (place["0.5"], octave), (place["1"], octave)]
    assert [pytest.approx(w, abs=0.02) for w in wanted] == [tuple(b) for b in bars]
    (aim,) = re.findall(r'<path class="aim" d="M([\d.]+) ', chart)
    assert float(aim) == pytest.approx(place["1"] + 3 * octave, abs=0.02)
    # The numbers can be read without the picture, and the table is there whole.
    assert '<span class="series1">4.0 (8)</span><span class="series2">0.5</span>' in chart
    assert '<details class="measured"><summary>All figures of kernels</summary>' in page


@pytest.mark.exhaustive
def test_a_specification_that_nobody_measured_has_no_such_page(project: Project) -> None:
    (project.root / "spec/observed/speed.yaml").unlink(missing_ok=True)
    assert read(project.root).speed is None
    assert project.run("generate").code == 0
    assert not list((project.root / "generated/manual").glob("speed.*"))
    assert "speed" not in text_of(project.root / "generated/manual/index.md")


def test_a_row_of_another_length_than_its_table_is_pointed_at(project: Project, recorded: Speed) -> None:
    project.edit("spec/observed/speed.yaml", '["-0.0", "no", "8.10, 1 of 9 wrong"]', '["-0.0", "no"]')
    result = project.run("validate")
    assert result.code == 1
    place = project.place("spec/observed/speed.yaml", '["-0.0"')
    assert f"{place}: error: 2 cells under 3 columns" in result.err


def test_the_record_in_the_repository_is_of_the_machine_that_it_names(spec: Spec) -> None:
    speed = spec.speed
    assert speed is not None
    assert {"processor", "cores", "system", "python", "numpy", "compiler"} <= speed.machine.keys()
    assert speed.command == tables.COMMAND
