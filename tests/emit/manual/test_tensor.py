"""The pictures of matrices: what they show of each element is what the emulator has."""

from __future__ import annotations

import re
from itertools import pairwise

import ptxemu
import pytest
from helpers import ROOT
from ptxemu.warp import Fragment

# The size of an element, and how far the first one is from the corner.
WIDTH, HEIGHT = 22, 18
PAGE = (ROOT / "generated/manual/tensor-cores.html").read_text("utf-8")
DRAWN = re.findall(r"<p>As in <code>(\S+)</code>.*?</p>\n(.*?)(?=<h3|<h2)", PAGE, re.DOTALL)


def registers(picture: str, columns: int) -> dict[tuple[int, int], int]:
    """The register of each element, by its place: what is filled with the register's shade."""
    found = {}
    for register, path in enumerate(re.findall(r'<path class="r\d" d="([^"]*)"', picture)):
        for x, y, width, height in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path):
            for row in range(int(y) // HEIGHT - 1, (int(y) + int(height)) // HEIGHT - 1):
                for column in range(int(x) // WIDTH - 1, (int(x) + int(width)) // WIDTH - 1):
                    assert column < columns and (row, column) not in found
                    found[row, column] = register
    return found


def lanes(picture: str, rows: int, columns: int) -> dict[tuple[int, int], int]:
    """The lane of each element, by its place: the number between two lines of the grid."""
    (grid,) = re.findall(r'<path class="grid" d="([^"]*)"', picture)
    ends: dict[int, set[int]] = {row: set() for row in range(rows)}
    for x, y, height in re.findall(r"M(\d+) (\d+)v(\d+)", grid):
        for row in range(int(y) // HEIGHT - 1, (int(y) + int(height)) // HEIGHT - 1):
            ends[row].add(int(x) // WIDTH - 1)
    assert len(re.findall(rf"M{WIDTH} \d+h{columns * WIDTH}(?=M|$)", grid)) == rows + 1
    found = {}
    lines = re.findall(r'<text y="([\d.]+)">(.*?)</text>', picture.partition("</g>\n<g>")[2])
    assert len(lines) == rows
    for row, (y, numbers) in enumerate(lines):
        assert row < float(y) / HEIGHT - 1 < row + 1
        cuts = sorted(ends[row])
        told = [(float(x) / WIDTH - 1, int(n)) for x, n in re.findall(r'<tspan x="([\d.]+)">(\d+)<', numbers)]
        for (start, end), (middle, lane) in zip(pairwise(cuts), told, strict=True):
            assert middle == (start + end) / 2
            found.update({(row, column): lane for column in range(start, end)})
    return found


def drawn(fragment: Fragment) -> dict[tuple[int, int], tuple[int, int]]:
    """The lane and the register of each element; of several products, of the first."""
    rows, columns = fragment.size
    return {(r, c): fragment.where(r, c)[0][:2] for r in range(rows) for c in range(columns)}


@pytest.mark.parametrize(("spelling", "body"), DRAWN, ids=[spelling for spelling, _ in DRAWN])
def test_a_picture_shows_the_lane_and_the_register_of_each_element(spelling: str, body: str) -> None:
    fragments = ptxemu.fragments(spelling)
    pictures = re.findall(r"<figure.*?</figure>", body, re.DOTALL)
    for picture, fragment in zip(pictures, (fragments.a, fragments.b, fragments.c), strict=True):
        of, where = drawn(fragment), lanes(picture, *fragment.size)
        assert registers(picture, fragment.size[1]) == {place: register for place, (_, register) in of.items()}
        assert where == {place: lane for place, (lane, _) in of.items()}


def test_six_forms_are_drawn() -> None:
    assert len(DRAWN) == 6
