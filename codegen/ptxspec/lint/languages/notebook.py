"""Notebooks of Jupyter: the cells that are programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ptx.scanning import View
from .text import Text, unescape

_STRING = r'"(?:[^"\\\n]|\\.)*+"'
# Jupyter writes the type of a cell before its source.
_CELL = re.compile(
    rf""""cell_type"\s*:\s*"(?P<kind>\w+)"
      | "source"\s*:\s*(?P<source>\[(?:\s*{_STRING}\s*,?)*+\s*\]|{_STRING})""",
    re.VERBOSE,
)
_LINE = re.compile(_STRING)
# The beginning of a cell in another language.
_MAGIC = re.compile(r"%%(?P<name>\w+)(?P<rest>[^\n]*)")
_MAGICS = {"cu": "cuda", "cuda": "cuda", "cpp": "cpp", "julia": "julia", "javascript": "javascript", "js": "javascript"}
_COMMAND = re.compile(r"^[ \t]*[%!]", re.MULTILINE)


def cells(view: View) -> Iterator[tuple[str, Text]]:
    """Yield the cells of a notebook that are programs, each with its language."""
    kind = ""
    for m in _CELL.finditer(view.text):
        if m["kind"]:
            kind = m["kind"]
        elif kind == "code":
            cell = Text(view)
            for line in _LINE.finditer(view.text, m.start("source"), m.end("source")):
                unescape(line[0][1:-1], line.start() + 1, cell)
            if cell.length:
                yield _language(cell.close())


def _language(cell: Text) -> tuple[str, Text]:
    magic = _MAGIC.match(cell.text)
    if magic is None:
        # Commands of the notebook are not Python.
        cell.text = _COMMAND.sub(lambda m: m[0][:-1] + "#", cell.text)
        return "python", cell
    name, ending = magic["name"], magic["rest"].rpartition(".")[2].strip()
    language = ending if name == "writefile" else _MAGICS.get(name, "python" if name in ("time", "capture") else "text")
    cell.text = "\n".join([" " * magic.end(), cell.text[magic.end() + 1 :]])
    return language, cell
