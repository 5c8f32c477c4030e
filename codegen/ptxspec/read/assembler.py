"""spec/assembler.yaml -> the assembler's rules for names and operands of every instruction."""

from __future__ import annotations

from ..model import Assembler
from .context import Context, words
from .positioned import Document


def read_assembler(doc: Document, context: Context) -> Assembler:
    data = doc.data
    for key, what, known in (
        ("repeatable", "modifier", context.modifiers),
        ("leading", "modifier", context.modifiers),
        ("leading_on", "modifier", context.modifiers),
    ):
        for i, name in enumerate(data[key]):
            context.known(doc, (key, name if key == "leading_on" else i), name, known, what)
    for i, name in enumerate(data["other_types"]):
        if name in context.modifiers:
            context.errors.append(doc.error(("other_types", i), f"'{name}' is a modifier"))
    for key in ("registers", "constants"):
        for name in data[key]:
            context.known(doc, (key, name), name, context.types, "type")
    return Assembler(
        observed=words(data["observed"]),
        repeatable=tuple(data["repeatable"]),
        leading=tuple(data["leading"]),
        leading_on={name: tuple(opcodes) for name, opcodes in data["leading_on"].items()},
        ignored=tuple(map(tuple, data["ignored"])),
        crashing=tuple(data["crashing"]),
        constants={name: tuple(found) for name, found in data["constants"].items()},
        named_integers=tuple(data["named_integers"]),
        # A type that types.yaml describes by now is no longer one of these.
        other_types=tuple(n for n in data["other_types"] if n not in context.types),
        target_options=tuple(data["target_options"]),
        registers={name: tuple(names) for name, names in data["registers"].items()},
        constraints={name: tuple(names) for name, names in data["constraints"].items()},
    )
