"""The manual's first page: frequent questions, the instructions by what they do, and all other pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....model import Instruction, Spec
from ...markdown import anchor
from ...text import Files
from .site import Site

_REST = "Other instructions"


@dataclass(frozen=True)
class Group:
    """Instructions that do similar work, under a title."""

    anchor: str
    title: str
    instructions: Sequence[Instruction]


@dataclass(frozen=True)
class Question:
    """A question with the HTML and Markdown addresses of its answer."""

    ask: str
    html: str
    markdown: str


def emit(spec: Spec, instructions: Sequence[Instruction], site: Site) -> Files:
    """Return manual/index, as HTML and as Markdown. The pages that it links to must already exist."""
    matrices = {f.spelling.partition(".")[0] for f in spec.tensor.forms}
    values = {
        "opcodes": len(instructions),
        "variants": sum(len(i.variants) for i in instructions),
        "questions": [
            Question(q.title, q.page, _in_markdown(q.page, site))
            for q in spec.questions
            if q.page.partition("#")[0] in site.places
        ],
        "groups": _groups(spec, instructions),
        "matrices": [o for name, o in spec.outside.opcodes.items() if name in matrices],
        "forms": len(spec.tensor.forms),
    }
    return site.page("index", ["spec/words.yaml", "spec/instructions/"], values)


def _in_markdown(page: str, site: Site) -> str:
    """Return the address of a page in Markdown, with the anchor of the heading that an HTML address leads to."""
    file, _, place = page.partition("#")
    title = next((title for title, found in site.places[file].headings if place and found == place), "")
    return f"{file.removesuffix('.html')}.md" + (f"#{anchor(title)}" if title else "")


def _groups(spec: Spec, instructions: Sequence[Instruction]) -> list[Group]:
    """Return the groups that contain instructions, in the specification's order; without titles, one group of all."""
    found: dict[str, list[Instruction]] = {name: [] for name in spec.group_titles}
    rest: list[Instruction] = []
    for i in instructions:
        found.get(i.group, rest).append(i)
    groups = [Group(name, spec.group_titles[name], members) for name, members in found.items() if members]
    return [*groups, Group("other", _REST if groups else "Instructions", rest)] if rest else groups
