"""spec/llvm.yaml, triton.yaml and mlir.yaml -> the names and types of LLVM's intrinsics and Triton's functions, and
what MLIR's operations are lowered to."""

from __future__ import annotations

import itertools
import math
import re

from ..model import IntrinsicSignature, Lowered
from .context import Context
from .positioned import Document

_CHOICE = re.compile(r"\{([^{}]*)\}")
# T, the type that a name ends in.
_OWN = re.compile(r"\bT\b")
_MAX_NAMES = 4096


def read_intrinsics(doc: Document | None, context: Context) -> tuple[IntrinsicSignature, ...]:
    """Read the names; one in notation may stand for several, with different types."""
    if doc is None:
        return ()
    found: dict[IntrinsicSignature, None] = {}
    types = doc.data.get("types", {})
    for signature, names in doc.data["names"].items():
        for i, notation in enumerate(names):
            for name in _names(doc, context, ("names", signature, i), notation):
                end, own = name.rpartition(".")[2], signature
                if _OWN.search(signature):
                    if not context.known(doc, ("names", signature, i), end, types, "type"):
                        continue
                    own = types[end].join(_OWN.split(signature))
                gives, _, takes = own.rstrip(")").partition("(")
                found[IntrinsicSignature(name, tuple(takes.split(", ")), gives)] = None
    return tuple(found)


def read_lowered(doc: Document | None, context: Context) -> Lowered | None:
    """Read what operations are lowered to. A function whose PTX is not recorded is no error: compilers come and go."""
    if doc is None:
        return None
    ops = {
        op: tuple(n for i, text in enumerate(notations) for n in _names(doc, context, ("ops", op, i), text))
        for op, notations in doc.data["ops"].items()
    }
    return Lowered(doc.data["types"], ops)


def _names(doc: Document, context: Context, place: tuple[str | int, ...], notation: str) -> list[str]:
    """Return the names that a notation stands for."""
    texts = _choices(notation)
    # This is checked before the names are made: a short text can stand for more than fit into memory.
    if math.prod(map(len, texts)) > _MAX_NAMES:
        context.errors.append(doc.error(place, f"this stands for more than {_MAX_NAMES} names", "write several lines"))
        return []
    return ["".join(chosen) for chosen in itertools.product(*texts)]


def _choices(notation: str) -> list[list[str]]:
    """Return the texts that each part of a notation stands for: `{a,b}` for a or b, and `{.a,.b}` for either or
    nothing."""
    texts = _CHOICE.split(notation)
    return [t.split(",") + [""] * t.startswith(".") if i % 2 else [t] for i, t in enumerate(texts)]
