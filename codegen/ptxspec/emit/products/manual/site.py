"""The frame around every page of the manual, and what all pages load: the style sheet and the scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....diagnostics import PtxspecError
from ....model import Spec
from ...text import Files, Templates

# The pages that are no opcode's, by what the header calls them.
PAGES = {
    "index": "Instructions",
    "availability": "Availability",
    "history": "History",
    "functions": "Functions",
    "releases": "CUDA and drivers",
    "running": "Running PTX",
    "ledger": "Differences",
    "speed": "Speed",
}


@dataclass(frozen=True)
class Page:
    title: str
    file: str


class Site:
    """Renders pages, each as HTML and as Markdown."""

    def __init__(self, spec: Spec, templates: Templates, opcodes: Sequence[str]) -> None:
        self._templates = templates
        self.opcodes = opcodes
        missing = {name for name, found in (("ledger", spec.evidence), ("speed", spec.speed)) if found is None}
        self.pages = [Page(title, f"{name}.html") for name, title in PAGES.items() if name not in missing]
        for name in PAGES:
            if name in opcodes:
                raise PtxspecError(f"no opcode can be called '{name}': the manual has a page of that name")

    def page(
        self, name: str, sources: Iterable[str], values: Mapping[str, object], *, template: str | None = None
    ) -> Files:
        """A page of both kinds; `sources` are the files that it is made from."""
        made_from = list(sources)
        return {
            f"manual/{name}.{suffix}": self._templates.render(
                f"manual/{template or name}.{suffix}.j2", made_from, "<!-- {} -->",
                site=self, here=f"{name}.{suffix}", **values,
            )
            for suffix in ("md", "html")
        }  # fmt: skip

    def shared(self) -> Files:
        """The style sheet, and the scripts that are the same whatever the specification says."""
        scripts = self._templates.plain("manual/scripts")
        style = self._templates.render("manual/style.css.j2", [], comment="/* {} */")
        return {"manual/style.css": style, **{f"manual/{name}": text for name, text in scripts.items()}}
