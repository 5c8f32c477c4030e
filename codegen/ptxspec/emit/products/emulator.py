"""Programs -> the Python of ptxemu: one module per opcode, one function per different program; and the C of the same
functions, where there is C."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import ClassVar

from ... import catalog, notebook, ptx
from ...catalog import Hazard, Limit, Requirement
from ...check.checking import Checked
from ...diagnostics import PtxspecError
from ...model import BOOL, ROUNDINGS, FixedPoint, Format, Instruction, Kind, Operand, Spec, Variant
from ...semantics.functions import TABLE
from ...semantics.program import Apply, Program, Term, Var
from .. import native
from ..assembler import assembler
from ..clamping import CLAMPED, UNSIGNED, WITHIN
from ..comparing import LESS_GREATER
from ..converting import BOUNDED, SEVERAL, is_usual
from ..fusing import FLUSH, OTHERWISE, PROPAGATE, REPLACE, Flushing, fuse
from ..lowering import Lowering, Shared, shared, source_of, written
from ..modules import Module, NumPyFunction
from ..parts import Parts
from ..reading import multiplied, split
from ..registry import product
from ..text import Files, Templates, plain

_FOLDER = "python/ptxemu"
_WIDTH = 110
# More functions than these are too many for one module.
_MANY = 500
# What declared.py can do with float64.
_EXPONENTS = 300
# Functions that take a number's format and the result's.
BETWEEN = {"convert", "convertStochastic", "congruent", "convertNaN", OTHERWISE}
# The module of ptxemu that has the functions of a clause of IEEE 754, or those that fusing.py invents.
HOMES = {
    "5.4.1": "arithmetic", "5.4.2, 5.8": "arithmetic", "5.5.1": "encoding", "5.7.2": "encoding", "5.11": "comparison",
    "5.9": "arithmetic", "6.2.1": "encoding", "6.2.3": "encoding", "9.2": "elementary", "9.6": "comparison",
    "": "selection",
}  # fmt: skip
_INVENTED = {
    BOUNDED: "conversion", CLAMPED: "comparison", FLUSH: "encoding", LESS_GREATER: "comparison",
    OTHERWISE: "conversion", PROPAGATE: "selection", REPLACE: "selection", UNSIGNED: "comparison",
    WITHIN: "comparison",
}  # fmt: skip


@dataclass(frozen=True)
class Serving:
    """A function of the emulator with the variants that it computes: their number of operands, their modifiers and
    types, and the targets, if it is not the default."""

    name: str
    operands: int
    spelled: list[str]
    targets: str


@product("emulator")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the files of generated/python/ptxemu."""
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("runtime").items()}
    files[f"{_FOLDER}/notebook.py"] = plain(Path(notebook.__file__), "codegen/ptxspec/notebook.py")
    # What explains, and what lint judges statements by.
    for package in (catalog, ptx):
        for path in sorted(Path(str(package.__file__)).parent.glob("*.py")):
            name = f"{path.parent.name}/{path.name}"
            files[f"{_FOLDER}/{name}"] = plain(path, f"codegen/ptxspec/{name}")
    published = ["spec/published.yaml"] if spec.published else []
    floats = [f for f in spec.formats.values() if isinstance(f, Format)]
    declared = [f for f in floats if not is_usual(f)]
    _refuse_what_cannot_be_computed(declared)
    files[f"{_FOLDER}/formats.py"] = templates.render(
        "emulator/formats.py.j2", ["spec/types.yaml"], usual=[f for f in floats if is_usual(f)], declared=declared,
        integers=[f for f in spec.formats.values() if isinstance(f, FixedPoint)],
    )  # fmt: skip
    files[f"{_FOLDER}/index.py"] = templates.render(
        "emulator/index.py.j2", ["spec/targets.yaml", "spec/types.yaml", "spec/instructions"],
        targets=list(spec.targets.values()), versions=list(spec.versions.values()), types=list(spec.types.values()),
        opcodes=[c.instruction.opcode for c in checked],
    )  # fmt: skip
    files[f"{_FOLDER}/assembler.py"] = templates.render(
        "emulator/assembler.py.j2",
        ["spec/assembler.yaml", "spec/modifiers.yaml"],
        assembler=spec.assembler,
        modifiers=spec.modifiers.values(),
    )
    for folder in ("opcodes", "instructions"):
        files |= {f"{_FOLDER}/{folder}/{n}": text for n, text in templates.plain(f"runtime/{folder}").items()}
    for c in checked:
        files |= parts.of("emulator", c.instruction.opcode, partial(_of, spec, c, published, templates))
    return files | native.emit(spec, templates)


