"""Functions of CUDA C++, libdevice and Triton, LLVM's intrinsics and instructions and MLIR's operations by name, with
the PTX that compilers generate for them, as recorded in generated/data/calls.json."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..catalog.likeness import are_near, nearest
from ..diagnostics import PtxspecError
from .database import Database, Variant

# What Triton's names begin with: those of triton.language, and of triton.language.extra.libdevice.
TRITON = ("tl", "libdevice")
# What all names of several parts begin with: LLVM's, Triton's and MLIR's.
_MODULES = ("llvm", *TRITON, "arith", "math", "nvvm")
# Between the types of a conversion, which both are in the argument of its call: `fptosi(float to i32)`.
TO = " to "
# A name with or without the types of arguments.
_ASKED = re.compile(
    rf"\s*(?P<name>(?:{'|'.join(_MODULES)})\.[\w.]+|[A-Za-z_]\w*(?:::operator [\w ]+)?|operator[^\w\s()]+)"
    r"\s*(?P<list>\(\s*(?P<takes>[^()]*)\))?\s*"
)
# Other names of Triton's modules.
_LIBDEVICE = re.compile(r"^\s*(?:triton\.language|tl)\.extra\.(?:cuda\.)?libdevice\.")
_LANGUAGE = re.compile(r"^\s*(?:triton\.language|tl)\.(?:math\.)?(?!extra\b)")
_STATEMENT = re.compile(r"(?:@!?\S+ )?(?P<spelling>\S+) (?P<operands>.*)")
_OPERAND = re.compile(r"\{[^}]*\}|[^,{}]+")


class Became(NamedTuple):
    """The PTX of a call. `on` are ranges of targets, by first and last. `ptx` is empty if the call becomes a software
    routine, which is too long to show: up to `size` instructions on a target, with jumps or calls."""

    on: tuple[tuple[str, str], ...]
    size: int
    ptx: str

    @property
    def statements(self) -> list[str]:
        """The instructions, without declarations of registers."""
        return [s.strip() for s in self.ptx.split(";") if s.strip() and not s.lstrip().startswith(".")]


class FunctionCall(NamedTuple):
    """A call of a function: its text with the types of arguments, or constants; the type that it returns; and the
    header that declares it, which is LLVM for an intrinsic. `fast` is its PTX under -use_fast_math, empty if that is
    the same. `low` is 8 if the result is the low 8 bits of %d."""

    text: str
    gives: str
    header: str
    low: int
    becomes: tuple[Became, ...]
    fast: tuple[Became, ...]

    @property
    def name(self) -> str:
        return self.text.partition("(")[0]

    @property
    def takes(self) -> list[str]:
        return [t.strip() for t in self.text.partition("(")[2].rstrip(")").split(",") if t.strip()]


def every(db: Database) -> Iterator[FunctionCall]:
    """Yield all calls."""
    for text, c in db.calls.get("calls", {}).items():
        becomes, fast = (
            tuple(Became(tuple(map(tuple, on)), count, ptx) for on, count, ptx in c.get(name, ()))
            for name in ("becomes", "fast")
        )
        yield FunctionCall(text, c["gives"], c["header"], c["low"], becomes, fast)


def may_be_named(text: str) -> bool:
    """Return whether a text looks like a function's name."""
    return _ASKED.fullmatch(_short(text)) is not None


def _short(text: str) -> str:
    """Return a name with the short name of a module of Triton."""
    return _LANGUAGE.sub("tl.", _LIBDEVICE.sub("libdevice.", text))


def named(db: Database, text: str) -> list[FunctionCall]:
    """Return the calls that a text names, such as `__hmul2` or `__hmul2(__half2, __half2)`. An opcode's name means a
    function only if parentheses follow. Types at the end can be left out."""
    m = _ASKED.fullmatch(_short(text))
    if m is None or (m["name"] in db.opcodes and not m["list"]):
        return []
    types, names = db.calls.get("lowered", {}).get("types", {}), lowered(db, m["name"]) or (m["name"],)
    asked = [" ".join(t.split()) for t in (m["takes"] or "").split(",") if t.strip()]
    asked = [types.get(t, t) for t in asked] if names != (m["name"],) else asked
    found = sorted((c for c in every(db) if c.name in names), key=lambda c: names.index(c.name))
    fitting = [c for c in found if _takes(c, asked)]
    if found and not fitting:
        known = "; ".join(c.text for c in found[:4])
        raise PtxspecError(f"{m['name']} does not take these arguments; known: {known}")
    return fitting


