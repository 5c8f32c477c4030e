"""The frame around every page of the manual, and the files that all pages load: the style sheet and the scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from ....diagnostics import PtxspecError
from ....model import Spec
from ...markdown import MarkdownDocument, document
from ...text import Files, Templates
from .terms import Terms

_COMMENT = "<!-- {} -->"
# The pages that belong to no opcode, each with its name in the header.
PAGES = {
    "index": "Instructions",
    "guide": "Guide",
    "availability": "Availability",
    "history": "History",
    "functions": "Functions",
    "tensor-cores": "Tensor cores",
    "releases": "CUDA and drivers",
    "differences": "Differences",
    "speed": "Speed",
    "peers": "Peers",
}
GLOSSARY = "glossary"
# The pages of the guide, each with its name in their list.
GUIDES = {
    "linting": "Linting PTX",
    "codes": "Lint codes",
    "editors": "Editor integration",
    "python": "Python API",
    "running": "Running PTX",
    "tracing": "Tracing a result",
    "comparing": "Comparing computations",
    "claims": "Claims and hazards",
    "special-registers": "Special registers",
    "faster": "The C extension",
    "gpu": "Testing on a GPU",
    "scripts": "Exit codes and JSON",
    "readers": "Using this manual",
    "adding": "Adding an opcode",
    "files": "Files and tests",
    GLOSSARY: "Glossary",
}


@dataclass(frozen=True)
class Page:
    title: str
    file: str


@dataclass
class PageAnchors:
    """The places in a page that links may lead to, collected while its templates are filled: headings, each with its
    anchor, and other anchors. The anchor of the page's own title is empty."""

    headings: list[tuple[str, str]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def heading(self, level: int, title: str, anchor: str = "") -> Markup:
        self.headings.append((title, anchor))
        opened = Markup("<h{} {}>").format(level, self.anchor(anchor)) if anchor else Markup("<h{}>").format(level)
        return opened + Markup("{}</h{}>").format(title, level)

    def anchor(self, name: str) -> Markup:
        self.anchors.add(name)
        return Markup('id="{}"').format(name)


class Site:
    """A renderer of pages, each as HTML and as Markdown. `places` are those of the HTML pages, by file name."""

    def __init__(self, spec: Spec, templates: Templates, opcodes: Sequence[str]) -> None:
        self._templates = templates
        self.opcodes = opcodes
        self.places: dict[str, PageAnchors] = {}
        self._terms = Terms(templates.render(f"manual/guides/{GLOSSARY}.md.j2", [], _COMMENT))
        there = {
            "differences": spec.evidence,
            "speed": spec.speed,
            "peers": spec.peers,
            "tensor-cores": spec.tensor.forms,
        }
        missing = {name for name, found in there.items() if not found}
        self.pages = [Page(title, f"{name}.html") for name, title in PAGES.items() if name not in missing]
        self.guides = [Page(title, f"{name}.html") for name, title in GUIDES.items()]
        for name in (*PAGES, *GUIDES):
            if name in opcodes:
                raise PtxspecError(f"no opcode can be called '{name}': the manual has a page of that name")

    @property
    def every(self) -> list[Page]:
        """The pages that are no opcode's."""
        return [*self.pages, *self.guides]

    def page(
        self, name: str, sources: Iterable[str], values: Mapping[str, object], *, template: str | None = None
    ) -> Files:
        """Return a page as HTML and as Markdown. `sources` are the files that it is made from."""
        made_from = list(sources)
        text = self._templates.render(f"manual/{template or name}.md.j2", made_from, _COMMENT, site=self, **values)
        html = self._html(name, f"manual/{template or name}.html.j2", made_from, values)
        return {
            f"manual/{name}.md": self._terms.in_markdown(text),
            f"manual/{name}.html": self._terms.in_html(html),
        }

    def _html(self, name: str, template: str, sources: Iterable[str], values: Mapping[str, object]) -> str:
        here = f"{name}.html"
        found = self.places[here] = PageAnchors()
        return self._templates.render(
            template, sources, _COMMENT,
            site=self, here=here, heading=found.heading, anchor=found.anchor, **values,
        )  # fmt: skip

    def part(self, name: str, sources: Iterable[str], values: Mapping[str, object]) -> Files:
        """Return a section of an opcode's page as an HTML page of its own. In Markdown it stays on the opcode's
        page."""
        return {f"manual/{name}.html": self._terms.in_html(self._html(name, "manual/part.html.j2", sources, values))}

    def guide(self, name: str, sources: Iterable[str], values: Mapping[str, object]) -> tuple[Files, MarkdownDocument]:
        """Return a page of the guide. Its template is Markdown, which is also published as HTML."""
        template = f"manual/guides/{name}.md.j2"
        made_from = list(sources)
        text = self._templates.render(template, made_from, _COMMENT, **values)
        if name != GLOSSARY:
            text = self._terms.in_markdown(text)
        found = document(text.partition("-->")[2].lstrip())
        made_from.append(f"templates/{template}")
        page = self._html(name, "manual/guide.html.j2", made_from, {"document": found})
        self.places[f"{name}.html"].headings += ((title, anchor) for _, anchor, title in found.headings)
        return {f"manual/{name}.md": text, f"manual/{name}.html": page}, found

    def shared(self) -> Files:
        """Return the style sheet, and the scripts that do not depend on the specification."""
        scripts = self._templates.plain("manual/scripts")
        style = self._templates.render("manual/style.css.j2", [], comment="/* {} */")
        return {"manual/style.css": style, **{f"manual/{name}": text for name, text in scripts.items()}}
