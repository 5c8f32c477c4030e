"""The notebook of spec/examples: run anew, it says what stands in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.notebooks import code_cells, read, rewrite, run

NOTEBOOK = ROOT / "spec/examples/numbers.ipynb"


def text_of(outputs: list[dict[str, Any]]) -> str:
    """Return what is printed, and the last value as a terminal shows it."""
    return "".join("".join(o["text"] if "text" in o else o["data"]["text/plain"]) for o in outputs)


def test_the_notebook_says_what_it_says_when_run() -> None:
    stored = [c["outputs"] for c in code_cells(read(NOTEBOOK))]
    ran = run(NOTEBOOK)
    says = "written anew by `PYTHONPATH=tests python tests/helpers/notebooks.py spec/examples/numbers.ipynb`"
    assert list(map(text_of, ran)) == list(map(text_of, stored)), says
    # What is drawn may be off by a pixel, where another processor's powers are off by a bit.
    assert [[o.get("data", {}).keys() for o in cell] for cell in ran] == [
        [o.get("data", {}).keys() for o in cell] for cell in stored
    ]
    assert sum("image/svg+xml" in o.get("data", {}) for cell in ran for o in cell) == 1


def test_the_notebook_is_one_that_jupyter_opens() -> None:
    notebook = read(NOTEBOOK)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({c["id"] for c in notebook["cells"]}) == len(notebook["cells"])
    for i, cell in enumerate(code_cells(notebook), 1):
        assert cell["execution_count"] == i and cell["outputs"]
        assert {"cell_type", "execution_count", "id", "metadata", "outputs", "source"} == cell.keys()
    assert NOTEBOOK.stat().st_size < 60_000


def test_a_notebook_that_says_something_else_is_found_and_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "some.ipynb"
    cell = {"cell_type": "code", "id": "a", "source": ["print(1)\n", "1 + 1"], "outputs": [], "execution_count": None}
    path.write_text(json.dumps({"cells": [cell]}), "utf-8")
    assert text_of(run(path)[0]) == "1\n2"
    rewrite(path)
    assert text_of(code_cells(read(path))[0]["outputs"]) == "1\n2"
    cell["source"] = ["1 / 0"]
    path.write_text(json.dumps({"cells": [cell]}), "utf-8")
    with pytest.raises(ZeroDivisionError):
        run(path)