def _takes(call: FunctionCall, asked: Sequence[str]) -> bool:
    """Return whether a call has these types of arguments at its beginning. A conversion is found by either type."""
    given = zip(call.takes, asked, strict=False)
    return len(asked) <= len(call.takes) and all(type in (own, *own.split(TO)) for own, type in given)


def lowered(db: Database, text: str) -> Sequence[str]:
    """Return the functions that an operation of MLIR is lowered to; none for another name."""
    found: Sequence[str] = db.calls.get("lowered", {}).get("ops", {}).get(_short(text).partition("(")[0].strip(), ())
    return found


def name(db: Database, text: str, found: Sequence[FunctionCall]) -> str:
    """Return the name that a text asks about: an operation of MLIR, or the function that was found."""
    return _short(text).partition("(")[0].strip() if lowered(db, text) else found[0].name


def near(db: Database, text: str) -> str:
    """Return the name of the function that an unknown name probably means; empty if none is similar, or if an opcode is
    as similar."""
    name = _short(text).partition("(")[0].strip()
    module = _module(name)
    if not (name.isidentifier() or module) or name in db.opcodes:
        return ""
    names = dict.fromkeys([*db.opcodes, *_of(db, module)])
    # Names with a wrong letter come before names with another number of letters.
    found = [n for n in names if len(n) == len(name) and are_near(n, name)] or nearest(name, names)
    return found[0] if found and found[0] not in db.opcodes else ""


def _module(name: str) -> str:
    """Return the first part of a name of LLVM, Triton or MLIR; empty for a name of C++."""
    first, dot, _ = name.partition(".")
    return first if dot and first in _MODULES else ""


def _of(db: Database, module: str) -> Iterator[str]:
    """Yield the names that begin with a module's, or those of C++ for none."""
    for name in (*(c.name for c in every(db)), *db.calls.get("lowered", {}).get("ops", {})):
        if _module(name) == module:
            yield name


def compiler(db: Database, call: FunctionCall) -> str:
    """Return the compiler whose PTX is recorded for a call."""
    return str(db.calls["compilers"].get(call.header, db.calls["compiler"]))


def is_on(db: Database, became: Became, target: str) -> bool:
    """Return whether a target is among those of a call's PTX."""
    order: Sequence[str] = db.calls["targets"]
    at = order.index(target) if target in order else -1
    return any(order.index(first) <= at <= order.index(last) for first, last in became.on)


def on(db: Database, call: FunctionCall, target: str | None) -> FunctionCall:
    """Return a call with only the PTX of one target."""
    if target is None:
        return call
    becomes, fast = ([b for b in some if is_on(db, b, target)] for some in (call.becomes, call.fast))
    return call._replace(becomes=tuple(becomes), fast=() if becomes == fast else tuple(fast))


def compiled(db: Database, found: Sequence[FunctionCall], target: str | None) -> list[FunctionCall]:
    """Return those calls that compile on a target, or on any, with only the PTX of that target."""
    return [c for c in (on(db, c, target) for c in found) if c.becomes]


def variant(db: Database, statement: str) -> Variant | None:
    """Return the variant of a statement; None for one that is not in this database."""
    m = _STATEMENT.match(statement)
    if m is None:
        return None
    opcode, *names = m["spelling"].split(".")
    sources = [o.strip() for o in _OPERAND.findall(m["operands"]) if o.strip()][1:]
    count = sum(len(o.split(",")) for o in sources)
    return db.find(opcode, names, count) or db.find(opcode, names, None)


def becoming(db: Database, v: Variant) -> list[tuple[FunctionCall, Became]]:
    """Return the calls that compile to one instruction, of this variant, with their PTX and targets."""
    return [
        (call, became)
        for call in every(db)
        for became in call.becomes
        if len(became.statements) == 1 and v.opcode in became.ptx and variant(db, became.statements[0]) == v
    ]
