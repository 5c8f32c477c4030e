"""The forms of ptxas's messages, and what each of them means where its instruction is not known. A quoted name in one
is an opcode, or one with modifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..catalog import Asked, PtxVersion, is_other_function
from ..compact import compact
from ..diagnostics import nearest, suggest
from ..query.alike import differences, summary
from ..query.database import Database, Variant, names_of
from .meanings import Meaning, floors

Tell = Callable[[Database, re.Match[str]], Meaning | None]
_SHOWN, _TYPES = 4, 6
# A member of the group of modifiers that a message means.
_MEMBER = {"Rounding": "rn", "Comparison": "lt"}


def meaning(db: Database, text: str) -> Meaning | None:
    """What a message of ptxas means by itself."""
    for pattern, tell in (*_ANYWHERE, *_OF_PTXAS):
        m = re.search(pattern, text)
        if m:
            return tell(db, m)
    return None


def is_one(text: str) -> bool:
    """Whether a line is a message that nothing else in a log looks like."""
    return any(re.search(pattern, text) for pattern, _ in _ANYWHERE)


def _target_floor(db: Database, m: re.Match[str]) -> Meaning:
    name, target = m["name"], m["target"]
    known = db.targets.get(target)
    why = (f"{name} came with {target}",)
    if known is None:
        return Meaning(f"compile for {target} or newer", why)
    meant = _meant(db, name)
    wanted = [v.requires.ptx for v in meant if v.requires.target == target] or [v.requires.ptx for v in meant]
    oldest = min((db.versions[f] for f in wanted), key=_order, default=db.versions[known.ptx])
    return floors(db, target, max(oldest, db.versions[known.ptx], key=_order).version)._replace(why=why)


def _unsupported(db: Database, m: re.Match[str]) -> Meaning | None:
    """Of what few targets have ptxas does not say which."""
    name, target = m["name"], m["target"]
    named = db.types.intersection(re.findall(r"\w+", name))
    needs = dict.fromkeys(v.requires for v in _meant(db, name) if named.issubset(v.types))
    refusals = [f for r in needs if target in db.targets for f in db.catalog.refusals(r, target)]
    bounds = list(dict.fromkeys(f.bound for f in refusals if f.code == "target-specific"))[:_SHOWN]
    if not bounds:
        return None
    why = tuple(f"{target} does not have {name}: it needs {bound}" for bound in bounds)
    return Meaning(f"compile for {bounds[0]}", why)


def _order(version: PtxVersion) -> int:
    return version.order


def _meant(db: Database, feature: str) -> list[Variant]:
    """The variants that a message may be about: '.NaN', 'max.f16 or max.f16x2', 'max.f32 with 3 input operands'."""
    opcodes = set(re.findall(r"(?<![.\w])\w+", feature)) & db.opcodes.keys()
    modifiers = db.modifiers.intersection(re.findall(r"\.(\w+)", feature))
    types = db.types.intersection(re.findall(r"\w+", feature))
    count = re.search(r"with (\d+) input operands", feature)
    if not (opcodes or modifiers or types):
        return []
    found = [
        v
        for v in db.variants
        if (not opcodes or v.opcode in opcodes)
        and modifiers <= v.modifiers
        and (not types or not types.isdisjoint(v.types))
        and (count is None or v.operands == int(count[1]))
    ]
    # 'cvt.bf16.u8' names all types, in their order.
    in_order = tuple(n for n in re.findall(r"\.(\w+)", feature) if n in db.types)
    return [v for v in found if v.types == in_order] or found


def _ptx_floor(db: Database, m: re.Match[str]) -> Meaning:
    version = m["version"]
    if version not in db.versions:
        return Meaning(f"write .version {version} or newer", (f"{m['name']} came with PTX {version}",))
    return floors(db, "", version)._replace(why=(f"{m['name']} came with PTX {version}",))


def _spelled(name: str) -> tuple[str, list[str]]:
    opcode, *names = name.strip("'").split(".")
    return opcode, names


def _spelled_as(db: Database, opcode: str, variants: Sequence[Variant]) -> tuple[str, ...]:
    """The spellings of some variants in the manual's notation, as another way."""
    forms = compact((v.word for v in variants), db.groups)
    return (f"{opcode} is spelled {', '.join(opcode + form for form in forms)}",) if forms else ()


