"""Files -> findings."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from pathlib import PurePath
from types import MappingProxyType
from typing import NamedTuple

from ..catalog.explaining import RECIPE, is_block, pair
from ..catalog.likeness import suggest
from ..catalog.names import UnknownTargetNameError, spelled
from ..diagnostics import PtxspecError, unknown
from ..ptx.complaints import ERROR, Complaint
from ..ptx.matching import count
from ..ptx.operands import UNKNOWN, Operand, Shape, split
from ..ptx.registers import Registers, special_names
from ..ptx.scanning import (
    HOLE,
    STATEMENT,
    STRANGER,
    Declaration,
    Directive,
    DirectiveWord,
    Instruction,
    Other,
    Problem,
    Scanner,
    View,
)
from ..query.database import Database, Variant
from . import others, traces
from .constraints import uses
from .declarations import Declarations
from .evidence import PtxEvidence, is_cuda, speaks_of_cuda
from .filling import filled, places, places_of_missing
from .findings import Finding, Mend
from .judging import ELSEWHERE, GUESS, NOT_OURS, InstructionJudge, misspelt
from .languages import EXTRACT, LANGUAGES, PTX, language_of
from .languages.programs import Calls
from .languages.text import Text, are_operands
from .languages.trees import UnreadProgramError
from .reading import Whole
from .statistics import InstructionCounts

# A recipe on a line, with the differences of its results.
_RECIPE = re.compile(rf"{RECIPE}(?P<ptx>.*[;}}])(?:, (?P<differs>.*))?")
_SEMICOLON = re.compile(r"\s*;")
# The most earlier parts that are read of a text that is built step by step.
_MOST_ADDED = 20
# No other machine's assembly declares registers with types.
_TYPED = re.compile(rf"\.reg\s+\.{traces.TYPE}\b")


class _Module:
    """The state of one module: the target and PTX version that the text has stated so far, or those of the options.
    `wrong_header`: an error in its header was reported, and the header has not ended. `is_ptx`: something in it is
    certainly PTX. `statement` is the start of the last statement, and `number` counts the statements of all texts.
    `uses`: how often an asm statement names each of its operands; `free`: the kinds of those that it does not use."""

    def __init__(self, target: str | None, ptx: str | None, registers: Registers, text: str) -> None:
        self.labels = others.Labels(text)
        self.target, self.ptx, self.registers = target, ptx, registers
        self.wrong_header = self.is_ptx = False
        self.statement, self.number = -1, 0
        self.uses: Counter[int] = Counter()
        self.free: frozenset[str] = frozenset()


def language(path: PurePath, endings: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the language of a file by its suffix; `endings` are a project's own. Raises PtxspecError for an unknown
    one."""
    found = language_of(path.name, endings)
    if found is None:
        known = " ".join(filter(None, LANGUAGES))
        raise PtxspecError(f"{path}: supported suffixes: {known}; `-` is PTX on standard input")
    return found


def _added_to(text: Text) -> Iterator[Text]:
    """Yield the texts to which one is appended, the last one first."""
    before = text.before
    while before is not None:
        yield before
        before = before.before


def texts(program: str, file: str, language: str, calls: Calls = ()) -> Iterator[Text]:
    """Yield the texts of a program that may be PTX; `calls` are the project's own that take PTX. Raises PtxspecError
    for an unknown language, and if the program cannot be read."""
    extract = EXTRACT.get(language)
    if extract is None:
        raise PtxspecError(unknown("language", language, (PTX, *EXTRACT)))
    if traces.has(program):
        try:
            yield from extract(Whole(program), calls)
        except UnreadProgramError as e:
            raise PtxspecError(f"{file}: {e}") from None


class Met(NamedTuple):
    """A spelling that exists, from `start` to `end` of the file; with None, a directive that changes the target or the
    PTX version for what follows."""

    start: int
    end: int
    variant: Variant | None
    target: str | None
    ptx: str | None


