"""The tools that the readers of all kinds of files share: known names, notation, selectors, code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..basis import Basis
from ..catalog import PtxVersion, Target
from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic
from ..model import Code, Modifier, Pattern, Selector, Type
from ..semantics.functions import TABLE
from ..semantics.resolve import fixed_names
from .basis import read_basis
from .notation import NotationError, expand
from .positioned import Document, Where

_CHOICE = re.compile(r"\{([^{}]*)\}")


def words(value: Any) -> str:
    """Return a text as one line."""
    return " ".join(str(value).split())


def alternatives(text: str) -> list[str]:
    """Return a text once for each member of the {x,y} in it; only the text itself if there is none."""
    match = _CHOICE.search(text)
    if match is None:
        return [text]
    return [text[: match.start()] + member.strip() + text[match.end() :] for member in match[1].split(",")]


@dataclass
class Context:
    """The content read so far of the files that others depend on. Readers add what is wrong to `errors`."""

    errors: list[Diagnostic]
    types: Mapping[str, Type] = field(default_factory=dict)
    modifiers: Mapping[str, Modifier] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    targets: Mapping[str, Target] = field(default_factory=dict)
    versions: Mapping[str, PtxVersion] = field(default_factory=dict)

    def known(
        self,
        doc: Document,
        where: Where,
        name: str,
        choice: Iterable[str],
        what: str,
        prefix: str = "",
        otherwise: str = "",
    ) -> bool:
        choice = list(choice)
        if name in choice:
            return True
        help = suggest(name, choice, prefix, otherwise)
        self.errors.append(doc.error(where, f"unknown {what} '{prefix}{name}'", help, inside=prefix + name))
        return False

    def free(self, doc: Document, where: Where, name: str) -> None:
        """Report a name that already has a meaning in the semantics language."""
        if name in fixed_names():
            what = "is the name of a function" if name in TABLE else "has a meaning"
            message = f"'{name}' {what} in the semantics language"
            self.errors.append(doc.error(where, message, "choose another name", key=True))

    def basis(self, doc: Document, where: Where, entry: Mapping[str, Any], default: Basis | None = None) -> Basis:
        return read_basis(doc, where, entry, self.errors, default or Basis())

    def code(self, doc: Document, where: Where, value: str | None) -> Code | None:
        if value is None:
            return None
        start = doc.blocks.get(where)
        if start is None:
            message = "semantics must be one line or a literal block"
            self.errors.append(doc.error(where, message, "write `|` after the key"))
            return None
        return Code(value.rstrip("\n"), doc.name, start, doc.lines)

    def within(self, doc: Document, where: Where, text: str) -> tuple[str, str] | None:
        names = list(self.targets)
        first, last = text.split("..")
        first, last = first or names[0], last or names[-1]
        known = [self.known(doc, where, n, names, "target") for n in (first, last)]
        if not all(known):
            return None
        if self.targets[first].order > self.targets[last].order:
            self.errors.append(doc.error(where, f"{first} comes after {last}", "the older target stands first"))
            return None
        return first, last

    # Spellings

    def split(self, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the modifiers and the types among names, each in their order."""
        names = tuple(names)
        return tuple(n for n in names if n not in self.types), tuple(n for n in names if n in self.types)

    def expanded(self, doc: Document, where: Where, text: str, start: int = 0) -> list[tuple[str, ...]]:
        """Return what a notation stands for, or nothing if a name in it is unknown. It begins at `start` in the value
        at `where`."""
        try:
            found = expand(text, self.groups)
        except NotationError as e:
            self.errors.append(doc.error_at(where, start + e.start, e.length, str(e), e.help))
            return []
        return found if self.all_known(doc, where, text, found) else []

    def all_known(self, doc: Document, where: Where, text: str, found: Iterable[tuple[str, ...]]) -> bool:
        """Return whether all names in what a notation stands for are modifiers or types."""
        strange = [n for n in dict.fromkeys(n for names in found for n in names) if not self._is_name(n)]
        choice = sorted({*self.modifiers, *self.types, *self.groups})
        declare = "spec/modifiers.yaml declares modifiers and groups of them, spec/types.yaml types"
        for n in strange:
            self.known(doc, where, n, choice, "modifier or type", "." if f".{n}" in text else "", declare)
        return not strange

    def _is_name(self, name: str) -> bool:
        return name in self.modifiers or name in self.types

    def selector(self, doc: Document, where: Where, data: Any, opcode: str) -> Selector:
        if data is None:
            return Selector("")
        if not isinstance(data, dict):
            return Selector(_selector_text(data), self.patterns(doc, where, data, opcode))
        has, lacks, operands, types = (data.get(key) for key in ("has", "lacks", "operands", "types"))
        patterns = self.patterns(doc, (*where, "has"), has, opcode) if has is not None else (Pattern(),)
        lacking: set[str] = set()
        for p in self.patterns(doc, (*where, "lacks"), lacks, opcode) if lacks is not None else ():
            lacking |= {*p.modifiers, *p.types}
        result, source = (self.type_names(doc, (*where, key), data.get(key)) for key in ("result", "source"))
        parts = [
            _selector_text(has) if has is not None else "",
            f"result {data['result']}" if result else "",
            f"source {data['source']}" if source else "",
            f"without {lacks}" if lacks is not None else "",
            f"{operands} operand{'s' * (operands != '1')}" if operands else "",
            f"{types} type{'s' * (types != '1')}" if types else "",
        ]
        return Selector(
            text=", ".join(p for p in parts if p),
            patterns=patterns,
            lacks=frozenset(lacking),
            operands=int(operands) if operands else None,
            types=int(types) if types else None,
            result=result,
            source=source,
        )

    def patterns(self, doc: Document, where: Where, data: Any, opcode: str) -> tuple[Pattern, ...]:
        if isinstance(data, list):
            return tuple(p for i, d in enumerate(data) for p in self.patterns(doc, (*where, i), d, opcode))
        exact = not data.startswith((".", "{"))
        text = data
        if exact:
            if not opcode or not data.startswith(opcode):
                help = f"begin with a dot, or with '{opcode}' for whole spellings" if opcode else "begin with a dot"
                self.errors.append(doc.error(where, f"'{data}' selects nothing", help))
                return ()
            text = data[len(opcode) :]
        found = []
        for names in self.expanded(doc, where, text, len(data) - len(text)):
            modifiers, types = self.split(names)
            found.append(Pattern(frozenset(modifiers), types, exact))
        return tuple(dict.fromkeys(found))

    def type_names(self, doc: Document, where: Where, text: str | None) -> tuple[str, ...]:
        """Return the types that a notation such as .f16 or .{f16,bf16} names."""
        found = tuple(n for names in self.expanded(doc, where, text) for n in names) if text else ()
        for n in found:
            if n not in self.types:
                self.errors.append(doc.error(where, f"'.{n}' is no type", "only types have a place"))
        return found


def _selector_text(data: Any) -> str:
    return ", ".join(data) if isinstance(data, list) else str(data)