def _of(db: Database, instruction: str) -> tuple[str, Asked, list[Variant]]:
    """What a message says of an instruction: its form, and the variants that it may mean. The message names seldom all
    that was written."""
    opcode, names = _spelled(instruction)
    modifiers, types = db.split(names)
    of = db.opcodes[opcode].variants if opcode in db.opcodes else ()
    asked = Asked(types, frozenset(modifiers), None, complete=False)
    return ".".join((opcode, *types)), asked, [v for v in of if v.types == types or not types]


def _fitting(db: Database, asked: Asked, variants: Sequence[Variant]) -> list[Variant]:
    return [v for v in variants if db.catalog.may_be_advised(v, asked._replace(types=v.types))]


def _with(db: Database, instruction: str, wanted: str) -> Meaning:
    """An instruction with a modifier that it does not have as it is written."""
    form, asked, typed = _of(db, instruction)
    opcode = form.partition(".")[0]
    if opcode not in db.opcodes:
        return _elsewhere(opcode)
    fitting = _fitting(db, asked._replace(modifiers=asked.modifiers | {wanted}), typed)
    if len({v.spelling for v in fitting}) == 1:
        return Meaning(f"write {fitting[0].spelling}")
    if fitting:
        types = dict.fromkeys(".".join(v.types) for v in fitting)
        listed = ", ".join(f".{t}" for t in list(types)[:_TYPES])
        more = f" and {len(types) - _TYPES} more" if len(types) > _TYPES else ""
        change = f"write .{wanted} with {listed}{more} only: {form} has it there"
        return Meaning(change, (), _spelled_as(db, opcode, fitting))
    if any(wanted in v.modifiers for v in typed):
        return Meaning(f"no {form} has all of this")
    has = ", ".join(f".{n}" for n in names_of(typed) if n in db.modifiers) or "no modifiers"
    said = (f"no {form} has .{wanted}; it has {has}", *_said(db, wanted))
    return Meaning(f"leave .{wanted} out, where you can do without it", said)


def _said(db: Database, modifier: str) -> tuple[str, ...]:
    return (f".{modifier}: {summary(db, modifier)}",) if modifier in db.modifiers else ()


def _elsewhere(opcode: str) -> Meaning:
    return Meaning(f"{opcode} is not in this database")


def _illegal(db: Database, m: re.Match[str]) -> Meaning:
    return _with(db, m["opcode"], m["modifier"].strip("'."))


