"""Programs -> the Python of ptxemu: one module per opcode, one function per different program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..checking import Checked
from ..model import ROUNDINGS, Spec, Variant
from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Kind, Program, Term, Var
from . import units
from .text import Files, Templates

_FOLDER = "python/ptxemu"
_WIDTH = 110
# Bits and bools are NumPy arrays: these functions are NumPy's own operators.
INFIX = {
    "bitAnd": "({} & {})", "bitOr": "({} | {})", "bitXor": "({} ^ {})", "bitNot": "(~{})",
    "sameBits": "({} == {})", "lessBits": "({} < {})", "bits": "{}", "float_of": "{}",
    "logicalAnd": "({} & {})", "logicalOr": "({} | {})", "logicalXor": "({} ^ {})", "logicalNot": "(~{})",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    text: str
    source: str


@dataclass
class Function:
    name: str
    parameters: list[str]
    serves: list[str]
    lines: list[Line]
    result: str


@dataclass(frozen=True)
class Choice:
    spelling: str
    operands: int
    choice: list[tuple[str | None, str]]


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """The files of generated/python/ptxemu."""
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("emulator").items()}
    variants = [v for c in checked for v in c.instruction.variants]
    paths = [c.instruction.path for c in checked]
    files[f"{_FOLDER}/formats.py"] = templates.render(
        "emulator/formats.py.j2", ["spec/types.yaml"], formats=list(spec.formats.values())
    )
    files[f"{_FOLDER}/index.py"] = templates.render(
        "emulator/index.py.j2", ["spec/targets.yaml", "spec/types.yaml", *paths],
        targets=list(spec.targets.values()), types=list(spec.types.values()), variants=variants,
    )  # fmt: skip
    files |= units.emit(spec, templates, _FOLDER)
    files |= {f"{_FOLDER}/instructions/{n}": text for n, text in templates.plain("emulator/instructions").items()}
    for c in checked:
        files[f"{_FOLDER}/instructions/{c.instruction.opcode}.py"] = _module(c, templates)
    return files


def _module(checked: Checked, templates: Templates) -> str:
    instruction = checked.instruction
    functions: dict[int, Function] = {}
    module = _Module()
    # A function is named after the first variant that it serves: those without a target come first.
    for first in (True, False):
        for variant, programs in checked.programs.items():
            for target, program in programs.items():
                if first == (target is None):
                    name = _function_name(variant, target)
                    if id(program) not in functions:
                        functions[id(program)] = _Writer(module).function(name, program)
                    functions[id(program)].serves.append(_served(variant, target))
    kernels = [
        Choice(v.spelling, v.operands, [(target, functions[id(p)].name) for target, p in programs.items()])
        for v, programs in checked.programs.items()
    ]
    for f in functions.values():
        f.serves = _merged(f.serves)
    return templates.render(
        "emulator/instructions/opcode.py.j2", ["spec/types.yaml", "spec/modifiers.yaml", instruction.path],
        opcode=instruction.opcode, summary=instruction.summary, imports=module.imports(),
        constants=sorted(module.constants.items()),
        functions=list(functions.values()), kernels=kernels,
    )  # fmt: skip


def _function_name(variant: Variant, target: str | None) -> str:
    return variant.identifier + (f"_{target}" if target else "")


def _served(variant: Variant, target: str | None) -> str:
    return f"{variant.spelling}{' on ' + target if target else ''}"


def _merged(serves: list[str]) -> list[str]:
    """One line per spelling, with the targets behind it."""
    targets: dict[str, list[str]] = {}
    for s in serves:
        spelling, _, target = s.partition(" on ")
        targets.setdefault(spelling, []).extend([target] if target else [])
    return [s + (f" on {', '.join(t)}" if t else "") for s, t in targets.items()]


@dataclass
class _Module:
    """What the functions of a module need around them."""

    names: dict[str, set[str]] = field(default_factory=lambda: {"..binary": {"Array"}})
    constants: dict[str, tuple[str, str]] = field(default_factory=dict)

    def use(self, module: str, name: str) -> str:
        self.names.setdefault(module, set()).add(name)
        return name

    def constant(self, name: str, value: str, dtype: str) -> str:
        self.constants[name] = (value, dtype)
        return name

    def imports(self) -> list[tuple[str, list[str]]]:
        return [(module, sorted(names)) for module, names in sorted(self.names.items())]


@dataclass
class _Writer:
    module: _Module
    lines: list[Line] = field(default_factory=list)
    hoisted: int = 0

    def function(self, name: str, program: Program) -> Function:
        for let in program.lets:
            source = f"{let.path.rpartition('/')[2]}:{let.mark.line}"
            self.lines.append(Line(f"{let.name} = {self.fitting(let.value)}", source))
        return Function(name, [f"{n}: Array" for n in program.inputs], [], self.lines, self.term(program.result))

    def fitting(self, term: Term) -> str:
        """The term's text; of one too long for a line, the arguments are computed on lines of their own first."""
        text = self.term(term)
        if len(text) <= _WIDTH - 20 or not isinstance(term, Apply):
            return text
        arguments: list[Term] = []
        for a in term.arguments:
            if isinstance(a, Apply):
                self.hoisted += 1
                name = f"_{self.hoisted}"
                self.lines.append(Line(f"{name} = {self.fitting(a)}", ""))
                a = Var(a.kind, name)
            arguments.append(a)
        return self.apply(term, tuple(arguments))

    def term(self, term: Term) -> str:
        if isinstance(term, Const):
            return self.constant(term.kind, term.value)
        if isinstance(term, Var):
            return term.name
        return self.apply(term, term.arguments)

    def constant(self, kind: Kind, value: int) -> str:
        if kind.sort == "bool":
            return self.module.constant("_true" if value else "_false", str(bool(value)), "bool")
        digits = f"{value:0{kind.width // 4}x}"
        return self.module.constant(f"_x{digits}", f"0x{digits}", f"uint{kind.width}")

    def apply(self, t: Apply, arguments: Iterable[Term]) -> str:
        texts = [self.term(a) for a in arguments]
        if t.function in INFIX:
            return INFIX[t.function].format(*texts)
        if t.function in ("shiftLeft", "shiftRight"):
            sign = "<<" if t.function == "shiftLeft" else ">>"
            return f"({texts[0]} {sign} {self.constant(t.kind, t.count)})"
        if t.function == "highWord":
            half = t.kind.width // 2
            return f"({texts[0]} & {self.constant(t.kind, ((1 << half) - 1) << half)})"
        if t.function == "unit":
            assert t.model is not None
            return f"{self.module.use('..unit', 'unit')}({texts[0]}, {self.module.use('..units', t.model.identifier)})"
        parts = texts
        if t.function == "convert":
            source = t.arguments[0].kind.format
            assert source is not None
            parts.append(self.module.use("..formats", source.name))
        if t.format is not None:
            parts.append(self.module.use("..formats", t.format.name))
        if TABLE[t.function].rounds:
            assert t.mode in ROUNDINGS
            parts += [self.module.use("..binary", t.mode), str(t.ftz)]
        return f"{self.module.use('..operations', t.function)}({', '.join(parts)})"
