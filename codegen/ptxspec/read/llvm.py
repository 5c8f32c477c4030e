"""spec/llvm.yaml -> the names and types of LLVM's intrinsics."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ..model import Signature
from .context import Context
from .positioned import Document

_CHOICE = re.compile(r"\{([^{}]*)\}")
# The type that a name ends in.
_OWN = re.compile(r"\bT\b")


def read_intrinsics(doc: Document | None, context: Context) -> tuple[Signature, ...]:
    """Read them; a name may stand for several, with other types."""
    if doc is None:
        return ()
    found: dict[Signature, None] = {}
    types = doc.data["types"]
    for signature, names in doc.data["names"].items():
        for i, notation in enumerate(names):
            for name in _expanded(notation):
                end, own = name.rpartition(".")[2], signature
                if _OWN.search(signature):
                    if not context.known(doc, ("names", signature, i), end, types, "type"):
                        continue
                    own = _OWN.sub(types[end], signature)
                gives, _, takes = own.rstrip(")").partition("(")
                found[Signature(name, tuple(takes.split(", ")), gives)] = None
    return tuple(found)


def _expanded(notation: str) -> Iterator[str]:
    """Yield the names of a notation: `{a,b}` is each of a and b, and `{.a,.b}` each of them or nothing."""
    texts = _CHOICE.split(notation)
    choices = [t.split(",") + [""] * t.startswith(".") if i % 2 else [t] for i, t in enumerate(texts)]
    return ("".join(parts) for parts in itertools.product(*choices))
