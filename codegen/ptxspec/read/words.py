"""spec/words.yaml -> what people call instructions, modifiers and types in everyday words."""

from __future__ import annotations

from ..model import Spec
from .context import Context
from .positioned import Document


def read_words(doc: Document | None, spec: Spec, context: Context) -> dict[str, tuple[str, ...]]:
    """Each word with what it means, an opcode or a name behind a dot; none without the file. Of opcodes that a
    specification lacks it says nothing: it may have some of them only."""
    found: dict[str, tuple[str, ...]] = {}
    names = {*spec.modifiers, *spec.types}
    for word, meanings in doc.data["words"].items() if doc else ():
        assert doc is not None
        kept = []
        for i, meaning in enumerate(meanings):
            opcode, *dotted = meaning.split(".")
            known = [context.known(doc, ("words", word, i), n, names, "modifier or type", ".") for n in dotted]
            instruction = spec.instructions.get(opcode)
            if instruction and not any(set(dotted) <= {*v.modifiers, *v.type_names} for v in instruction.variants):
                message = f"no {opcode} has {' and '.join(f'.{n}' for n in dotted)}"
                context.errors.append(doc.error(("words", word, i), message))
            elif all(known) and (instruction or not opcode):
                kept.append(meaning)
        if kept:
            found[word] = tuple(kept)
    return found
