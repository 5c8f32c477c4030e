"""spec/llvm.yaml and triton.yaml -> the names and types of LLVM's intrinsics and Triton's functions."""

from __future__ import annotations

import itertools
import math
import re

from ..model import Signature
from .context import Context
from .positioned import Document

_CHOICE = re.compile(r"\{([^{}]*)\}")
# T, the type that a name ends in.
_OWN = re.compile(r"\bT\b")
_MAX_NAMES = 4096


def read_intrinsics(doc: Document | None, context: Context) -> tuple[Signature, ...]:
    """Read the names; one in notation may stand for several, with different types."""
    if doc is None:
        return ()
    found: dict[Signature, None] = {}
    types = doc.data.get("types", {})
    for signature, names in doc.data["names"].items():
        for i, notation in enumerate(names):
            texts = _choices(notation)
            # This is checked before the names are made: a short text can stand for more than fit into memory.
            if math.prod(map(len, texts)) > _MAX_NAMES:
                message = f"this stands for more than {_MAX_NAMES} names"
                context.errors.append(doc.error(("names", signature, i), message, "write several lines"))
                continue
            for name in map("".join, itertools.product(*texts)):
                end, own = name.rpartition(".")[2], signature
                if _OWN.search(signature):
                    if not context.known(doc, ("names", signature, i), end, types, "type"):
                        continue
                    own = types[end].join(_OWN.split(signature))
                gives, _, takes = own.rstrip(")").partition("(")
                found[Signature(name, tuple(takes.split(", ")), gives)] = None
    return tuple(found)


def _choices(notation: str) -> list[list[str]]:
    """Return the texts that each part of a notation stands for: `{a,b}` for a or b, and `{.a,.b}` for either or
    nothing."""
    texts = _CHOICE.split(notation)
    return [t.split(",") + [""] * t.startswith(".") if i % 2 else [t] for i, t in enumerate(texts)]
