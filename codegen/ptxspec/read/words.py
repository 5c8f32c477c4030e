"""spec/words.yaml -> the everyday words for instructions, modifiers and types, their groups, and common questions."""

from __future__ import annotations

from ..model import Spec, Topic
from .context import Context
from .positioned import Document


def read_group_titles(doc: Document | None) -> dict[str, str]:
    """Return the titles of the groups of instructions, in the order in which these are listed."""
    return dict(doc.data.get("groups", {})) if doc else {}


def read_topics(doc: Document | None, key: str, title: str) -> tuple[Topic, ...]:
    """Return the topics in the list `key` of the file, which has their titles under the key `title`."""
    topics = doc.data.get(key, ()) if doc else ()
    return tuple(Topic(t[title], t["page"], tuple(t.get("words", ()))) for t in topics)


def read_words(doc: Document | None, spec: Spec, context: Context) -> dict[str, tuple[str, ...]]:
    """Return each word with what it means, an opcode or a name after a dot; none without the file. Opcodes that a
    specification lacks are ignored: it may have only some of them."""
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