class Linter:
    """A linter with one database, for a target and a PTX version. `forced`: these replace the statements of modules.
    `met`, if it is a list, receives other facts about the texts. Raises PtxspecError if the target or the PTX version
    is unknown, or that version does not know that target."""

    def __init__(self, db: Database, target: str | None = None, ptx: str | None = None, forced: bool = True) -> None:
        self.db = db
        self.target = db.target(target) if target is not None else None
        self.ptx = db.ptx_version(ptx) if ptx is not None else None
        if impossible := pair(db, self.target, self.ptx):
            raise PtxspecError(impossible.message)
        # These replace a module's own target and version.
        self._instead = (self.target, self.ptx) if forced else (None, None)
        assembler = db.data["assembler"]
        self._options = frozenset(assembler["target_options"])
        self._specials = others.Specials(db)
        self._special = special_names(db.special_registers.values(), assembler["named_integers"])
        self.tally = InstructionCounts()
        self.met: list[Met] | None = None
        self._numbers = itertools.count()
        self.judge = InstructionJudge(db)
        self._opcodes = self.judge.matrices.opcodes.union(db.opcodes)
        self._others = frozenset(db.other_opcodes)
        self._declarations = Declarations(db)

    def lint(self, text: str, file: str, language: str = PTX) -> Iterator[Finding]:
        """Yield the findings in one text. Raises PtxspecError if it cannot be read."""
        if language == PTX:
            module = _Module(self.target, self.ptx, Registers(self._special), text)
            yield from self._module(self._scanner(), Whole(text), module, file)
        else:
            yield from self.lint_texts(texts(text, file, language), text, file)

    def lint_texts(self, found: Iterable[Text], program: str, file: str) -> Iterator[Finding]:
        """Yield the findings in the texts of a program. Raises PtxspecError if it cannot be read."""
        certain, likely = is_cuda(file), speaks_of_cuda(program)
        every = [(text.outside(0), self._embedded(text, file, certain, likely)) for text in found]
        # A call may precede a string in it that was found first.
        for _, findings in sorted((e for e in every if e[1]), key=itemgetter(0)):
            yield from findings

    def _module(self, scanner: Scanner, view: View, module: _Module, file: str) -> Iterator[Finding]:
        for item in scanner.scan(view):
            if isinstance(item, Instruction):
                module.wrong_header = False
                one, more = self._instruction(item, view, module, file)
                self._count(item.head, one)
                yield from more
            elif isinstance(item, Declaration):
                module.wrong_header = False
                yield from (_problem(p, view, module, file) for p in self._declared(item, module.registers))
            elif isinstance(item, Directive):
                for f in self._directive(item, view, module, file):
                    module.wrong_header = True
                    yield f
                if self.met is not None:
                    self._meet(item.start, item.start + 1, None, view, module)
            elif isinstance(item, Other):
                yield from self._other(item, view, module, file)
            elif isinstance(item, Problem) and not module.wrong_header:
                # Errors that follow from a wrong header are not reported.
                module.wrong_header = item.header
                yield _problem(item, view, module, file)

    def _embedded(self, text: Text, file: str, certain: bool, likely: bool) -> list[Finding]:
        """Return the findings in a program's string. It may contain other machines' assembly: nothing is reported
        without evidence of PTX. Unreadable text, and instructions without any PTX name, are only reported beside an
        instruction of the database, and in prose only if they are about it."""
        registers = Registers(self._special, text.constraints, text.whole)
        # Current compilers write a module around it.
        module = _Module(self.target, self.ptx or self.db.catalog.newest_version, registers, text.text)
        module.uses = uses(text.text) if text.constraints else Counter()
        module.free = frozenset(f'"{c}"' for i, c in enumerate(text.constraints) if c and i not in module.uses)
        found: list[Finding] = []
        doubtful: list[Finding] = []
        beside = False
        evidence = PtxEvidence(self.db, text.text, text.constraints, certain or text.named, likely)
        for part in reversed(list(itertools.islice(_added_to(text), _MOST_ADDED))):
            for item in self._scanner(embedded=True).scan(part):
                if isinstance(item, Declaration):
                    registers.take(self._declarations.mended(item.text))
                    evidence.certain |= item.text is not None and _TYPED.match(item.text) is not None
        for item in self._scanner(embedded=True).scan(text):
            if isinstance(item, Instruction):
                # Operands have no quotation marks: those belong to a command that is given PTX.
                if "'" in item.operands or (text.prose and not are_operands(item.operands)):
                    continue
                one, more = self._instruction(item, text, module, file)
                self._count(item.head, one)
                evidence.statement(item.head, item.operands, item.operands_start + len(item.operands), one)
                beside = one
                found += more
                # What was said of another instruction, such as a vector's mov, is not said again.
                if not one and not more and not text.prose:
                    # Beside certain PTX it is not another machine's.
                    is_ptx = module.is_ptx
                    doubtful += self._instruction(item, text, module, file, lenient=False)[1]
                    module.is_ptx = is_ptx
            elif isinstance(item, Declaration):
                found += [_problem(p, text, module, file) for p in self._declared(item, registers, text.before is None)]
                typed = item.text is not None and _TYPED.match(item.text) is not None
                module.is_ptx |= typed
                evidence.certain |= typed
            elif isinstance(item, Directive):
                evidence.header([value.text for value in item.values])
                found += self._directive(item, text, module, file)
            elif isinstance(item, Other) and (text.named or not text.prose):
                if item.kind == STRANGER:
                    evidence.stranger(item.start, item.text)
                # Other machines' opcodes may end in letters and digits, as PTX's types do.
                (found if "." in item.text else doubtful).extend(self._other(item, text, module, file))
            elif isinstance(item, Problem) and ((beside and not item.stray) or not text.prose):
                doubtful.append(_problem(item, text, module, file))
                beside = False
        if not evidence.certain:
            return []
        return sorted(found + doubtful, key=lambda f: (f.line, f.column)) if module.is_ptx else found

    def _declared(self, item: Declaration, registers: Registers, alone: bool = True) -> list[Problem]:
        """Record a declaration, and return the errors in it. Of texts that are not `alone`, a program may append either
        one."""
        found = [*self._declarations.problems(item)]
        found += self._declarations.repeated(item, registers) if alone else ()
        registers.take(self._declarations.mended(item.text))
        return found

    def _other(self, item: Other, view: View, module: _Module, file: str) -> Iterator[Finding]:
        """Yield the findings about a statement that is not in the database."""
        if item.kind == STRANGER or (item.kind == STATEMENT and self.tally.everything):
            self._count(item.text, False, view.embedded)
        if item.kind == STRANGER:
            yield from self._stranger(item, view, module, file)
        elif item.kind == STATEMENT:
            module.statement, module.number = item.statement, next(self._numbers)
            problems = [
                *self._around(item, view, module),
                *others.names(item, module.registers, module.labels, self.db.outside),
            ]
            problems = problems or self._of_any(item, module)
            yield from (_problem(p._replace(statement=item.statement), view, module, file) for p in problems)

    def _of_any(self, item: Instruction | Other, module: _Module) -> list[Problem]:
        """Return the errors in the operands of a statement that is not in the database."""
        found = [*others.places(item, module.registers)]
        return found or [*others.lengths(item, module.registers, self.db.outside)]

    def _around(self, item: Instruction | Other, view: View, module: _Module) -> list[Problem]:
        """Return the errors in a statement that do not depend on its instruction: in its guard, and in the special
        registers that it reads."""
        found = self._guard(item, view, module)
        for text, start in (
            (view.text[item.statement : item.start], item.statement),
            (item.operands, item.operands_start),
        ):
            if "%" in text:
                found += self._specials.problems(text, start, module.registers, module.target, module.ptx)
        return [p._replace(statement=item.statement) for p in found]

    def _guard(self, item: Instruction | Other, view: View, module: _Module) -> list[Problem]:
        if item.start == item.statement:
            return []
        problem = others.guard(view.text, item.statement, module.registers, module.labels)
        return [problem] if problem else []

    def _stranger(self, item: Other, view: View, module: _Module, file: str) -> Iterator[Finding]:
        """Yield the finding about an unknown opcode if one in the database was meant."""
        head = "".join(item.text.split())
        opcode, _, names = head.partition(".")
        meant = misspelt(self.db, opcode, names.split("."), module.target, module.ptx)
        if meant is not None:
            place = view.place(item.start)
            help = f"did you mean '{meant}'?" if meant else "PTX has no instruction for this function"
            message = f"unknown opcode '{opcode}'"
            where = (file, place.line, place.column, ERROR, "unknown-opcode", message, head, help)
            mend = _mend(view, item.start, item.start + len(opcode), meant, GUESS) if meant else None
            yield Finding(*where, length=len(opcode), source=place.source, at=place.at, mend=mend)

    def _instruction(
        self, item: Instruction, view: View, module: _Module, file: str, lenient: bool | None = None
    ) -> tuple[bool, list[Finding]]:
        """Return whether an instruction is in the database, and its errors. `lenient`: an instruction without any PTX
        name is another machine's."""
        module.statement, module.number = item.statement, next(self._numbers)
        if item.plain >= 0:
            head: str = item.head
            shapes: tuple[Shape, ...] | None = module.registers.kinds(item.operands)
            operands: list[Operand] = []
        else:
            head = "".join(item.head.split())
            operands = [module.registers.known(o) for o in split(item.operands)]
            # A placeholder may be several operands, or none.
            is_known = not (view.embedded and any(o.kind == UNKNOWN for o in operands))
            shapes = tuple(o.shape for o in operands) if is_known else None
        opcode, dot, names = head.partition(".")
        known = opcode if opcode in self._opcodes else opcode.lower()
        lenient = view.embedded if lenient is None else lenient
        judgement = self.judge.judge(known + dot + names, shapes, module.target, module.ptx, lenient, module.free)
        module.is_ptx |= judgement is not NOT_OURS
        if self.met is not None and judgement.found is not None:
            self._meet(item.start, item.start + len(item.head), judgement.found, view, module)
        if judgement is NOT_OURS:
            return False, []
        found = [_problem(p, view, module, file) for p in self._around(item, view, module)]
        if judgement is ELSEWHERE:
            return False, found or [_problem(p, view, module, file) for p in self._of_any(item, module)]
        if known != opcode:
            message = f"unknown opcode '{opcode}'; opcodes are written in lower case"
            right = f"{known}{dot}{names}"
            complaint = Complaint(ERROR, "unknown-opcode", message, f"write {right}")
            f = _instruction_finding(item, operands, view, file, complaint, head, module.number)
            return True, [*found, f._replace(mend=_mend(view, item.start, item.start + len(item.head), right, ""))]
        if item.plain >= 0 and not judgement.complaints:
            return True, found
        complaints = _agreeing([_alone(c, item, module) for c in judgement.complaints], item)
        if opcode in self.judge.matrices.opcodes and judgement.variant and operands and shapes is not None:
            complaints += self.judge.matrices.chosen(judgement.variant, operands)
        if item.plain < 0 and (apart := self.judge.apart(item.head)):
            complaints = [apart]
        variant = judgement.variant or head
        # One change may fix many complaints about a long spelling.
        mends = {
            (write, doubt): _mend(view, item.start, item.start + len(item.head), write, doubt)
            for write, doubt in {(c.write, c.doubt) for c in complaints if c.write}
        }
        for c in complaints:
            f = _instruction_finding(item, operands, view, file, c, variant, module.number)
            f = f._replace(mend=mends.get((c.write, c.doubt)))
            if c.help.startswith(RECIPE):
                f = self._with_registers(f, item, opcode, names, view, module)
            found.append(f)
        return True, found

    def _scanner(self, embedded: bool = False) -> Scanner:
        return Scanner(self._opcodes, embedded, everything=self.tally.everything, others=self._others)

    def _count(self, head: str, ours: bool, embedded: bool = False) -> None:
        """Count an instruction, in the database or not. In a program's strings, those of other machines have no
        types."""
        opcode, dot, _ = head.partition(".")
        if dot or not embedded:
            name = opcode.split(maxsplit=1)[0].lower().replace(HOLE, "{}")
            (self.tally.judged if ours else self.tally.outside)[name] += 1

    def _meet(self, start: int, end: int, variant: Variant | None, view: View, module: _Module) -> None:
        if isinstance(view, Text):
            start, end = view.outside(start), view.outside(end - 1) + 1
        assert self.met is not None
        self.met.append(Met(start, end, variant, module.target, module.ptx))

    def _with_registers(
        self, f: Finding, item: Instruction, opcode: str, names: str, view: View, module: _Module
    ) -> Finding:
        """Return a finding whose recipe names the registers of the statement, so that it can replace the statement."""
        operands = [module.registers.known(o) for o in split(item.operands)]
        spelled = names.split(".")
        v = self.db.find(opcode, spelled, count([o.shape for o in operands]))
        registers = places(v, operands) if v is not None else places_of_missing(self.db, opcode, spelled)
        guarded = is_block(f.help) and view.text.startswith("@", item.statement)
        around = "; a block cannot have a guard: branch around it" if guarded else ""
        help = filled(f.help, self.db, registers, operands, view.embedded)
        mend, recipe = None, _RECIPE.fullmatch(help)
        if recipe and not guarded and help != f.help:
            end = item.operands_start + len(item.operands)
            if semicolon := _SEMICOLON.match(view.text, end):
                end = semicolon.end()
            mend = _mend(view, item.start, end, recipe["ptx"], recipe["differs"] or "")
        return f._replace(help=(view.written(help) if isinstance(view, Text) else help) + around, mend=mend)

    def _directive(self, item: Directive, view: View, module: _Module, file: str) -> Iterator[Finding]:
        def finding(about: DirectiveWord, code: str, message: str, help: str) -> Finding:
            place = view.place(about.start)
            length = len(about.text)
            return Finding(
                file, place.line, place.column, ERROR, code, message, None, help, length, place.source, place.at
            )

        self.tally.headers += 1
        target, version = self._instead
        itself = DirectiveWord(item.start, f".{item.name}")
        if not item.values:
            yield finding(itself, "syntax", f"{itself.text} has no value", "as in .version 8.0 and .target sm_90")
        holes = any(HOLE in value.text for value in item.values)
        if item.name == "version":
            ptx = None
            for value in () if holes else item.values:
                ptx = _version(value.text)
                if ptx not in self.db.versions:
                    first, *_, last = self.db.versions
                    help = suggest(ptx, self.db.versions) or f"known: {first} to {last}"
                    yield finding(value, "unknown-ptx", f"there is no PTX version {value.text}", help)
                    ptx = None
                    break
            if version is None:
                module.ptx = ptx
        else:
            # Of several targets the last one counts.
            targets: list[str | None] = []
            for i, value in enumerate(() if holes else item.values):
                if i and value.text in self._options:
                    continue
                try:
                    targets.append(spelled(self.db, _target(value.text)))
                except UnknownTargetNameError:
                    help = suggest(value.text, self.db.targets) or f"as in {next(reversed(self.db.targets))}"
                    yield finding(value, "unknown-target", f"there is no target {value.text}", help)
                    targets.append(None)
            if target is None:
                module.target = targets[-1] if targets else None
        # The header is complete when the file has stated everything that the options do not.
        last = "target" if target is None else "version"
        if item.name != last or module.target is None or module.ptx is None or (target and version):
            return
        floor = self.db.targets[module.target].ptx
        if not self.db.catalog.knows(module.target, module.ptx):
            message = f"PTX {module.ptx} does not support {module.target}"
            yield finding(item.values[-1], "target-unknown", message, f"write .version {floor} or newer")
            # Further errors would only follow from this one.
            if version is None:
                module.ptx = None


