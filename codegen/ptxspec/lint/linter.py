"""Files in, findings out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ..database import Database
from ..diagnostics import PtxspecError, suggest
from . import embedded
from .findings import ERROR, Finding
from .judging import NOT_OURS, Complaint, Judge, Shape
from .operands import Operand, split
from .registers import Registers, special_registers
from .scanning import HOLE, Declaration, Directive, Instruction, Item, Problem, Scanner, View
from .windows import windows

PTX, CPP, PYTHON = "ptx", "c++", "python"
LANGUAGES = {
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"), CPP),
    **dict.fromkeys((".py", ".pyi"), PYTHON),
}
_EXTRACT: dict[str, Callable[[View], Iterator[embedded.Text]]] = {CPP: embedded.cpp, PYTHON: embedded.python}


class _Module:
    """What the text says of itself so far, or what the options say instead of the target and the PTX version."""

    def __init__(self, target: str | None, ptx: str | None, registers: Registers) -> None:
        self.target, self.ptx, self.registers = target, ptx, registers


class Linter:
    """Judges files with one database. `target` and `ptx` take the place of what the files say."""

    def __init__(self, db: Database, target: str | None = None, ptx: str | None = None) -> None:
        self.db = db
        self.target = db.target(target) if target is not None else None
        self.ptx = db.ptx_version(ptx) if ptx is not None else None
        self._special = special_registers(db.data["assembler"]["special_registers"])
        self.judge = Judge(db, pairs=self.target is not None and self.ptx is not None)

    def lint(self, chunks: Iterable[str], file: str, language: str = PTX) -> Iterator[Finding]:
        """The findings in one text, which comes in pieces of any size."""
        if language == PTX:
            module = _Module(self.target, self.ptx, Registers(self._special))
            scanner = Scanner(self.db.opcodes)
            for window in windows(chunks):
                for item in scanner.scan(window):
                    yield from self._findings(item, window, module, file)
            return
        extract = _EXTRACT[language]
        for window in windows(chunks):
            for text in extract(window):
                registers = Registers(self._special, text.constraints, HOLE not in text.text)
                module = _Module(self.target, self.ptx, registers)
                for item in Scanner(self.db.opcodes, embedded=True).scan(text):
                    yield from self._findings(item, text, module, file)

    def _findings(self, item: Item, view: View, module: _Module, file: str) -> Iterator[Finding]:
        if isinstance(item, Instruction):
            if item.plain >= 0:
                head: str = item.head
                shape: Shape | None = module.registers.kinds(item.operands)
                operands: list[Operand] = []
            else:
                head = "".join(item.head.split())
                operands = [module.registers.known(o) for o in split(item.operands)]
                shape = embedded.shape([o.kind for o in operands]) if view.embedded else tuple(o.kind for o in operands)
            judgement = self.judge.judge(head, shape, module.target, module.ptx, view.embedded)
            for c in judgement.complaints:
                yield _instruction_finding(item, operands, view, file, c, judgement.variant or head)
            if not item.ended and judgement is not NOT_OURS:
                place = view.place(item.start)
                yield Finding(
                    file, place.line, place.column, ERROR, "syntax", "a semicolon is missing behind this instruction",
                    judgement.variant or head, "end it by ;", len(item.head), place.source, place.at,
                )  # fmt: skip
        elif isinstance(item, Declaration):
            module.registers.take(item.text)
        elif isinstance(item, Directive):
            yield from self._directive(item, view, module, file)
        else:
            yield _problem(item, view, file)

    def _directive(self, item: Directive, view: View, module: _Module, file: str) -> Iterator[Finding]:
        def finding(code: str, message: str, help: str) -> Finding:
            place = view.place(item.value_start)
            length = len(item.value)
            return Finding(
                file, place.line, place.column, ERROR, code, message, None, help, length, place.source, place.at
            )

        if item.name == "version":
            ptx = _version(item.value)
            known = ptx in self.db.ptx
            if not known:
                first, *_, last = self.db.ptx
                help = suggest(ptx, self.db.ptx) or f"known: {first} to {last}"
                yield finding("unknown-ptx", f"there is no PTX version {item.value}", help)
            if self.ptx is None:
                module.ptx = ptx if known else None
        else:
            try:
                target = self.db.target(_target(item.value))
            except PtxspecError:
                help = suggest(item.value, self.db.targets) or f"as in {next(reversed(self.db.targets))}"
                yield finding("unknown-target", f"there is no target {item.value}", help)
                target = None
            if self.target is None:
                module.target = target
        if module.target is None or module.ptx is None or (self.target is not None and self.ptx is not None):
            return
        floor = self.db.targets[module.target].ptx
        if self.db.ptx[module.ptx] < self.db.ptx[floor] and (item.name == "target" or self.target is not None):
            message = f"PTX {module.ptx} does not know {module.target}"
            yield finding("target-unknown", message, f"write .version {floor} or newer")


def _version(text: str) -> str:
    """08.00 is 8.0 to the assembler."""
    match = re.fullmatch(r"0*(\d+)\.(\d*?)0*", text)
    return f"{match[1]}.{match[2] or 0}" if match else text


def _target(text: str) -> str:
    return text[:-1] + text[-1].lower() if re.fullmatch(r"(sm|compute)_\d+[AF]", text) else text


def _instruction_finding(
    item: Instruction, operands: list[Operand], view: View, file: str, c: Complaint, variant: str
) -> Finding:
    start, length, message = item.start, len(item.head), c.message
    if c.name >= 0:
        names = list(re.finditer(r"\.[\w:]*", item.head))
        if c.name < len(names):
            start, length = item.start + names[c.name].start(), len(names[c.name][0])
    elif c.operand >= 0:
        operand = (operands or list(split(item.operands)))[c.operand]
        message = message.replace("{operand}", operand.text)
        start, length = item.operands_start + operand.start, len(operand.text)
    place = view.place(start)
    return Finding(
        file, place.line, place.column, c.severity, c.code, message, variant, c.help, length, place.source, place.at
    )


def _problem(item: Problem, view: View, file: str) -> Finding:
    place = item.place or view.place(item.start)
    return Finding(
        file, place.line, place.column, ERROR, item.code, item.message, None, "", item.length, place.source, place.at
    )
