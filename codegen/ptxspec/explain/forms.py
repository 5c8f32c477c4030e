"""The forms of ptxas's messages, and the meaning of each without knowledge of its instruction. A quoted name in one is
an opcode, with or without modifiers.

Answers about an instruction come from the database; for others they say that it does not have them. A message seldom
names the whole spelling. If an opcode also has instructions outside of the database, the answer says that it is about
those in the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..catalog import Requirement
from ..catalog.explaining import Asked, differences, lacks_text, summary
from ..catalog.known import names_of
from ..catalog.likeness import are_near, is_other_function, nearest, suggest
from ..catalog.special import FIELDS, SpecialRegister
from ..compact import compact
from ..lint.rules import DatabaseRules
from ..ptx import constants
from ..ptx.matching import Matcher
from ..query.database import Database, Variant
from .features import NAMED, ptx_floor, target_floor, unsupported
from .meanings import Meaning, floors

Tell = Callable[[Database, re.Match[str]], Meaning | None]
_TYPES = 6
# Members that identify the groups of modifiers that a message names.
_MEMBERS = {"Rounding": ("rn", "rni"), "Comparison": ("lt",)}


def meaning(db: Database, text: str) -> Meaning | None:
    """Return the meaning of a ptxas message by itself, or None."""
    for pattern, tell in (*_ANYWHERE, *_OF_PTXAS):
        m = re.search(pattern, text)
        if m:
            instruction = m.groupdict().get("opcode")
            if instruction is None:
                return tell(db, m)
            if _is_ours(db, instruction):
                return _besides(db, instruction, tell(db, m))
            return Meaning(_missing(m)) if tell is _required else _elsewhere(db, instruction)
    return None


def is_one(text: str) -> bool:
    """Return whether a line is a message that resembles no other line of a log."""
    return any(re.search(pattern, text) for pattern, _ in _ANYWHERE)


def is_of_header(text: str) -> bool:
    """Return whether a message says that a file does not begin as PTX does."""
    return re.search(_HEADER, text) is not None


def any_in(text: str) -> bool:
    """Return whether some line of a log may be such a message."""
    return any(re.search(pattern.removeprefix("^"), text) for pattern, _ in _ANYWHERE)


def _is_ours(db: Database, instruction: str) -> bool:
    """Return whether a message may name an instruction of the database."""
    opcode, names = _spelled(instruction)
    if opcode not in db.opcodes or db.is_elsewhere(opcode, names):
        return False
    return {*names}.issubset(db.opcodes[opcode].names)


def _elsewhere(db: Database, instruction: str) -> Meaning:
    opcode, names = _spelled(instruction)
    outside = db.outside.get(opcode)
    needs = outside and outside.requires(names, db.catalog)
    if outside and needs:
        section = f" (section {outside.section})" if outside.section else ""
        known = f"{instruction} is PTX{section} and requires {db.catalog.text(needs)} or newer"
        return Meaning(f"{known}; this database does not describe its operands", known=False)
    return Meaning(f"{instruction} is not in this database", known=False)


def _besides(db: Database, instruction: str, found: Meaning | None) -> Meaning | None:
    """Return `found`, with a note on the opcode's other instructions if these may be meant as well."""
    opcode, names = _spelled(instruction)
    if found is None or not _other_forms(db, opcode) or db.split(names)[1]:
        return found
    return found._replace(why=(*found.why, f"{opcode} has other forms, which are not in this database"))


def _other_forms(db: Database, opcode: str) -> Sequence[str]:
    """Return the types of an opcode's instructions that are not in the database, some behind modifiers."""
    found: Sequence[str] = db.opcodes[opcode].data["assembler"]["elsewhere"] or ()
    return found


def _spelled(instruction: str) -> tuple[str, list[str]]:
    opcode, *names = instruction.split(".")
    return opcode, names


def _spelled_as(db: Database, opcode: str, variants: Sequence[Variant]) -> tuple[str, ...]:
    """Return the spellings of some variants in the notation of NVIDIA's manual, as an alternative."""
    forms = compact((v.word for v in variants), db.groups)
    return (f"{opcode} is spelled {', '.join(opcode + form for form in forms)}",) if forms else ()


def _of(db: Database, instruction: str) -> tuple[str, Asked, list[Variant]]:
    """Return what a message says of an instruction: its form, and the variants that it may mean. The message seldom
    names the whole spelling."""
    opcode, names = _spelled(instruction)
    modifiers, types = db.split(names)
    asked = Asked(types, frozenset(modifiers), None, complete=False)
    return ".".join((opcode, *types)), asked, [v for v in db.opcodes[opcode].variants if v.types == types or not types]


