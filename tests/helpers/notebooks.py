"""Notebooks, run as Jupyter runs them, without Jupyter: a namespace for all cells, and what each shows.

`python tests/helpers/notebooks.py FILE...` runs them and writes their outputs anew."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

# What an object may show itself as, and under which of Jupyter's names.
_SHOWN = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(path: Path) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, run in the notebook's folder as Jupyter does."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    with contextlib.chdir(path.parent):
        for i, cell in enumerate(code_cells(read(path)), 1):
            found.append(_outputs("".join(cell["source"]), names, i))
    return found


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    where = f"<cell {count}>"
    with contextlib.redirect_stdout(said):
        exec(compile(tree, where, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())})
    if value is not None:
        shown = {kind: getattr(value, method)() for kind, method in _SHOWN.items() if hasattr(value, method)}
        data = {kind: _lines(text) for kind, text in {**shown, "text/plain": repr(value)}.items() if text}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def rewrite(path: Path) -> None:
    notebook = read(path)
    for i, (cell, outputs) in enumerate(zip(code_cells(notebook), run(path), strict=True), 1):
        cell["execution_count"], cell["outputs"] = i, outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name).absolute())
