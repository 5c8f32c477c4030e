"""A log of ptxas in other words: what each instruction that it refuses needs, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..catalog import Asked, PtxVersion, Requirement, may_be_advised
from ..diagnostics import PtxspecError, nearest, suggest
from ..lint.findings import ERROR, Finding
from ..lint.linter import Linter
from ..lint.windows import read
from ..query.database import Database, Variant, names_of

# It calls itself by the name that it was started by: Triton has a ptxas-blackwell.
_MESSAGE = re.compile(
    r"\bptxas[\w.-]* (?:(?P<file>.+?), line (?P<line>\d+); )?(?P<severity>error|fatal)\s*: (?P<text>.*?)\s*$",
    re.MULTILINE,
)
_ABORTED = "aborted due to errors"
_SHOWN = 4


class Message(NamedTuple):
    """What ptxas said, of one instruction where the file could be read, and the places where it said so."""

    text: str
    found: tuple[Finding, ...]
    places: tuple[tuple[str, int], ...]


def messages(db: Database, log: Iterable[str]) -> list[Message]:
    """The distinct messages of a log, in its order."""
    sources: dict[str, dict[int, list[Finding]]] = {}
    grouped: dict[tuple[str, str], tuple[tuple[Finding, ...], list[tuple[str, int]]]] = {}
    for line in log:
        m = _MESSAGE.search(line)
        if m is None or _ABORTED in m["text"]:
            continue
        found: tuple[Finding, ...] = ()
        place = None
        if m["file"]:
            if m["file"] not in sources:
                sources[m["file"]] = _findings(db, Path(m["file"]))
            place = (m["file"], int(m["line"]))
            found = tuple(sources[m["file"]].get(place[1], ()))
        said = "\n".join(f.message for f in found)
        places = grouped.setdefault((m["text"], said), (found, []))[1]
        if place and place not in places:
            places.append(place)
    return [Message(text, found, tuple(places)) for (text, _), (found, places) in grouped.items()]


def _findings(db: Database, path: Path) -> dict[int, list[Finding]]:
    """The errors that lint finds in a file, by line. Compilers delete the files that they give to ptxas."""
    by_line: dict[int, list[Finding]] = {}
    try:
        for f in Linter(db).lint(read(path), str(path)):
            if f.severity == ERROR:
                by_line.setdefault(f.line, []).append(f)
    except PtxspecError:
        return {}
    return by_line


def explain(db: Database, log: Iterable[str]) -> Iterator[str]:
    """Lines of text: each distinct message, where it is given, what it means and the way out."""
    told: list[list[str]] = []
    for c in messages(db, log):
        yield f"ptxas: {c.text}{_places(c.places)}"
        lines: list[str] = []
        for f in c.found:
            lines += [f.message, *([f.help] if f.help else [])]
            if f.requires is not None:
                lines.append(_needs(db, f.requires))
        lines = list(dict.fromkeys(lines))
        if not lines or lines in told:
            # Of one instruction ptxas may complain twice, and what was said of it need not be about the second.
            lines = _meaning(db, c.text) or lines or ["the instructions of this database are not what this is about"]
        else:
            told.append(lines)
        for line in lines:
            yield f"    {line}"
        yield ""


def _places(places: tuple[tuple[str, int], ...]) -> str:
    if not places:
        return ""
    shown = ", ".join(f"{file}:{line}" for file, line in places[:_SHOWN])
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"\n  at {shown}{more}"


def _needs(db: Database, r: Requirement) -> str:
    if r.on:
        text = f"it needs {db.catalog.on_text(r)}"
    else:
        text = f"it needs .target {r.target} or newer, and .version {db.versions[r.ptx]} or newer"
    return text + (f", {r.until} at the latest" if r.until else "")


# What a message means by itself, where the instruction is not known. A quoted name is an opcode, or one with modifiers.


def _meaning(db: Database, text: str) -> list[str]:
    for pattern, tell in _FORMS:
        m = pattern.search(text)
        if m:
            return tell(db, m)
    return []


def _target_floor(db: Database, m: re.Match[str]) -> list[str]:
    name, target = m["name"], m["target"]
    lines = [f"{name} came with {target}: compile for {target} or newer (-arch={target}; .target {target} in PTX)"]
    known = db.targets.get(target)
    if known:
        meant = _meant(db, name)
        floors = [v.requires.ptx for v in meant if v.requires.target == target] or [v.requires.ptx for v in meant]
        oldest = min((db.versions[f] for f in floors), key=_order, default=db.versions[known.ptx])
        lines.append(f"there it needs .version {max(oldest, db.versions[known.ptx], key=_order)} or newer")
    return lines


def _unsupported(db: Database, m: re.Match[str]) -> list[str]:
    """Of what few targets have ptxas does not say which."""
    name, target = m["name"], m["target"]
    named = db.types.intersection(re.findall(r"\w+", name))
    needs = dict.fromkeys(v.requires for v in _meant(db, name) if named.issubset(v.types))
    refusals = [f for r in needs if target in db.targets for f in db.catalog.refusals(r, target)]
    bounds = dict.fromkeys(f.bound for f in refusals if f.code == "target-specific")
    return [f"{target} does not have {name}: it needs {bound}" for bound in bounds][:_SHOWN]


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
    return [
        v
        for v in db.variants
        if (not opcodes or v.opcode in opcodes)
        and modifiers <= v.modifiers
        and (not types or not types.isdisjoint(v.types))
        and (count is None or v.operands == int(count[1]))
    ]


def _ptx_floor(db: Database, m: re.Match[str]) -> list[str]:
    version = m["version"]
    return [f"{m['name']} came with PTX {version}: write .version {db.versions.get(version, version)} or newer"]


def _spelled(name: str) -> tuple[str, list[str]]:
    opcode, *names = name.strip("'").split(".")
    return opcode, names


def _offer(db: Database, instruction: str, wanted: frozenset[str] = frozenset()) -> list[str]:
    """The spellings of an instruction that have some names, as far as one wants to read them. The message names seldom
    all that was written."""
    opcode, names = _spelled(instruction)
    if opcode not in db.opcodes:
        return [f"{opcode} is not in this database"]
    modifiers, types = db.split(names)
    form = ".".join((opcode, *types))
    typed = [v for v in db.opcodes[opcode].variants if v.types == types or not types]
    asked = Asked(types, wanted.union(modifiers), None, complete=False)
    found = list(dict.fromkeys(v.spelling for v in typed if may_be_advised(v, asked._replace(types=v.types))))
    if found:
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        keeping = "" if types else "with the types and modifiers that you have, "
        return [f"{keeping}write one of {', '.join(found[:8])}{more}"]
    if any(wanted <= v.modifiers for v in typed):
        return [f"the manual has no {form} with all of this"]
    has = dict.fromkeys(n for n in names_of(typed) if n in db.modifiers)
    listed = ", ".join(f".{n}" for n in has) or "no modifiers"
    return [f"no {form} has {' and '.join('.' + n for n in sorted(wanted))}; it has {listed}"]


def _illegal(db: Database, m: re.Match[str]) -> list[str]:
    return _offer(db, m["opcode"], frozenset([m["modifier"].strip("'.")]))


def _required_one(db: Database, m: re.Match[str]) -> list[str]:
    return _offer(db, m["opcode"])


def _boolean(db: Database, m: re.Match[str]) -> list[str]:
    opcode, _ = _spelled(m["opcode"])
    of = db.opcodes[opcode].variants if opcode in db.opcodes else ()
    predicates = {name for name, about in db.data["types"].items() if about["kind"] == "bool"}
    found = [v for v in of if v.advisable and any(s.type in predicates for s in v.sources)]
    example = f", as in {found[0].spelling} {found[0].places}" if found else ""
    return [f"a modifier says what is done with the predicate behind the operands{example}"]


def _required(db: Database, m: re.Match[str]) -> list[str]:
    return [f"{m['modifier']} must be written", *_offer(db, m["opcode"], frozenset([m["modifier"].strip("'.")]))]


def _companion(db: Database, m: re.Match[str]) -> list[str]:
    both = frozenset(n.strip("'.") for n in (m["one"], m["other"]))
    found = [v.spelling for v in db.variants if both <= v.modifiers and v.advisable]
    return [f"write both, as in {found[0]}" if found else "write both"]


def _excluding(db: Database, m: re.Match[str]) -> list[str]:
    return [f"write one of the two, '{m['one'].strip(chr(39))}' or '{m['other'].strip(chr(39))}'"]


def _unknown(db: Database, m: re.Match[str]) -> list[str]:
    name = m["modifier"].strip("'.")
    leading = db.data["assembler"]["leading"]
    if name in leading:
        found = [v.spelling for v in db.variants if name in v.modifiers and v.advisable]
        return [f".{name} must follow the opcode at once, as in {found[0]}"] if found else []
    known = [*db.data["modifiers"], *db.data["types"]]
    return [suggest(name, known, ".") if nearest(name, known) else f"no instruction of this database has .{name}"]


def _types(db: Database, m: re.Match[str]) -> list[str]:
    opcode, _ = _spelled(m["opcode"])
    if opcode not in db.opcodes:
        return [f"{opcode} is not in this database"]
    types = [".".join(t) for t in db.opcodes[opcode].types]
    return [f"of the floating-point types {opcode} has {', '.join('.' + t for t in types)}; write one of them, once"]


def _arguments(db: Database, m: re.Match[str]) -> list[str]:
    opcode, _ = _spelled(m["opcode"])
    if opcode not in db.opcodes:
        return [f"{opcode} is not in this database"]
    variants = sorted(db.opcodes[opcode].variants, key=lambda v: v.operands)
    operands = " or ".join(dict.fromkeys(v.places for v in variants))
    constants = db.data["assembler"]["constants"]
    floats = [t for t, taken in constants.items() if "double" in taken]
    types = [t for t in floats if any(t in types for types in db.opcodes[opcode].types)]
    lines = [f"the operands are {operands}, in registers of their types"]
    if types:
        lines.append(f"constants are taken for {', '.join('.' + t for t in types)} only, written as 1.0 and not as 1")
    return lines


def _pair(db: Database, m: re.Match[str]) -> list[str]:
    known = db.targets.get(m["target"])
    return [f"write .version {db.versions[known.ptx]} or newer, or an older .target"] if known else []


def _no_version(db: Database, m: re.Match[str]) -> list[str]:
    first, *_, last = db.versions
    return [suggest(m["version"], db.versions) or f"there are {first} to {last}", "a newer ptxas may know it"]


def _no_target(db: Database, m: re.Match[str]) -> list[str]:
    return [suggest(m["target"], db.targets) or f"as in {db.catalog.newest_target}"]


def _no_gpu(db: Database, m: re.Match[str]) -> list[str]:
    known = db.targets.get(m["target"])
    if known:
        return [f"{known.name} came with PTX {db.versions[known.ptx]}: this ptxas is older, or has dropped it"]
    near = suggest(m["target"], db.targets) or f"the newest is {db.catalog.newest_target}"
    return [f"-arch names a GPU that is not known; {near}"]


def _no_instruction(db: Database, m: re.Match[str]) -> list[str]:
    name = m["name"]
    if name.lower() in db.opcodes:
        return [f"opcodes are written in lower case: {name.lower()}"]
    return [suggest(name, db.opcodes) if nearest(name, db.opcodes) else f"no instruction of this database is {name}"]


def _no_header(db: Database, m: re.Match[str]) -> list[str]:
    version, target = db.catalog.newest_version, db.catalog.newest_target
    return [f"a file begins with .version and .target, as in `.version {version}` and `.target {target}`"]


def _unreadable(db: Database, m: re.Match[str]) -> list[str]:
    return [
        f"usually the statement before {m['near']} lacks its semicolon, or a comma",
        _STOPPED,
    ]


def _says(text: str) -> _Tell:
    return lambda db, m: [text]


_Tell = Callable[[Database, re.Match[str]], list[str]]
_STOPPED = "ptxas stops here: what follows was not judged; `ptxspec lint` judges it"
_FORMS: tuple[tuple[re.Pattern[str], _Tell], ...] = tuple(
    (re.compile(pattern), tell)
    for pattern, tell in (
        (r"(?P<name>'[^']*') requires \.target (?P<target>\w+) or higher", _target_floor),
        (r"(?:Feature|Instruction) (?P<name>'[^']*') not supported on \.target '(?P<target>\w+)'", _unsupported),
        (r"(?P<name>'[^']*') requires PTX ISA \.version (?P<version>[\d.]+) or later", _ptx_floor),
        (r"Illegal modifier (?P<modifier>'[^']*') for instruction (?P<opcode>'[^']*')", _illegal),
        (r"Illegal rounding modifier for instruction (?P<opcode>'[^']*')", _required_one),
        (
            r"(?:Rounding modifier (?:or '[^']*' modifier )?|Comparison modifier )"
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
        (r"Unsupported \.version (?P<version>[\d.]+)", _no_version),
        (r"Unsupported \.target '(?P<target>[^']*)'", _no_target),
        (r"Value '(?P<target>[^']*)' is not defined for option 'gpu-name'", _no_gpu),
        (r"Not a name of any known instruction: '(?P<name>[^']*)'", _no_instruction),
        (r"Missing \.(?:target|version) directive", _no_header),
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
            lambda db, m: [f"declare it before, in this block or around it, as in `.reg .f32 {m['name']};`"],
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
)