def _of(spec: Spec, checked: Checked, published: Sequence[str], templates: Templates) -> Files:
    """Return the files of an opcode."""
    i = checked.instruction
    modules, kernels = modules_of(checked, templates)
    files = {f"{_FOLDER}/instructions/{name}.py": text for name, text in modules.items()}
    files[f"{_FOLDER}/opcodes/{i.opcode}.py"] = _about(spec, i, published, templates)
    return files | native.of(i, kernels, templates)


def _refuse_what_cannot_be_computed(formats: Iterable[Format]) -> None:
    for f in formats:
        if f.precision > 24 or f.emin - f.fraction_bits < -_EXPONENTS or f.emax > _EXPONENTS:
            may = f"it may have 24 bits of precision, and exponents up to {_EXPONENTS}, as it is not like IEEE 754's"
            raise PtxspecError(f"spec/types.yaml: error: the emulator cannot compute in {f.name}: {may}")


def _about(spec: Spec, instruction: Instruction, published: Sequence[str], templates: Templates) -> str:
    """Return the module of ptxemu that describes an opcode's variants."""
    signatures: dict[tuple[str, int], str] = {}
    known = [(_known(spec, instruction, v, signatures), _spelled(v)) for v in instruction.variants]
    recipes = [((_spelled(v), v.operands), spec.instead[v]) for v in instruction.variants if v in spec.instead]
    text = "".join([*(k for k, _ in known), *(_literal(x.requires) for _, found in recipes for x in found)])
    return templates.render(
        "emulator/opcodes/opcode.py.j2", [instruction.path, *published], opcode=instruction.opcode,
        of_catalog=[name for name in ("Hazard", "Limit", "Requirement") if f"{name}(" in text],
        groups=[(said, [s for _, s in of]) for said, of in groupby(known, key=itemgetter(0))],
        signatures=signatures, recipes=recipes, instruction=instruction, assembler=assembler(spec, instruction),
        literal=_literal, escaped=_docstring,
    )  # fmt: skip


def _spelled(v: Variant) -> str:
    return v.spelling.partition(".")[2]


def _known(spec: Spec, instruction: Instruction, v: Variant, signatures: dict[tuple[str, int], str]) -> str:
    """Return the arguments of a variant's Group in templates/runtime/opcodes/__init__.py. `signatures` are those of its
    types and number of operands, as far as they are known."""
    said = [_literal(x) for x in (v.operands, v.claim, v.requires)]
    own = _signature(v)
    if signatures.setdefault((".".join(v.type_names), v.operands), own) != own:
        said.append(f"signature={_literal(own)}")
    if not v.listed:
        said.append("listed=False")
    if v.hazards:
        # What the machine code does instead is told by queries; here it only matters where.
        said.append(f"hazards={_literal(tuple(h._replace(text='') for h in v.hazards))}")
    if v.means:
        said.append(f"means={_literal(v.means)}")
    rules = [f"operands_{n}" for n, r in enumerate(instruction.operand_rules, 1) if r.selector.matches(v)]
    if rules:
        said.append(f"operand_rules=({', '.join(rules)},)")
    if v.crash:
        said.append(f"crash={_literal(v.crash)}")
    if none := " ".join(r.none for r in instruction.recipes if r.none and r.selector.matches(v)):
        said.append(f"no_recipe={_literal(none)}")
    if claims := spec.other_claims(v):
        said.append(f"claims={_literal(claims)}")
    return ", ".join(said)


def _literal(value: object) -> str:
    """Return a value as Python writes it; of a named tuple, only what is not the default."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Hazard | Limit | Requirement):
        more = value._field_defaults
        said = [("" if n not in more else f"{n}=", x) for n, x in value._asdict().items() if x != more.get(n, ...)]
        return f"{type(value).__name__}({', '.join(n + _literal(x) for n, x in said)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_literal(k)}: {_literal(x)}' for k, x in value.items())}}}"
    return repr(value)


def _signature(v: Variant) -> str:
    """Return a variant's signature as text that templates/runtime/signature.py reads."""
    return " ".join((*map(_operand, v.results), "=", *map(_operand, v.sources)))


def _operand(o: Operand) -> str:
    listed = ",".join(o.registers)
    registers = f"{{{listed}}}" if o.braced else f"[{listed}]" if listed else ""
    lanes = "/".join(".".join(map(str, bits)) for bits in o.lane_bits)
    return f"{'!' * o.negatable}{o.name}{registers}:{o.type.name}" + f"@{lanes}" * bool(lanes)


