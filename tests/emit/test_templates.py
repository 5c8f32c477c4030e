"""Templates that cannot be filled, and names that the manual's own pages have."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import Project, copied
from ptxspec.emit.products.manual.site import GUIDES, PAGES
from ptxspec.read.link import _Files

FILE = """\
# yaml-language-server: $schema=../schema/instruction.schema.json
opcode: {0}
summary: Nothing.
syntax:
  - {0}.f32  d, a, b
requires:
  - {{ptx: 9.5, target: sm_120}}
semantics: |
  d = a + b
"""


@pytest.mark.parametrize(
    "path", ["manual/instruction.md.j2", "manual/guides/claims.md.j2", "cuda/ptxspec.cuh.j2", "runtime/__init__.py"]
)
@pytest.mark.sampled(2)
def test_a_template_that_is_no_text_is_named_with_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    project = Project(copied(tmp_path / "project", ("add",), own_templates=True), capsys)
    first, _, rest = (project.root / "templates" / path).read_bytes().partition(b"\n")
    project.write(f"templates/{path}", first + b"\nna\xefve\n" + rest)
    result = project.run("generate")
    assert result.code == 2 and not (project.root / "generated").exists()
    assert (
        result.err == f"ptxspec: templates/{path}:2:3: error: not UTF-8: byte 0xef cannot be read; save it as UTF-8\n"
    )


@pytest.mark.parametrize("name", ["index", "speed", "running", "guide"])
def test_an_opcode_cannot_have_the_name_of_a_page(project: Project, name: str) -> None:
    project.write(f"spec/instructions/{name}.yaml", FILE.format(name))
    for command in ("validate", "generate"):
        result = project.run(command)
        assert result.code == 1 and not (project.root / "generated").exists()
        assert f"spec/instructions/{name}.yaml:2:9: error: no opcode can be called '{name}'" in result.err


def test_every_page_is_known_where_opcodes_are_read() -> None:
    assert _Files(ROOT).pages() >= {*PAGES, *GUIDES}
