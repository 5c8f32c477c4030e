"""The key `hazards` of an instruction file: where the machine code does something other than the spelling says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..basis import CODE, Basis
from ..catalog import Catalog, Hazard
from ..model import Form, HazardRule, Proof, Selector, Variant
from .context import Context, words
from .positioned import Document, Where
from .requirements import expanded

Entries = tuple[tuple[str, str], ...]


class HazardReader:
    """The reader of the entries of one file. `selector`, `basis` and `on` read these keys as they do for requirements;
    `forms` are the variants of the file."""

    def __init__(
        self,
        doc: Document,
        context: Context,
        catalog: Catalog,
        forms: Mapping[Form, Variant],
        selector: Callable[[Where, dict[str, Any]], Selector],
        basis: Callable[[Where, Mapping[str, Any], Basis | None], Basis],
        on: Callable[[Where, Mapping[str, Any]], Entries],
    ) -> None:
        self.doc, self.context, self.catalog, self.forms = doc, context, catalog, forms
        self.selector, self.basis, self.on = selector, basis, on

    def read(self, entries: Iterable[dict[str, Any]]) -> tuple[HazardRule, ...]:
        return tuple(self._rule(("hazards", i), h) for i, h in enumerate(entries))

    def _rule(self, where: Where, h: dict[str, Any]) -> HazardRule:
        within = self.context.within(self.doc, (*where, "within"), h["within"]) if "within" in h else None
        first, last = within or ("", "")
        on = expanded(self.on(where, h), self.catalog)
        selector = self.selector(where, h)
        return HazardRule(
            selector=selector,
            hazard=Hazard(words(h["text"]), first, last, on),
            basis=self.basis(where, h, Basis((CODE,))),
            proof=self._proof((*where, "shown_by"), h["shown_by"], selector),
            mark=self.doc.marks[where],
        )

    def _proof(self, where: Where, shown: dict[str, Any], selector: Selector) -> Proof:
        drops, adds = (self._names((*where, key), shown.get(key)) for key in ("drops", "adds"))
        proof = Proof(
            drops=drops,
            adds=adds,
            holds=tuple(shown.get("holds", ())),
            lacks=tuple(shown.get("lacks", ())),
            folds=tuple(int(x, 16) for x in shown.get("folds", ())),
            unknown=shown.get("unknown", False),
        )
        if drops or adds:
            self._check_code_of(where, proof, selector)
        return proof

    def _check_code_of(self, where: Where, proof: Proof, selector: Selector) -> None:
        """Check that each variant has one of the dropped names, and that the spelling with the proof's changes is a
        variant."""
        for v in filter(selector.matches, self.forms.values()):
            modifiers, types, operands = v.form
            if not proof.drops & modifiers:
                names = " or ".join(f".{n}" for n in sorted(proof.drops))
                self._error((*where, "drops"), f"{v.spelling} has no {names}", "narrow the entry with `for:`")
                return
            if (proof.code_of(modifiers), types, operands) not in self.forms:
                added = "".join(f".{n}" for n in sorted(proof.adds))
                said = f"{v.spelling} without .{'.'.join(sorted(proof.drops & modifiers))}"
                message = f"{said}{f' and with {added}' if added else ''} is no variant"
                self._error(where, message, "name the variant whose machine code it has by `drops:` and `adds:`")
                return

    def _error(self, where: Where, message: str, help: str) -> None:
        self.context.errors.append(self.doc.error(where, message, help, key=True))

    def _names(self, where: Where, text: str | None) -> frozenset[str]:
        found = self.context.expanded(self.doc, where, text) if text else ()
        names = frozenset(n for one in found for n in one)
        for n in sorted(names):
            self.context.known(self.doc, where, n, self.context.modifiers, "modifier", ".")
        return names
