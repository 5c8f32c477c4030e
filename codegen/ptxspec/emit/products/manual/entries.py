"""The entries of the search besides variants and targets: names with their descriptions, notes, hazards, and the
sections of pages. Every link leads to an anchor of a generated page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ....check.claims import CLAIMS
from ....model import Spec
from ....semantics.functions import TABLE
from .site import PageAnchors

# The number of characters that are shown of a note.
_SHOWN = 240


class Result(NamedTuple):
    """An entry. `kind` is a word for its kind; `link` is a page with or without an anchor; `names` are other words for
    it, `uses` the opcodes that have or call it."""

    kind: str
    title: str
    link: str
    text: str
    names: Sequence[str] = ()
    uses: Sequence[str] = ()


class Entries:
    """The entries that a specification provides, with links to its pages. `places` has the pages' anchors by file
    name, `callers` the opcodes that call each function of the semantics."""

    def __init__(self, spec: Spec, places: Mapping[str, PageAnchors], callers: Mapping[str, Sequence[str]]) -> None:
        self._spec = spec
        self._places = places
        self._callers = callers
        self._uses: dict[str, list[str]] = {}
        for i in spec.instructions.values():
            for name in dict.fromkeys(n for v in i.variants for n in (*v.modifiers, *v.type_names)):
                self._uses.setdefault(name, []).append(i.opcode)

    def entries(self) -> list[Result]:
        return [
            *self._topics(),
            *self._names(),
            *self._registers(),
            *self._functions(),
            *self._others(),
            *self._notes(),
            *self._claims(),
        ]

    def _names(self) -> Iterator[Result]:
        """Yield modifiers and types, each with a link to the page of the first instruction that has it."""
        kinds = (("modifier", self._spec.modifiers), ("type", self._spec.types))
        for kind, names in kinds:
            for name, about in names.items():
                opcodes = self._uses.get(name, [])
                if opcodes:
                    link = self._link(f"{opcodes[0]}.html", f"name-{name}", "syntax")
                    yield Result(kind, f".{name}", link, _ended(about.summary), uses=opcodes)

    def _topics(self) -> Iterator[Result]:
        """Yield topics that people search for, if the page about them exists."""
        for t in (*self._spec.questions, *self._spec.topics):
            if t.page.partition("#")[0] in self._places:
                yield Result("page", t.title.replace("`", ""), t.page, "", t.words)

    def _registers(self) -> Iterator[Result]:
        for r in self._spec.special_registers:
            needs = self._spec.catalog.text(r.requires)
            named = [f"{r.text}.{part}" for part in "xyz"] if r.fields else []
            names = (*named, *(n.removeprefix("%") for n in named))
            yield Result("register", r.text, "special-registers.html", f"{_ended(r.summary)} Requires {needs}.", names)

    def _functions(self) -> Iterator[Result]:
        """Yield the functions of the semantics, with a link to their list or to the first call."""
        for f in TABLE.values():
            opcodes = self._callers[f.name]
            link = self._link("functions.html", f.name, page_too=False)
            if not link and opcodes:
                link = self._link(f"{opcodes[0]}.html", "semantics")
            if link:
                yield Result("function", f.name, link, " ".join(f.doc.split()), uses=opcodes)

    def _others(self) -> Iterator[Result]:
        """Yield functions of other languages: the instructions that compilers generate for them, and the variants that
        compute the same."""
        compiled: set[str] = set()
        known = {v.spelling for i in self._spec.instructions.values() for v in i.variants}
        for c in self._spec.functions.compiled:
            if len(c.ptx) == 1 and c.ptx[0] in known:
                opcode = c.ptx[0].partition(".")[0]
                compiled.add(c.name)
                becomes = f"{c.reference.title}: {c.ptx[0]}" + (f" from {c.target} on" if c.target else "")
                yield Result("function", c.name, f"{opcode}.html#{c.ptx[0]}", becomes)
        found: dict[str, list[str]] = {}
        for i in self._spec.instructions.values():
            for compared in i.compared:
                for name in compared.functions:
                    if name not in compiled:
                        found.setdefault(name, []).append(i.opcode)
        for name, opcodes in found.items():
            every = list(dict.fromkeys(opcodes))
            link = self._link(f"{every[0]}.html", "functions", "examples")
            yield Result("function", name, link, f"Compared with variants of {', '.join(every)}.")

    def _notes(self) -> Iterator[Result]:
        for i in self._spec.instructions.values():
            page = f"{i.opcode}.html"
            for h in i.hazards:
                yield Result(
                    "hazard",
                    _about(i.opcode, h.selector.text),
                    self._link(page, "hazards", "notes"),
                    _short(h.hazard.text),
                )
            for n in i.notes:
                yield Result("note", _about(i.opcode, n.selector.text), self._link(page, "notes"), _short(n.text))

    def _claims(self) -> Iterator[Result]:
        used = {v.claim: i.opcode for i in reversed([*self._spec.instructions.values()]) for v in i.variants}
        for name, meaning in CLAIMS.items():
            if name in used:
                yield Result("claim", name, self._link(f"{used[name]}.html", "claims", "accuracy"), _ended(meaning))

    def _link(self, page: str, *anchors: str, page_too: bool = True) -> str:
        """Return a link to the first of some anchors that a page has; without one, to the page itself, or nothing."""
        found = next((a for a in anchors if a in self._places[page].anchors), "")
        return f"{page}#{found}" if found else page if page_too else ""


def _about(opcode: str, forms: str) -> str:
    return forms if forms.startswith(opcode) else f"{opcode} {forms}".strip()


def _ended(text: str) -> str:
    """Return text on one line that ends with a full stop."""
    line = " ".join(text.split())
    return line if line.endswith((".", "?")) else f"{line}."


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN].rsplit(' ', 1)[0]} \N{HORIZONTAL ELLIPSIS}"