def _fitting(db: Database, asked: Asked, variants: Sequence[Variant]) -> list[Variant]:
    return [v for v in variants if asked._replace(types=v.types).is_done_by(v) and db.is_advisable(v)]


def _with(db: Database, instruction: str, wanted: str, type: str | None = None) -> Meaning:
    """Return the meaning of a modifier that an instruction does not have as it is written. `type`: one of its types."""
    form, asked, typed = _of(db, instruction)
    opcode = form.partition(".")[0]
    typed = [v for v in typed if type is None or type in v.types]
    fitting = _fitting(db, asked._replace(modifiers=asked.modifiers | {wanted}), typed)
    if len({v.spelling for v in fitting}) == 1:
        return Meaning(f"write {fitting[0].spelling}")
    if fitting:
        types = [".".join(v.types) for v in fitting]
        change = f"write .{wanted} with {_listed(types)} only: {form} has it there"
        return Meaning(change, (), _spelled_as(db, opcode, fitting))
    if any(wanted in v.modifiers for v in typed):
        return Meaning(f"no {form} has all of these")
    if any(wanted in other.split(".") for other in _other_forms(db, opcode)):
        return Meaning(f"the {opcode} that has .{wanted} is not in this database", known=False)
    has = lacks_text(form, wanted, [n for n in names_of(typed) if n in db.modifiers])
    said = (has, *_said(db, wanted))
    return Meaning(f"remove .{wanted} if you do not need it", said)


def _listed(types: Iterable[str]) -> str:
    """Return a list of some types, each once, the first of them by name."""
    every = list(dict.fromkeys(types))
    more = f" and {len(every) - _TYPES} more" if len(every) > _TYPES else ""
    return ", ".join(f".{t}" for t in every[:_TYPES]) + more


def _said(db: Database, modifier: str) -> tuple[str, ...]:
    return (f".{modifier}: {summary(db, modifier)}",) if modifier in db.modifiers else ()


def _illegal(db: Database, m: re.Match[str]) -> Meaning:
    return _with(db, m["opcode"], m["modifier"])


def _members(db: Database, what: str) -> list[str]:
    """Return the modifiers that a word of a message means."""
    return [n for members in db.groups.values() if not {*_MEMBERS[what]}.isdisjoint(members) for n in members]