def _version(text: str) -> str:
    """Return a PTX version as the database writes it: the assembler reads 08.00 as 8.0."""
    match = re.fullmatch(r"0*(\d+)\.(?=\d)(\d*?)0*", text)
    return f"{match[1]}.{match[2] or 0}" if match else text


def _target(text: str) -> str:
    """Return a target as the database writes it: the assembler reads sm_090A as sm_90a."""
    match = re.fullmatch(r"(sm|compute)_0*(\d+[afAF]?)", text)
    return f"{match[1]}_{match[2].lower()}" if match else text


def _alone(c: Complaint, item: Instruction, module: _Module) -> Complaint:
    """Return a complaint about an operand of an asm statement. It has no help where other statements use the operand
    too: the constraint may be right for them."""
    if c.code != "illegal-register" or not module.uses:
        return c
    here = uses(item.operands)
    (number,) = uses(_about(c, list(split(item.operands))).text) or (-1,)
    return c._replace(help="") if here[number] < module.uses[number] else c


def _agreeing(complaints: list[Complaint], item: Instruction) -> list[Complaint]:
    """Return complaints without help where two of them fix one operand in different ways."""
    if len(complaints) < 2:
        return complaints
    operands = list(split(item.operands))
    helps: dict[str, set[str]] = {}
    for c in complaints:
        if c.code == "illegal-register":
            helps.setdefault(_about(c, operands).text, set()).add(c.help)
    return [
        c._replace(help="") if c.code == "illegal-register" and len(helps[_about(c, operands).text]) > 1 else c
        for c in complaints
    ]