def _illegal_rounding(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    if opcode not in db.opcodes:
        return _elsewhere(opcode)
    roundings = {n for members in db.groups.values() if "rn" in members for n in members}
    with_one = [v for v in db.opcodes[opcode].variants if v.modifiers & roundings]
    if not with_one:
        return Meaning(f"leave the rounding out: no {opcode} has one")
    others = _spelled_as(db, opcode, [v for v in with_one if db.is_advisable(v)])
    return Meaning(f"leave the rounding out: {opcode} has none with these types and modifiers", (), others)


def _required_one(db: Database, m: re.Match[str]) -> Meaning:
    """Which of several modifiers is the author's to say: they compute different things."""
    form, asked, typed = _of(db, m["opcode"])
    opcode = form.partition(".")[0]
    if opcode not in db.opcodes:
        return _elsewhere(opcode)
    group = next(members for members in db.groups.values() if _MEMBER[m["what"]] in members)
    named = {n for n in re.findall(r"\.(\w+)", m["besides"] or "") if n in db.modifiers}
    # What else may stand in the place of one: of each type, the modifiers of spellings that have nothing besides.
    fitting = [v for v in _fitting(db, asked, typed) if v.modifiers & {*group, *named}]
    said = differences(db, [v for v in fitting if len(v.modifiers) == min(len(w.modifiers) for w in fitting)])
    if not said:
        return Meaning(f"the manual has no {form} with one")
    change = f"write the one that you mean behind {form}: {'; '.join(said)}"
    return Meaning(change, ("these compute different things",), _spelled_as(db, opcode, fitting))


def _boolean(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    of = db.opcodes[opcode].variants if opcode in db.opcodes else ()
    predicates = {name for name, about in db.data["types"].items() if about["kind"] == "bool"}
    found = [v for v in of if db.is_advisable(v) and any(s.type in predicates for s in v.sources)]
    example = f", as in {found[0].spelling} {found[0].places}" if found else ""
    return Meaning(f"a modifier says what is done with the predicate behind the operands{example}")


def _required(db: Database, m: re.Match[str]) -> Meaning:
    name = m["modifier"].strip("'.")
    offered = _with(db, m["opcode"], name)
    return Meaning(f"write .{name}, which must be there", (offered.change, *offered.why), offered.others)


def _companion(db: Database, m: re.Match[str]) -> Meaning:
    both = frozenset(n.strip("'.") for n in (m["one"], m["other"]))
    found = [v.spelling for v in db.variants if both <= v.modifiers and db.is_advisable(v)]
    return Meaning(f"write both, as in {found[0]}" if found else "write both")


def _excluding(db: Database, m: re.Match[str]) -> Meaning:
    both = [m["one"].strip("'."), m["other"].strip("'.")]
    about = [line for n in both for line in _said(db, n)]
    return Meaning(f"write one of the two, .{both[0]} or .{both[1]}, the one that you mean", tuple(about))


def _unknown(db: Database, m: re.Match[str]) -> Meaning | None:
    name = m["modifier"].strip("'.")
    if name in db.data["assembler"]["leading"]:
        found = [v.spelling for v in db.variants if name in v.modifiers and db.is_advisable(v)]
        return Meaning(f".{name} must follow the opcode at once, as in {found[0]}") if found else None
    known = [*db.data["modifiers"], *db.data["types"]]
    return Meaning(
        suggest(name, known, ".") if nearest(name, known) else f"no instruction of this database has .{name}"
    )


def _types(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    if opcode not in db.opcodes:
        return _elsewhere(opcode)
    types = [".".join(t) for t in db.opcodes[opcode].types]
    more = f" and {len(types) - _TYPES} more" if len(types) > _TYPES else ""
    listed = ", ".join("." + t for t in types[:_TYPES]) + more
    others = _spelled_as(db, opcode, [v for v in db.opcodes[opcode].variants if db.is_advisable(v)])
    return Meaning(f"write the types that your registers hold, once: {opcode} has {listed}", (), others)


def _arguments(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    if opcode not in db.opcodes:
        return _elsewhere(opcode)
    variants = sorted(db.opcodes[opcode].variants, key=lambda v: v.operands)
    operands = " or ".join(dict.fromkeys(v.places for v in variants))
    floats = [t for t, taken in db.data["assembler"]["constants"].items() if "double" in taken]
    types = [t for t in floats if any(t in types for types in db.opcodes[opcode].types)]
    constants = f"constants are taken for {', '.join('.' + t for t in types)} only, written as 1.0 and not as 1"
    return Meaning(f"the operands are {operands}, in registers of their types", (constants,) if types else ())


def _pair(db: Database, m: re.Match[str]) -> Meaning | None:
    known = db.targets.get(m["target"])
    if known is None:
        return None
    older = (f"or compile for a target that PTX {m['version']} knows",)
    return floors(db, "", known.ptx)._replace(why=(f"{known.name} came with PTX {db.versions[known.ptx]}", *older))


def _no_target(db: Database, m: re.Match[str]) -> Meaning:
    return Meaning(suggest(m["target"], db.targets) or f"as in {db.catalog.newest_target}")


def _no_instruction(db: Database, m: re.Match[str]) -> Meaning:
    name = m["name"]
    if name.lower() in db.opcodes:
        return Meaning(f"opcodes are written in lower case: {name.lower()}")
    near = not is_other_function(name, db.opcodes) and nearest(name, db.opcodes)
    return Meaning(suggest(name, db.opcodes) if near else f"no instruction of this database is {name}")


def _no_header(db: Database, m: re.Match[str]) -> Meaning:
    version, target = db.catalog.newest_version, db.catalog.newest_target
    return Meaning(f"a file begins with .version and .target, as in `.version {version}` and `.target {target}`")


def _unreadable(db: Database, m: re.Match[str]) -> Meaning:
    return Meaning(f"usually the statement before {m['near']} lacks its semicolon, or a comma", (_STOPPED,))


def _undeclared(db: Database, m: re.Match[str]) -> Meaning:
    return Meaning(f"declare it before, in this block or around it, as in `.reg .f32 {m['name']};`")


def _says(text: str) -> Tell:
    return lambda db, m: Meaning(text)


_STOPPED = "ptxas stops here: what follows was not judged; `ptxspec lint` judges it"
_ANYWHERE: tuple[tuple[str, Tell], ...] = (
    (r"(?P<name>'[^']*') requires \.target (?P<target>\w+) or higher", _target_floor),
    (r"(?:Feature|Instruction) (?P<name>'[^']*') not supported on \.target '(?P<target>\w+)'", _unsupported),
    (r"(?P<name>'[^']*') requires PTX ISA \.version (?P<version>[\d.]+) or later", _ptx_floor),
    (r"Illegal modifier (?P<modifier>'[^']*') for instruction (?P<opcode>'[^']*')", _illegal),
    (r"Illegal rounding modifier for instruction (?P<opcode>'[^']*')", _illegal_rounding),
    (
        r"(?P<what>Rounding|Comparison) modifier (?P<besides>or '[^']*' modifier )?"
        r"required for instruction (?P<opcode>'[^']*')",
        _required_one,
    ),
    (r"^Boolean operation is required for instruction (?P<opcode>'[^']*')", _boolean),
    (r"(?P<modifier>'?\.\w+'?) modifier required for instruction (?P<opcode>'[^']*')", _required),
    (r"Modifier (?P<one>'[^']*') requires modifier (?P<other>'[^']*')", _companion),
    (r"Modifier (?P<one>'[^']*') cannot be combined with modifier (?P<other>'[^']*')", _excluding),
    (r"Unknown modifier (?P<modifier>'[^']*')", _unknown),
    (r"Unexpected instruction types specified for (?P<opcode>'[^']*')", _types),
    (r"Arguments mismatch for instruction (?P<opcode>'[^']*')", _arguments),
    (r"PTX \.version (?P<version>[\d.]+) does not support \.target (?P<target>\w+)", _pair),
    (r"Unsupported \.target '(?P<target>[^']*)'", _no_target),
    (r"Not a name of any known instruction: '(?P<name>[^']*)'", _no_instruction),
    (r"Missing \.(?:target|version) directive", _no_header),
)
# Other lines of a log might look like these.
_OF_PTXAS: tuple[tuple[str, Tell], ...] = (
    (r"Parsing error near (?P<near>'(?:\w[^']*|\})')", _unreadable),
    (r"Parsing error|Result discard mode|non-ASCII", _says(_STOPPED)),
    (r"^(?:Multiple|Duplicate) ", _says("write one of them")),
    (
        r"^Special register argument not allowed",
        _says("no arithmetic reads a special register, such as %tid.x: move it into a register, and convert that"),
    ),
    (
        r"elements of|^Illegal vector size",
        _says("a vector has as many registers as the instruction takes, all of the size that it takes"),
    ),
    (r"ector operand is not allowed|esult vector expected|ector qualifier|ector size", _says("name one register")),
    (
        r"^Argument [1-9]\d* of instruction '[^']*': must be register",
        _says("load it into a register first: arithmetic reads no parameters, variables or memory"),
    ),
    (r"^Result register required|^Argument 0 of instruction", _says("the result needs a register")),
    (r"negation|unary minus", _says("a register is not negated here: do that by an instruction of its own")),
    (r"^Constant overflow", _says("no type has such a large integer; a floating-point constant is written as 1.0")),
    (
        r"^Constant expression type mismatch",
        _says("an expression is made of floating-point constants or of integers: write 1.0 + 1.0, not 1.0 + 1"),
    ),
    (
        r"^Unknown symbol '(?P<name>[^']*)'",
        _undeclared,
    ),
    (r"ideo selector|Unknown field|Array indexing", _says("name the register alone")),
    (r"^Predicate output not", _says("there is no second result: name one register")),
    (r"^Predicate output expected", _says("the second result is a predicate: declare it by .reg .pred")),
    (r"^Illegal expression", _says("a vector holds registers and constants")),
    (r"^Sink ", _says("name a register")),
    (r"division by zero", _says("the assembler computes this constant, and divides nothing by zero")),
    (r"^Unsupported cast", _says("only (.s64) and (.u64) stand before a constant")),
    (r"^Integer constant", _says("this is computed of integers only: write 1 and not 1.0")),
    (
        r"qualifier (?:is not allowed|expected) for instruction|comparison qualifier|applies only to \w+ integer",
        _says("remove it"),
    ),
)