def module_of(checked: Checked, templates: Templates) -> tuple[str, list[Shared]]:
    """Return the module of an opcode, and the programs that have a function in it."""
    modules, kept = modules_of(checked, templates, split_up=False)
    return modules[checked.instruction.opcode], kept


def modules_of(checked: Checked, templates: Templates, split_up: bool = True) -> tuple[dict[str, str], list[Shared]]:
    """Return the modules of an opcode by name, and the programs that have a function in them. It is one module, or one
    for each type of the first operand if there are very many functions: Python then reads no more of them than is
    called."""
    instruction = checked.instruction
    sharing = shared(checked)
    split_up = split_up and len(sharing) > _MANY
    parts: dict[str, Module] = {}
    tails: dict[str, str] = {}
    # Functions of several kinds may be the same in NumPy: u32 and s32 are both uint32.
    homes: dict[str, str] = {}
    serving: dict[tuple[str, int, str], list[str]] = {}
    kept = []
    for one in sharing.values():
        alone = Module(tails=tails)
        *ends, made = _Writer(alone).function(one)
        # The C of the same name is of these widths alone.
        widths = [_storage(t.kind) for t in (*one.program.inputs, *one.program.results)]
        key = f"{widths} {made.key}"
        if key not in homes:
            name = f"{instruction.opcode}_{_first_type(one)}" if split_up else instruction.opcode
            parts.setdefault(name, Module(tails=tails)).take(alone, [*ends, made])
            homes[key] = f'"{name}.{made.name}"' if split_up else made.name
            kept.append(one)
        for operands, targets, spelled in _serving(one):
            serving.setdefault((homes[key], operands, targets), []).extend(spelled)

    def text(what: str, module: Module, rows: list[Serving]) -> str:
        return templates.render(
            "emulator/instructions/opcode.py.j2", ["spec/types.yaml", "spec/modifiers.yaml", instruction.path],
            opcode=instruction.opcode, what=what, summary=_docstring(instruction.summary), imports=module.imports(),
            constants=sorted(module.constants.items()), functions=list(module.functions.values()), serving=rows,
        )  # fmt: skip

    rows = [Serving(name, n, spelled, targets) for (name, n, targets), spelled in serving.items()]
    if not split_up:
        return {instruction.opcode: text(instruction.opcode, parts[instruction.opcode], rows)}, kept
    found = {name: text(name.replace("_", " of "), module, []) for name, module in parts.items()}
    return {instruction.opcode: text(instruction.opcode, Module({}), rows)} | found, kept


def _first_type(one: Shared) -> str:
    """Return the type of the first operand of the variant that a function is named after."""
    return one.variant.sources[0].type.name


def _storage(kind: Kind) -> int:
    """Return the width of NumPy's type, which C's function has too; 0 of bool."""
    return 0 if kind == BOOL else kind.storage


