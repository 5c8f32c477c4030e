"""Programs -> the Python of ptxemu: one module per opcode, one function per different program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import catalog
from ..catalog import Requirement
from ..check.checking import Checked
from ..model import ROUNDINGS, Instruction, Spec, Variant
from ..semantics.program import Apply, Const, Kind, Term, Var
from . import units
from .fusing import FLUSH, PROPAGATE, REPLACE, flushes_operands, fuse
from .sharing import ELEMENTARY, Line, Shared, shared, source_of
from .text import Files, Templates, plain

_FOLDER = "python/ptxemu"
_WIDTH = 110
# Bits and bools are NumPy arrays: these functions are NumPy's own operators.
INFIX = {
    "bitAnd": "({} & {})", "bitOr": "({} | {})", "bitXor": "({} ^ {})", "bitNot": "(~{})",
    "sameBits": "({} == {})", "lessBits": "({} < {})", "bits": "{}", "float_of": "{}",
    "logicalAnd": "({} & {})", "logicalOr": "({} | {})", "logicalXor": "({} ^ {})", "logicalNot": "(~{})",
}  # fmt: skip


@dataclass(frozen=True)
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
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("runtime").items()}
    files[f"{_FOLDER}/catalog.py"] = plain(Path(catalog.__file__), "codegen/ptxspec/catalog.py")
    requirements = list(dict.fromkeys(v.requires for c in checked for v in c.instruction.variants))
    paths = [c.instruction.path for c in checked]
    files[f"{_FOLDER}/formats.py"] = templates.render(
        "emulator/formats.py.j2", ["spec/types.yaml"], formats=list(spec.formats.values())
    )
    files[f"{_FOLDER}/index.py"] = templates.render(
        "emulator/index.py.j2", ["spec/targets.yaml", "spec/types.yaml", *paths],
        targets=list(spec.targets.values()), versions=list(spec.versions.values()), types=list(spec.types.values()),
        requirements=requirements,
        opcodes=[(c.instruction.opcode, _rows(c.instruction, requirements)) for c in checked],
    )  # fmt: skip
    files |= units.emit(spec, templates, _FOLDER)
    files |= {f"{_FOLDER}/instructions/{n}": text for n, text in templates.plain("runtime/instructions").items()}
    for c in checked:
        files[f"{_FOLDER}/instructions/{c.instruction.opcode}.py"] = _module(c, templates)
    return files


def _rows(instruction: Instruction, requirements: Sequence[Requirement]) -> list[tuple[Variant, int, bool]]:
    """The variants of an opcode, each with the place of its requirement and whether it may be advised."""
    return [(v, requirements.index(v.requires), instruction.is_advisable(v)) for v in instruction.variants]


def _module(checked: Checked, templates: Templates) -> str:
    instruction = checked.instruction
    module = _Module()
    sharing = shared(checked)
    functions = [_Writer(module).function(f) for f in sharing.values()]
    kernels = [
        Choice(v.spelling, v.operands, [(target, sharing[id(p)].name) for target, p in programs.items()])
        for v, programs in checked.programs.items()
    ]
    return templates.render(
        "emulator/instructions/opcode.py.j2", ["spec/types.yaml", "spec/modifiers.yaml", instruction.path],
        opcode=instruction.opcode, summary=_docstring(instruction.summary), imports=module.imports(),
        constants=sorted(module.constants.items()),
        functions=functions, kernels=kernels,
    )  # fmt: skip


def _docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _home(function: str) -> str:
    """The module of ptxemu that has a function."""
    if function in (FLUSH, REPLACE):
        return "..rounding"
    return "..elementary" if function in ELEMENTARY else "..operations"


@dataclass
class _Module:
    """What the functions of a module need around them."""

    names: dict[str, set[str]] = field(default_factory=lambda: {"..binary": {"Array"}})
    constants: dict[str, tuple[str, str]] = field(default_factory=dict)

    def use(self, module: str, name: str, own: bool = False) -> str:
        """The name under which a name of a module is there. One that is not the language's (`own`) gets a name that no
        variable of a specification has."""
        self.names.setdefault(module, set()).add(f"{name} as _{name}" if own else name)
        return f"_{name}" if own else name

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
    # Results that flushing left no subnormal number in.
    flushed: set[str] = field(default_factory=set)

    def function(self, shared: Shared) -> Function:
        program = fuse(shared.program)
        for let in program.lets:
            self.lines.append(Line(f"{let.name} = {self.fitting(let.value)}", source_of(let)))
            if isinstance(let.value, Apply) and let.value.ftz:
                self.flushed.add(let.name)
        parameters = [f"{n}: Array" for n in program.inputs]
        return Function(shared.name, parameters, shared.serves, self.lines, self.term(program.result))

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

    def apply(self, t: Apply, arguments: tuple[Term, ...]) -> str:
        operands_flushed = flushes_operands(t.function) and self.are_flushed(arguments)
        if operands_flushed:
            arguments = tuple(a.arguments[0] if isinstance(a, Apply) and a.function == FLUSH else a for a in arguments)
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
        if t.function == PROPAGATE:
            parts = [texts[0], f"({', '.join(texts[1:])},)"]
        if t.function == "convert":
            source = t.arguments[0].kind.format
            assert source is not None
            parts.append(self.module.use("..formats", source.name))
        if t.format is not None:
            parts.append(self.module.use("..formats", t.format.name))
        if t.mode:
            assert t.mode in ROUNDINGS
            parts += [self.module.use("..binary", t.mode), str(t.ftz)]
        if operands_flushed:
            parts.append("True")
        own = t.function in (FLUSH, PROPAGATE, REPLACE)
        return f"{self.module.use(_home(t.function), t.function, own)}({', '.join(parts)})"

    def are_flushed(self, arguments: tuple[Term, ...]) -> bool:
        """May the function flush all of its operands, because that is asked of them or changes nothing?"""
        asked = [a for a in arguments if isinstance(a, Apply) and a.function == FLUSH]
        return bool(asked) and all(a in asked or self.is_flushed(a) for a in arguments)

    def is_flushed(self, term: Term) -> bool:
        if isinstance(term, Const):
            f = term.kind.format
            magnitude = term.value & ~(1 << (term.kind.width - 1))
            return f is not None and (magnitude == 0 or magnitude >= 1 << f.fraction_bits)
        return isinstance(term, Var) and term.name in self.flushed
