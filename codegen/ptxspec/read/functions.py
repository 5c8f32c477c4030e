"""spec/functions.yaml -> functions of other languages."""

from __future__ import annotations

from typing import Any

from ..diagnostics import SpecError
from ..model import Code, Compiled, Defined, Executed, Functions, Opening, Reference
from ..semantics.resolve import Meanings, resolve
from .context import Context, alternatives, words
from .positioned import Document, Where


def read_functions(doc: Document | None, context: Context, meanings: Meanings) -> Functions:
    return _File(doc, context, meanings).functions() if doc is not None else Functions()


class _File:
    def __init__(self, doc: Document, context: Context, meanings: Meanings) -> None:
        self.doc, self.context, self.meanings = doc, context, meanings
        self.references = {
            name: Reference(name, words(r["title"]), r["url"]) for name, r in doc.data["references"].items()
        }
        self.seen: set[tuple[str, str]] = set()

    def functions(self) -> Functions:
        defined, compiled, executed = (self.doc.data[key] for key in ("defined", "compiled", "executed"))
        return Functions(
            self.doc.name,
            tuple(f for i, d in enumerate(defined) for f in self.defined(("defined", i), d)),
            tuple(f for i, d in enumerate(compiled) for f in self.compiled(("compiled", i), d)),
            tuple(f for i, d in enumerate(executed) for f in self.executed(("executed", i), d)),
        )

    def defined(self, where: Where, d: dict[str, Any]) -> list[Defined]:
        reference = self.reference(where, d)
        operands = int(d.get("operands", 2))
        code = self.code((*where, "semantics"), d["semantics"], operands)
        opened = self.openings(where, d, operands)
        found = []
        for name, types in d["functions"].items():
            at = (*where, "functions", name)
            for type_name in self.context.type_names(self.doc, at, types):
                if type_name in self.context.types and reference and code and self.is_new(at, name, type_name):
                    found.append(
                        Defined(
                            name, self.context.types[type_name], operands, reference, str(d["clause"]), code, opened,
                            words(d.get("accuracy", "")),
                        )
                    )  # fmt: skip
        return found

    def compiled(self, where: Where, d: dict[str, Any]) -> list[Compiled]:
        reference = self.reference(where, d)
        names = alternatives(words(d["function"]))
        ptx = self.texts((*where, "ptx"), d["ptx"], len(names))
        ftz = self.texts((*where, "ftz"), d.get("ftz", ()), len(names))
        target = d.get("target", "")
        if target:
            self.context.known(self.doc, (*where, "target"), target, self.context.targets, "target")
        found = []
        for i, name in enumerate(names):
            if self.is_new((*where, "function"), name, "") and reference:
                own_ptx, own_ftz = (tuple(t[i] for t in texts) for texts in (ptx, ftz))
                found.append(Compiled(name, reference, own_ptx, own_ftz, target))
        return found

    def executed(self, where: Where, d: dict[str, Any]) -> list[Executed]:
        reference, operands = self.reference(where, d), int(d["operands"])
        opened = self.openings(where, d, operands)
        return [
            Executed(words(name), operands, reference, opened)
            for i, name in enumerate(d["functions"])
            if self.is_new((*where, "functions", i), name, "") and reference
        ]

    def is_new(self, where: Where, name: str, type: str) -> bool:
        if (name, type) in self.seen:
            self.context.errors.append(self.doc.error(where, f"'{name}' is in the file twice"))
        self.seen.add((name, type))
        return True

    def reference(self, where: Where, d: dict[str, Any]) -> Reference | None:
        known = self.context.known(self.doc, (*where, "reference"), d["reference"], self.references, "reference")
        return self.references[d["reference"]] if known else None

    def openings(self, where: Where, d: dict[str, Any], operands: int) -> tuple[Opening, ...]:
        codes = [
            (self.code((*where, "open", i, "when"), o["when"], operands), words(o["why"]))
            for i, o in enumerate(d.get("open", []))
        ]
        return tuple(Opening(code, why) for code, why in codes if code)

    def code(self, where: Where, text: str, operands: int) -> Code | None:
        """Return a piece of semantics; None if it is wrong for every type."""
        code = self.context.code(self.doc, where, text)
        if code is None:
            return None
        try:
            resolve(code, self.meanings, {*"abc"[:operands]}, False)
        except SpecError as e:
            self.context.errors += e.diagnostics
            return None
        return code

    def texts(self, where: Where, said: Any, names: int) -> list[list[str]]:
        """Return each text's versions, one for each of the names."""
        single = isinstance(said, str)
        found = []
        for i, text in enumerate([said] if single else said):
            # With a single name, braces are PTX's.
            chosen = alternatives(words(text)) if names > 1 else [words(text)]
            if len(chosen) != names:
                message = f"there are {names} functions, and {len(chosen)} texts for them"
                at = where if single else (*where, i)
                self.context.errors.append(self.doc.error(at, message, "each name has its own: {x,y} with as many"))
            else:
                found.append(chosen)
        return found
