"""Texts of strangers in every field of every file that people write: they are read as text or refused, and in no
product do they become anything else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from helpers import ROOT
from helpers.hostile import CANARY, Stranger
from helpers.project import Project
from helpers.skeletons import skeleton
from ptxspec.emit import generate

_HTML = (
    "\"><script>canary()</script> ' onmouseover=canary() x=' <img src=x onerror=canary()> </pre></title></style>"
    " --><!-- ]]> <svg/onload=canary()> `</code> <b>` &lt;script&gt;"
)
_JINJA = "{{ 7331*7331 }}{% raw %}{# {{ cycler.__init__.__globals__.os.system('touch CANARY') }} {%- endraw"
_PYTHON = f"'''\"\"\"\\'; open({CANARY!r}, 'w'); \"\\\"\\N{{BULLET}} {{canary}} %(x)s ${{canary()}} #"
_LINKS = "[x](javascript:canary()) ![y](javascript:canary()) <javascript:canary()> [z][w] [z]: javascript:canary()"
PAYLOADS = {
    "markup, templates and code": " ".join((_HTML, _JINJA, _PYTHON, _LINKS)),
    "the end of a comment in C": "zebra */ canary(); /* // ??/",
    "a line that goes on": "zebra \\",
    "a definition of a link": "[zebra]: javascript:canary()",
    "more lines": 'zebra\n#include "/etc/passwd"\nopen("CANARY", "w")\n\n\n    <script>\n-->\n</div>\n\n<script>\n"""',
    "a newline at the end": "zebra\n",
    "Markdown of lines": "zebra\n\n``` <script>\n~~~\n<img src=x>\n",
}
RECORDINGS = """\
recordings:
  - path: tests/recordings/stranger
    gpu: Stranger
    target: sm_90
    driver: 1.0
    compiler: nvcc
    date: 2026-01-02
    equal: [{variant: neg.f32, operands: 1}]
    inside: []
    unequal: []
"""


def products(project: Project) -> Mapping[str, tuple[Any, str]]:
    files = generate.build(project.root)
    return {name: (skeleton(name, text), text) for name, text in files.items()}


def complete(project: Project) -> Project:
    """With files of all kinds that there are."""
    for path in sorted((ROOT / "spec").rglob("*.yaml")):
        name = path.relative_to(ROOT).as_posix()
        if path.parent.name not in ("instructions", "units", "judged") and not (project.root / name).exists():
            (project.root / name).parent.mkdir(exist_ok=True)
            project.bring(name)
    project.write("spec/observed/recordings.yaml", RECORDINGS)
    shutil.copyfile(ROOT / "spec/units/EX2-sm_50.yaml", project.root / "spec/units/EX2-sm_50.yaml")
    return project


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PAYLOADS)
def test_a_text_of_the_specification_is_nothing_but_text(strange: Callable[..., Project], name: str) -> None:
    project = complete(strange("neg", "ex2", "cos", "max"))
    stranger = Stranger(project.root)
    stranger.keep(2)
    left, _ = stranger.put(lambda _: PAYLOADS[name])
    assert len(left) > 50
    hostile = products(project)
    stranger.write(dict.fromkeys(left, "Zebra (zebra;)"))
    harmless = products(project)
    assert hostile.keys() == harmless.keys()
    for file, (found, text) in hostile.items():
        usual, _ = harmless[file]
        # A page may lack what a text would have had of its own, as code between backquotes, but has nothing new.
        new = found - usual if isinstance(found, set) else found != usual
        assert not new, (file, new if isinstance(found, set) else "")
        assert str(7331 * 7331) not in text, file