def _about(c: Complaint, operands: Sequence[Operand]) -> Operand:
    """Return the operand that a complaint is about, or the part of one."""
    operand = operands[c.operand]
    return operand.parts[c.part] if c.part >= 0 else operand


@lru_cache(maxsize=1)
def _names(head: str) -> list[tuple[int, int]]:
    """Return the spans of the names behind the opcode, each with its dot: the same for all complaints of a
    statement."""
    return [m.span() for m in re.finditer(r"\.[\w:]*", head)]


def _instruction_finding(
    item: Instruction, operands: list[Operand], view: View, file: str, c: Complaint, variant: str, number: int
) -> Finding:
    start, length, message, named = item.start, len(item.head), c.message, False
    if c.name >= 0:
        names = _names(item.head)
        if c.name < len(names):
            first, last = names[c.name]
            start, length = item.start + first, last - first
    elif c.operand >= 0:
        operand = _about(c, operands or list(split(item.operands)))
        message, named = message.replace("{operand}", operand.text), message.startswith("{operand}")
        start, length = item.operands_start + operand.start, len(operand.text)
    place = view.place(start)
    return Finding(
        file=file,
        line=place.line,
        column=place.column,
        severity=c.severity,
        code=c.code,
        message=message,
        variant=variant,
        help=c.help,
        length=length,
        source=place.source,
        at=place.at,
        requires=c.requires,
        operand=operand.text if named else "",
        statement=number,
    )


def _mend(view: View, start: int, end: int, new: str, doubt: str) -> Mend:
    """Return the change of a file that replaces the text between two offsets by PTX."""
    old = view.text[start:end]
    if not isinstance(view, Text):
        return Mend(start, end, old, new, doubt)
    return Mend(view.outside(start), view.outside(end - 1) + 1, view.written(old), view.written(new), doubt)


def _problem(item: Problem, view: View, module: _Module, file: str) -> Finding:
    place = item.place or view.place(item.start)
    return Finding(
        file,
        place.line,
        place.column,
        ERROR,
        item.code,
        item.message,
        None,
        item.help,
        item.length,
        place.source,
        place.at,
        statement=module.number if item.statement is not None and item.statement == module.statement else None,
    )