def _illegal_rounding(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    roundings = frozenset(_members(db, "Rounding"))
    with_one = [v for v in db.opcodes[opcode].variants if v.modifiers & roundings]
    if not with_one:
        return Meaning(f"remove the rounding mode: no {opcode} has one")
    others = _spelled_as(db, opcode, [v for v in with_one if db.is_advisable(v)])
    has = ", ".join(f".{n}" for n in names_of(with_one) if n in roundings)
    change = f"write a rounding mode that {opcode} has with these types and modifiers, or none if it has none"
    return Meaning(change, (f"{opcode} has {has}, not all of them with the same types",), others)


def _required_one(db: Database, m: re.Match[str]) -> Meaning:
    """Return the meaning of a missing modifier. Only the author can say which one is meant: they compute different
    things."""
    form, asked, typed = _of(db, m["opcode"])
    opcode = form.partition(".")[0]
    named = {n for n in re.findall(r"\.(\w+)", m["besides"] or "") if n in db.modifiers}
    # The possible modifiers: for each type, those of the spellings with the fewest.
    fitting = [v for v in _fitting(db, asked, typed) if v.modifiers & {*_members(db, m["what"]), *named}]
    said = differences(db, [v for v in fitting if len(v.modifiers) == min(len(w.modifiers) for w in fitting)])
    if not said:
        return Meaning(f"NVIDIA's manual has no {form} with one", known=False)
    change = f"add the one that you mean to {form}: {'; '.join(said)}"
    return Meaning(change, ("these compute different things",), _spelled_as(db, opcode, fitting))


def _boolean(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    predicates = {name for name, about in db.data["types"].items() if about["kind"] == "bool"}
    of = (v for v in db.opcodes[opcode].variants if any(s.type in predicates for s in v.sources))
    found = [v for v in of if db.is_advisable(v)]
    example = f", as in {found[0].spelling} {found[0].places}" if found else ""
    return Meaning(f"a modifier must say how the predicate after the operands is combined{example}")


def _required(db: Database, m: re.Match[str]) -> Meaning:
    offered = _with(db, m["opcode"], m["modifier"], m["type"])
    return Meaning(_missing(m), (offered.change, *offered.why), offered.others)


def _missing(m: re.Match[str]) -> str:
    return f"add .{m['modifier']}, which is required"


def _companion(db: Database, m: re.Match[str]) -> Meaning | None:
    both = frozenset((m["one"], m["other"]))
    found = [v.spelling for v in db.variants if both <= v.modifiers and db.is_advisable(v)]
    if not found:
        return None
    # The message does not name the opcode: one in the change would be taken for the right one.
    written = "".join(f".{n}" for n in found[0].split(".") if n in both)
    return Meaning(f"write both, {written}, with your opcode", (f"as in {found[0]}",))


def _excluding(db: Database, m: re.Match[str]) -> Meaning | None:
    both = [m["one"], m["other"]]
    about = [line for n in both for line in _said(db, n)]
    if not about:
        return None
    return Meaning(f"write only one of .{both[0]} and .{both[1]}", tuple(about))


def _unknown(db: Database, m: re.Match[str]) -> Meaning | None:
    name = m["modifier"]
    if name in db.data["assembler"]["leading"]:
        found = [v.spelling for v in db.variants if name in v.modifiers and db.is_advisable(v)]
        return Meaning(f".{name} must follow the opcode directly, as in {found[0]}") if found else None
    of_it = [v.requires for v in db.variants if name in v.modifiers or name in v.types]
    of_it += [f.requires for o in db.outside.values() for f in o.forms if name in f.names]
    if of_it:
        return _older_ptxas(db, f".{name}", of_it)
    near = _near(name, [*db.data["modifiers"], *db.data["types"]])
    return Meaning(f"did you mean '.{near}'?") if near else Meaning(f"no instruction of this database has .{name}")


def _older_ptxas(db: Database, name: str, needs: Iterable[Requirement]) -> Meaning:
    """Return the meaning of a name that a ptxas does not know and PTX has: the ptxas is older than the name."""
    first = min(map(db.catalog.first_version, needs), key=lambda ptx: db.versions[ptx].order)
    version = db.versions[first]
    release = f"CUDA {version.cuda}" if version.cuda else f"a release that supports PTX {first}"
    return Meaning(
        f"use ptxas of {release} or newer, with .version {first} or newer",
        (f"{name} was introduced in PTX {first}: this ptxas is older", "`ptxas --version` shows its release"),
    )


def _near(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that differs in one letter wrong, too many or missing, or None."""
    known = list(known)
    return next((k for k in nearest(name, known, len(known)) if are_near(name.lower(), k.lower())), None)


def _types(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    of = db.opcodes[opcode].variants
    others = _spelled_as(db, opcode, [v for v in of if db.is_advisable(v)])
    listed = _listed(".".join(t) for t in db.opcodes[opcode].types)
    change = f"write types that {opcode} has with these modifiers, each once: {opcode} has {listed}"
    return Meaning(change, (), others)


def _arguments(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    operands = " or ".join(dict.fromkeys(v.places for v in sorted(db.opcodes[opcode].variants, key=_operands)))
    if "unpacks" in db.opcodes[opcode].data:
        operands += ", or the vector first and after it the register that is unpacked"
    why = "the number of operands does not match, or the type of a register or a constant"
    return Meaning(f"the operands are {operands}, each of its own type", (why, *_constants(db, opcode)))


def _operands(v: Variant) -> int:
    return v.operands


def _constants(db: Database, opcode: str) -> Iterator[str]:
    """Yield the constants that an opcode accepts for sources of each of its types, if all its variants agree."""
    matcher = Matcher(DatabaseRules(db))
    taken: dict[str, set[tuple[str, ...]]] = {}
    for v in db.opcodes[opcode].variants:
        for s in v.sources:
            if (sorts := matcher.constants(v, s.type)) is not None:
                taken.setdefault(s.type, set()).add(sorts)
    by_forms: dict[tuple[str, ...], list[str]] = {}
    for type, agreed in taken.items():
        if len(agreed) == 1:
            by_forms.setdefault(next(iter(agreed)), []).append(type)
    for forms, types in by_forms.items():
        written = " or ".join(text for sort, text in _WRITTEN.items() if sort in forms)
        take = "take" if len(types) > 1 else "takes"
        yield f"{_listed(types)} {take} {f'constants as {written}' if written else 'no constants'}"


def _pair(db: Database, m: re.Match[str]) -> Meaning | None:
    known = db.targets.get(m["target"])
    if known is None:
        return None
    older = f"or compile for a target that PTX {m['version']} supports"
    return floors(db, "", known.ptx, f"{known.name} was introduced in PTX {db.versions[known.ptx]}", older)


def _no_target(db: Database, m: re.Match[str]) -> Meaning:
    return Meaning(suggest(m["target"], db.targets) or f"as in {db.catalog.newest_target}")


def _no_instruction(db: Database, m: re.Match[str]) -> Meaning:
    name = m["name"]
    if name in db.opcodes:
        return _older_ptxas(db, name, (v.requires for v in db.opcodes[name].variants))
    if name in db.outside and db.outside[name].forms:
        return _older_ptxas(db, name, (f.requires for f in db.outside[name].forms))
    if name.lower() in db.opcodes:
        return Meaning(f"opcodes are written in lower case: {name.lower()}")
    near = None if is_other_function(name, db.opcodes) else _near(name, [*db.opcodes, *db.other_opcodes])
    return Meaning(f"did you mean '{near}'?") if near else Meaning(f"no instruction of this database is {name}")


def _no_header(db: Database, m: re.Match[str]) -> Meaning:
    version, target = db.catalog.newest_version, db.catalog.newest_target
    return Meaning(f"a file begins with .version and .target, as in `.version {version}` and `.target {target}`")


def _unreadable(db: Database, m: re.Match[str]) -> Meaning:
    near = m["near"].strip("'")
    usual = f"usually the statement before {m['near']} lacks its semicolon, or a comma"
    for pattern, change in _CONSTANTS:
        if re.fullmatch(pattern, near):
            return Meaning(change, (f"otherwise, {usual}", _STOPPED))
    return Meaning(usual, (_STOPPED,))


def _not_declared_so(db: Database, m: re.Match[str]) -> Meaning | None:
    """Return the meaning of a type that instructions have, and registers do not."""
    about = db.data["types"].get(m["type"])
    if about is None or m["type"] not in db.types or f".{m['type']}" in about["registers"].split(" or "):
        return None
    return Meaning(
        f"declare the register as {about['registers']}, and keep .{m['type']} in the instructions",
        (f"PTX has no registers of type .{m['type']}: {about['summary']}",),
    )


def _undeclared(db: Database, m: re.Match[str]) -> Meaning:
    known = [n for r in db.special_registers.values() for name in r.names for n in (name, *_fields(r, name))]
    known += db.data["assembler"]["named_integers"]
    bare = _letters(m["name"])
    if re.fullmatch(r"\$\d+", m["name"]):
        number = m["name"][1:]
        return Meaning(
            f"in inline assembly of CUDA write %{number} for {m['name']}",
            ("$ is how LLVM IR, Triton's inline_asm_elementwise and MLIR number operands; CUDA numbers them with %",),
        )
    if (number := _NAMED.get(bare.lstrip("+-"))) is not None:
        return Meaning(f"write {number}", (f"PTX has no name for this constant, and {m['name']} is not declared",))
    if meant := [n for n in known if _letters(n) == bare and n != m["name"]]:
        return Meaning(f"write {meant[0]}", (f"PTX has no {m['name']}, and {m['name']} is not declared",))
    change = (
        f"declare {m['name']} before this line, in this block or an enclosing one; declare a register as in "
        f"`.reg .f32 {m['name']};`"
    )
    why = ["give a register the type that its instructions accept"]
    if not m["name"].startswith("%"):
        why.append(
            f"memory is declared as in `.shared .align 4 .b8 {m['name']}[1024];`, and then [{m['name']}] reads it"
        )
        why.append(f"a label is written `{m['name']}:`, anywhere in the function")
    return Meaning(change, tuple(why))


def _fields(r: SpecialRegister, name: str) -> Iterator[str]:
    yield from (f"{name}.{field}" for field in FIELDS if r.fields)


def _letters(name: str) -> str:
    """Return a name without what is easily forgotten in it: dots, underscores and the case of letters."""
    return name.replace(".", "").replace("_", "").lower()


def _vector_size(db: Database, m: re.Match[str]) -> Meaning:
    """Return the meaning of a wrong size of a vector. Vectors belong to instructions that load, store and move; the
    database has few of these."""
    instruction = m["instruction"]
    opcode, _ = _spelled(instruction)
    if opcode in db.opcodes and not _has_vectors(db, opcode):
        return Meaning(f"write one register: {opcode} accepts no vectors")
    more = () if opcode in db.opcodes else (f"{instruction} is not in this database",)
    return Meaning("write as many registers in braces as the vector has elements: two for .v2, four for .v4", more)


def _has_vectors(db: Database, opcode: str) -> bool:
    about = db.opcodes[opcode]
    return bool(about.data["assembler"].get("vectors_elsewhere")) or any(
        s.braced for v in about.variants for s in v.sources
    )


def _comparison(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    others = _spelled_as(db, opcode, [v for v in db.opcodes[opcode].variants if db.is_advisable(v)])
    own = [n for n in db.opcodes[opcode].names if n in db.modifiers]
    has = ", ".join(f".{n}" for n in own) or "no modifiers"
    # A comparison may be a modifier of this opcode in other letters, and what is removed then changes the result.
    alike = [n for n in own if n.lower() in db.modifiers and n.lower() != n]
    change = f"write .{alike[0]} for .{alike[0].lower()}; remove any other comparison" if alike else ""
    if not alike and all(v.modifiers for v in db.opcodes[opcode].variants):
        change = f"write one of {opcode}'s own modifiers for the comparison: {has}"
    return Meaning(change or "remove the comparison", (f"{opcode} has {has}",), others)


def _second(db: Database, m: re.Match[str]) -> Meaning:
    opcode, _ = _spelled(m["opcode"])
    if not any(v.second is not None or v.result_registers > 1 for v in db.opcodes[opcode].variants):
        return Meaning(_NO_SECOND)
    return Meaning("the second result is a predicate: write one, and declare it with .reg .pred")


def _says(text: str) -> Tell:
    return lambda db, m: Meaning(text.format(**m.groupdict()))


# Constants as other languages write them, by what ptxas reads of one before it stops.
_CONSTANTS = (
    (r"[fF]", "write the constant without its f: 1.0 for 1.0f"),
    (
        r"[pP]\d+",
        "write the bits of the constant, as in 0f3F800000 for 1.0: PTX has no hexadecimal numbers with an exponent",
    ),
    (r"[fFdD][0-9a-fA-F]{3,}", "write all digits of the constant: 8 after 0f, and 16 after 0d"),
)
_INFINITY = (
    "0f7F800000 (.f32) or 0d7FF0000000000000 (.f64) for infinity; 0fFF800000 or 0dFFF0000000000000 for -infinity"
)
_NAMED = {
    "inf": _INFINITY,
    "infinity": _INFINITY,
    "nan": "0f7FFFFFFF (.f32) or 0d7FFFFFFFFFFFFFFF (.f64) for NaN",
}
# Examples of each sort of constant.
_WRITTEN = {constants.INTEGER: "1", constants.DOUBLE: "1.0", constants.SINGLE: "0f3F800000"}
_NO_SECOND = "there is no second result: write one register"
_STOPPED = "ptxas stopped here and did not check the rest; `ptxspec lint` checks it"
_HEADER = r"Missing \.(?:target|version) directive"
_OF = r"instruction '(?P<opcode>[^']*)'"
_ANYWHERE: tuple[tuple[str, Tell], ...] = (
    (rf"{NAMED} requires \.target (?P<target>\w+) or higher", target_floor),
    (
        rf"(?:Feature|Instruction) {NAMED} (?:not supported on \.target|cannot be compiled for architecture) "
        r"'(?P<target>\w+)'",
        unsupported,
    ),
    (rf"{NAMED} requires PTX ISA \.version (?P<version>[\d.]+) or later", ptx_floor),
    (rf"Illegal modifier '\.?(?P<modifier>[^']*)' for {_OF}", _illegal),
    (rf"Illegal rounding modifier for {_OF}", _illegal_rounding),
    (
        rf"(?P<what>Rounding|Comparison) modifier (?P<besides>or '[^']*' modifier )?required for {_OF}",
        _required_one,
    ),
    (rf"^Boolean operation is required for {_OF}", _boolean),
    (
        rf"'?\.(?P<modifier>[\w:]+)'? modifier required for {_OF}(?: with (?:destination )?type '\.(?P<type>\w+)')?",
        _required,
    ),
    (r"Modifier '\.(?P<one>[^']*)' requires modifier '\.(?P<other>[^']*)'", _companion),
    (r"Modifier '\.(?P<one>[^']*)' cannot be combined with modifier '\.(?P<other>[^']*)'", _excluding),
    (r"Unknown modifier '\.?(?P<modifier>[^']*)'", _unknown),
    (r"Unexpected instruction types specified for '(?P<opcode>[^']*)'", _types),
    (rf"Arguments mismatch for {_OF}", _arguments),
    (r"PTX \.version (?P<version>[\d.]+) does not support \.target (?P<target>\w+)", _pair),
    (r"Unsupported \.target '(?P<target>[^']*)'", _no_target),
    (r"Not a name of any known instruction: '(?P<name>[^']*)'", _no_instruction),
    (_HEADER, _no_header),
)
# Other lines of a log might resemble these.
_OF_PTXAS: tuple[tuple[str, Tell], ...] = (
    (r"Parsing error near (?P<near>'(?:\w[^']*|\})')", _unreadable),
    (r"Parsing error near '\.(?P<type>\w+)'", lambda db, m: _not_declared_so(db, m) or Meaning(_STOPPED)),
    (r"^Type \.(?P<type>\w+) may only be used as an instruction type", _not_declared_so),
    (r"Parsing error|non-ASCII", _says(_STOPPED)),
    (r"^Result discard mode", lambda db, m: Meaning("write a register for the result", (_STOPPED,))),
    (
        r"^(?:Multiple (?:comparisons set|[\w ]+ specified)|Duplicate (?:'[^']*'|[\w.]+) modifier)",
        _says("write one of them"),
    ),
    (
        rf"^Special register argument not allowed for {_OF}",
        _says("{opcode} cannot read a special register such as %tid.x: move it to a register, and convert that"),
    ),
    (
        r"^Incompatible elements of vector|^Illegal vector size",
        _says("a vector must have as many registers as the instruction requires, all of the required size"),
    ),
    (rf"^Vector operand is not allowed for {_OF}", _says("write one register")),
    (rf"^Vector qualifier is not allowed for {_OF}", _says("remove .v2 or .v4: {opcode} has neither")),
    (
        r"^Result vector expected",
        _says(
            "write the result as a vector, with two registers in braces for .v2 and four for .v4, or remove .v2 or .v4"
        ),
    ),
    (r"^Argument vector size mismatch for instruction '(?P<instruction>[^']*)'", _vector_size),
    (
        r"^Argument [1-9]\d* of instruction '(?P<opcode>[^']*)': must be register",
        _says("load it into a register first: {opcode} cannot read parameters, variables or memory"),
    ),
    (rf"^Result register required for {_OF}", _says("the result must be a register")),
    (r"^Argument 0 of instruction '(?P<opcode>[^']*)': must be register", _says("the result must be a register")),
    (
        rf"^Operand negation not allowed for {_OF}|^Illegal argument to (?:unary minus|predicate negation)",
        _says("a register cannot be negated here: negate it with a separate instruction"),
    ),
    (r"^Constant overflow", _says("the integer is too large for every type; write a floating-point constant as 1.0")),
    (
        r"^Constant expression type mismatch",
        _says("an expression cannot mix floating-point constants and integers: write 1.0 + 1.0, not 1.0 + 1"),
    ),
    (r"^Unknown symbol '(?P<name>[^']*)'", _undeclared),
    (rf"^Video selector is not allowed on .* for {_OF}", _says("write the register alone")),
    (rf"^Predicate output not allowed for {_OF}", _says(_NO_SECOND)),
    (rf"^Predicate output expected for {_OF}", _second),
    (r"^Sink '_' not allowed as", _says("name a register")),
    (r"division by zero", _says("the assembler computes this constant and cannot divide by zero")),
    (r"^Unsupported cast", _says("only (.s64) and (.u64) may precede a constant")),
    (r"^Integer constant", _says("this operator accepts integers only: write 1, not 1.0")),
    (rf"^No state space qualifier expected for {_OF}", _says("remove the state space")),
    (rf"^Comparison qualifier is not allowed for {_OF}", _comparison),
    (
        r"^Mismatch between instruction type and comparison qualifier",
        _says("write a comparison that exists for this type"),
    ),
    (r"^Modifier '(?P<modifier>[^']*)' (?:applies only|does not apply) to", _says("remove {modifier}")),
    (
        r"^Instruction '[^']*' applies only to signed numeric types",
        lambda db, m: Meaning(
            "write the signed type of the same size: .s32 for .u32",
            ("the register stays as it is; the instruction then takes its bits as a signed number",),
        ),
    ),
)