def _serving(one: Shared) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the spellings behind the opcode for each number of operands and list of targets."""
    found: dict[tuple[int, str], list[str]] = {}
    for (spelling, operands), targets in one.targets.items():
        found.setdefault((operands, " ".join(targets)), []).append(spelling.partition(".")[2])
    for (operands, where), spelled in found.items():
        yield operands, where, spelled


def _docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class _Writer(Lowering):
    """A writer of one function. Bits and bools are NumPy arrays."""

    OPERATORS: ClassVar = {**Lowering.OPERATORS, "logicalNot": "(~{})"}

    def __init__(self, module: Module) -> None:
        self.module = module
        self.statements: list[tuple[str, str, str]] = []
        self.hoisted = 0

    def function(self, shared: Shared) -> list[NumPyFunction]:
        """Return the function, behind a function that reads its end in a table where there is one."""
        program = fuse(shared.program)
        outer = ""
        if kinds := multiplied(program):
            formats = ", ".join(map(self.module.number, kinds))
            outer = f"{self.module.use('mixed', 'by_product', '_by_product')}({formats})"
        head, tail = split(program)
        if tail is None:
            return [replace(self.written(shared.name, head), decorator=outer)]
        decorator = self.module.use("tables", tail.decorator, f"_{tail.decorator}")
        decorator += f"({tail.argument})" * bool(tail.argument)
        if not head.lets:
            return [replace(self.written(shared.name, tail.program), decorator=decorator)]
        end = replace(_Writer(self.module).written("", tail.program), decorator=decorator)
        tails = self.module.tails
        end = replace(end, name=tails.setdefault(end.key, f"_end_{len(tails) + 1}"))
        made = self.written(shared.name, head)
        *lines, last = made.lines
        text = last.text.removeprefix("return ")
        return [
            end,
            replace(made, decorator=outer, lines=[*lines, replace(last, text=f"return {end.name}({text})")]),
        ]

    def written(self, name: str, program: Program) -> NumPyFunction:
        for let in program.lets:
            value = self.fitting(let.value, source_of(let))
            self.statements.append((let.name, value, source_of(let)))
        return NumPyFunction(
            name=name,
            parameters=[f"{i.name}: Array" for i in program.inputs],
            result="Array" if len(program.results) == 1 else "tuple[Array, Array]",
            decorator="",
            lines=written(self.statements, [self.term(r) for r in program.results]),
        )

    def fitting(self, term: Term, source: str) -> str:
        """Return the term's text; where it is too long for a line, the arguments are computed on lines of their own
        first."""
        text = self.term(term)
        if len(text) <= _WIDTH - 20 or not isinstance(term, Apply):
            return text
        arguments: list[Term] = []
        for a in term.arguments:
            if isinstance(a, Apply):
                self.hoisted += 1
                name = f"_{self.hoisted}"
                self.statements.append((name, self.fitting(a, source), source))
                a = Var(a.kind, name)
            arguments.append(a)
        return self.term(replace(term, arguments=tuple(arguments)))

    def constant(self, kind: Kind, value: int) -> str:
        if kind.sort == "bool":
            return self.module.constant("_true" if value else "_false", str(bool(value)), "bool")
        digits = f"{value:0{kind.storage // 4}x}"
        return self.module.constant(f"_x{digits}", f"0x{digits}", f"uint{kind.storage}")

    def count(self, kind: Kind, value: int) -> str:
        return self.constant(kind, value)

    def variable(self, name: str) -> str:
        return name

    def of_kind(self, kind: Kind, text: str) -> str:
        return f"({text})"

    def call(self, t: Apply, arguments: list[str]) -> str:
        use = self.module.use
        if t.function == "unit":
            assert t.model is not None
            return f'{use("recorded", "unit")}({arguments[0]}, "{t.model.identifier}")'
        parts = [arguments[0], f"({', '.join(arguments[1:])},)"] if t.function == PROPAGATE else arguments
        if t.function in BETWEEN:
            parts += [self.module.number(t.arguments[0].kind), self.module.number(t.kind)]
        elif t.format is not None:
            if _is_mixed(t):
                formats = ", ".join(self.module.number(a.kind) for a in t.arguments)
                parts.append(f"({formats})")
            parts.append(use("formats", t.format.name))
        elif t.arguments[0].kind.fixed is not None:
            parts.append(self.module.number(t.arguments[0].kind))
        if t.function in ("convertStochastic", BOUNDED):
            parts.append(str(t.arguments[1].kind.width))
        if t.mode:
            assert t.mode in ROUNDINGS
            parts += [use("binary", t.mode), str(t.ftz)]
        if isinstance(t, Flushing):
            parts.append("True")
        return f"{self.function_of(t)}({', '.join(parts)})"

    def function_of(self, t: Apply) -> str:
        """Return the function under the name that it has in the module."""
        if t.function in _INVENTED:
            return self.module.use(_INVENTED[t.function], t.function, f"_{t.function}")
        f = TABLE[t.function]
        usual = all(k.format is None or is_usual(k.format) for k in (t.kind, *(a.kind for a in t.arguments)))
        if t.function == "convert" and not (usual and all(k.format for k in (t.kind, t.arguments[0].kind))):
            return self.module.use("conversion", t.function, f"_any_{t.function}")
        if t.function == "convertStochastic":
            return self.module.use("conversion", t.function)
        if _is_mixed(t):
            return self.mixed(t)
        if "integer" in f.parameters:
            return self.module.use("integers", t.function)
        if "float" in f.parameters and not usual:
            if f.needs not in ("", "sign"):
                message = f"there is no {t.function} in NumPy for a {t.arguments[0].kind}"
                raise PtxspecError(f"spec/types.yaml: error: {message}")
            return self.module.use("declared", t.function, f"_declared_{t.function}")
        return self.module.use(HOMES[f.clause], t.function)

    def mixed(self, t: Apply) -> str:
        """Return the function for operands and a result of several formats."""
        for kind in (t.kind, *(a.kind for a in t.arguments)):
            if kind.format is None or (kind.format.precision > 24 and kind != t.kind):
                raise PtxspecError(f"there is no {t.function} in NumPy for a {kind} among others")
        return self.module.use("mixed", t.function, f"_mixed_{t.function}")


def _is_mixed(t: Apply) -> bool:
    """Return whether an operation is one of mixed.py, which has tables of the results of narrow formats."""
    of_one = t.function in SEVERAL and t.mode != "" and t.format is not None and not is_usual(t.format)
    return t.mixed or of_one
