"""Programs -> the Python of ptxemu: one module per opcode, one function per family of programs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from ... import catalog, matrices, notebook, ptx
from ...catalog import Hazard, Limit, Requirement
from ...catalog.special import SpecialRegister
from ...check.checking import Checked
from ...diagnostics import PtxspecError
from ...matrices.rows import Row
from ...model import ROUNDINGS, FixedPoint, Format, Instead, Instruction, Kind, Operand, Spec, Variant
from ...read.tensor import FILES as TENSOR
from ...rewrite.comparing import OPERATOR, RELATION
from ...rewrite.converting import SEVERAL
from ...rewrite.families import Member, common_name, members
from ...rewrite.formats import is_usual
from ...rewrite.rewriting import for_arrays
from ...semantics.functions import ALL, COMBINED
from ...semantics.program import Apply, Const, Program, Term, Var
from ..assembler import assembler
from ..lowering import Lowering, Shared, shared, source_of, written
from ..parts import Parts
from ..python import NumPyFunction, PythonModule
from ..tables import multiplied, split
from ..text import Files, Templates, plain
from . import native
from .data import naming

_FOLDER = "python/ptxemu"
_WIDTH = 110
# The most functions in one module.
_MANY = 500
# The largest exponents that declared.py supports with float64.
_EXPONENTS = 300
# The most bits after the point of a sum. float64 then has room for the sum of all terms: with scales, sums of 16
# products are below 2**11 each.
_BITS_OF_SUMS = 38
# Functions whose arguments include the number's format and the result's.
BETWEEN = {"convert", "convertStochastic", "congruent", "convertNaN"}
# The modules of ptxemu with the functions of each clause of IEEE 754.
HOMES = {
    "5.4.1": "arithmetic", "5.4.2, 5.8": "arithmetic", "5.5.1": "encoding", "5.7.2": "encoding", "5.11": "comparison",
    "5.9": "arithmetic", "6.2.1": "encoding", "6.2.3": "encoding", "9.2": "elementary", "9.6": "comparison",
    "": "selection",
}  # fmt: skip


# The results and the sources of a variant.
_Operands: TypeAlias = tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...]]


@dataclass(frozen=True)
class Serving:
    """A function of the emulator, as Python has it, with the variants that it computes: their number of operands, their
    modifiers and types, their targets (empty by default), and the values of the function's parameters."""

    name: str
    operands: int
    spelled: tuple[str, ...]
    targets: tuple[str, ...]
    values: str


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the files of generated/python/ptxemu."""
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("runtime").items()}
    files[f"{_FOLDER}/notebook.py"] = plain(Path(notebook.__file__), "codegen/ptxspec/notebook.py")
    # Packages that explain, and that lint checks statements with.
    for package in (catalog, matrices, ptx):
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
        "emulator/index.py.j2", ["spec/targets.yaml", "spec/types.yaml", "spec/outside.yaml", "spec/instructions"],
        outside=[(o.opcode, o.summary) for o in spec.outside.opcodes.values() if o.opcode not in spec.instructions],
        targets=list(spec.targets.values()), versions=list(spec.versions.values()), types=list(spec.types.values()),
        opcodes=[c.instruction.opcode for c in checked],
    )  # fmt: skip
    files[f"{_FOLDER}/naming.py"] = templates.render(
        "emulator/naming.py.j2", ["spec/targets.yaml"], data=naming(spec.naming), literal=_literal
    )
    files[f"{_FOLDER}/assembler.py"] = templates.render(
        "emulator/assembler.py.j2",
        ["spec/assembler.yaml", "spec/modifiers.yaml", "spec/special_registers.yaml"],
        assembler=spec.assembler,
        special_registers=[_literal(r) for r in spec.special_registers],
        modifiers=spec.modifiers.values(),
    )
    for folder in ("opcodes", "instructions"):
        files |= {f"{_FOLDER}/{folder}/{n}": text for n, text in templates.plain(f"runtime/{folder}").items()}
    _, included = native.shared(spec, templates, parts)
    of_matrices = native.digest(included, native.others_in_c(templates)["matrices"])
    files[f"{_FOLDER}/tensor_cores.py"] = _tensor_cores(spec, of_matrices, templates)
    for c in checked:
        opcode = c.instruction.opcode
        module = native.part(c, templates, parts)
        digest = native.digest(included, module) if module else ""
        files |= parts.of(f"emulator {digest}", opcode, "emulator", partial(_of, spec, c, published, digest, templates))
    return files


def _tensor_cores(spec: Spec, digest: str, templates: Templates) -> str:
    """Return the module about tensor cores. `digest` is that of the C that computes on matrices."""
    cores = spec.tensor
    if any(r.bits > _BITS_OF_SUMS for r in cores.rows):
        may = f"they may have {_BITS_OF_SUMS} bits behind the point of the largest term"
        raise PtxspecError(f"spec/tensor/arithmetic.yaml: error: the emulator cannot compute these sums: {may}")
    needs = list(dict.fromkeys(f.requires for f in cores.forms))
    return templates.render(
        "emulator/tensor_cores.py.j2", [f"spec/tensor/{name}.yaml" for name in TENSOR],
        digest=digest, cores=cores, needs=[*map(_literal, needs)],
        forms=[(f, needs.index(f.requires)) for f in cores.forms],
        rows=[*map(_row, cores.rows)], formula=_formula,
    )  # fmt: skip


def _row(r: Row) -> str:
    """Return a row's arguments, without defaults."""
    return ", ".join(f"{n}={_literal(x)}" for n, x in r._asdict().items() if x != r._field_defaults.get(n))


def _formula(text: str) -> str:
    """Return the formula of a place, in terms of the lane and of the element's number."""
    parts = {"g": "lane // 4", "t": "lane % 4", "r": "i // E", "j": "i % E"}
    return ast.unparse(ast.parse(re.sub(r"\b[gtrj]\b", lambda m: f"({parts[m[0]]})", text)))


def _of(spec: Spec, checked: Checked, published: Sequence[str], digest: str, templates: Templates) -> Files:
    """Return the files of an opcode."""
    i = checked.instruction
    modules = modules_of(checked, templates, digest)
    files = {f"{_FOLDER}/instructions/{name}.py": text for name, text in modules.items()}
    files[f"{_FOLDER}/opcodes/{i.opcode}.py"] = _about(spec, i, published, templates)
    return files


def _refuse_what_cannot_be_computed(formats: Iterable[Format]) -> None:
    for f in formats:
        if f.precision > 24 or f.emin - f.fraction_bits < -_EXPONENTS or f.emax > _EXPONENTS:
            may = f"it may have 24 bits of precision, and exponents up to {_EXPONENTS}, as it is not like IEEE 754's"
            raise PtxspecError(f"spec/types.yaml: error: the emulator cannot compute in {f.name}: {may}")


def _about(spec: Spec, instruction: Instruction, published: Sequence[str], templates: Templates) -> str:
    """Return the module of ptxemu that describes an opcode's variants."""
    signatures: dict[tuple[str, int], _Operands] = {}
    recipes: dict[tuple[Requirement, str, str], int] = {}
    known = [(_known(spec, instruction, v, signatures, recipes), _spelled(v)) for v in instruction.variants]
    missing = {
        v.spelling: [
            recipes.setdefault((x.requires, x.promise, x.template(v)), len(recipes) + 1) for x in spec.missing[v]
        ]
        for entry in instruction.missing
        for v in entry.variants
    }
    text = "".join([*(k for k, _ in known), *(_literal(requires) for requires, _, _ in recipes)])
    return templates.render(
        "emulator/opcodes/opcode.py.j2", [instruction.path, *published], opcode=instruction.opcode,
        of_catalog=[name for name in ("Hazard", "Limit", "Requirement") if f"{name}(" in text],
        groups=[(said, [s for _, s in of]) for said, of in groupby(known, key=itemgetter(0))],
        signatures=signatures, recipes=recipes, missing=missing, instruction=instruction,
        assembler=assembler(spec, instruction),
        literal=_literal, escaped=_docstring,
    )  # fmt: skip


def _spelled(v: Variant) -> str:
    return v.spelling.partition(".")[2]


def _known(
    spec: Spec,
    instruction: Instruction,
    v: Variant,
    signatures: dict[tuple[str, int], _Operands],
    recipes: dict[tuple[Requirement, str, str], int],
) -> str:
    """Return the arguments of a variant's Group in templates/runtime/opcodes/__init__.py. `signatures` are by types and
    number of operands, `recipes` the numbers of the recipes so far."""
    said = [_literal(x) for x in (v.operands, v.claim, v.requires)]
    own = _operands(v)
    if signatures.setdefault((".".join(v.type_names), v.operands), own) != own:
        said.append(f"signature={_literal(own)}")
    if not v.listed:
        said.append("listed=False")
    if v.hazards:
        # Queries describe what the machine code does instead; the emulator only needs the place.
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
    if v in spec.instead:
        said.append(f"recipes=({', '.join(f'recipe_{n}' for n in _numbered(v, spec.instead[v], recipes))},)")
    if claims := spec.other_claims(v):
        said.append(f"claims={_literal(claims)}")
    return ", ".join(said)


def _numbered(v: Variant, every: Iterable[Instead], recipes: dict[tuple[Requirement, str, str], int]) -> Iterator[int]:
    """Return the numbers of a variant's recipes, and add those without a number."""
    return (recipes.setdefault((x.requires, x.promise, x.template(v)), len(recipes) + 1) for x in every)


def _literal(value: object) -> str:
    """Return a value as Python source; for a named tuple, without defaults."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Hazard | Limit | Requirement | SpecialRegister):
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


def _operands(v: Variant) -> _Operands:
    """Return a variant's results and sources as templates/runtime/opcodes/__init__.py has them."""
    return tuple(map(_operand, v.results)), tuple(map(_operand, v.sources))


def _operand(o: Operand) -> tuple[Any, ...]:
    said = (o.name, o.type.name, o.registers, o.lane_bits, o.braced, o.negatable, o.implicit)
    return said[: max(n for n, x in enumerate(said, 1) if x)]


def module_of(checked: Checked, templates: Templates) -> str:
    """Return the module of an opcode, with all of its functions."""
    return modules_of(checked, templates, split_up=False)[checked.instruction.opcode]


def modules_of(checked: Checked, templates: Templates, digest: str = "", split_up: bool = True) -> dict[str, str]:
    """Return the modules of an opcode by name: one, or one for each type of the first operand if there are very many
    functions, so that Python reads only the modules that are called."""
    instruction = checked.instruction
    tails: dict[str, str] = {}
    written = _written(checked, tails)
    split_up = split_up and len(written) > _MANY
    modules = {instruction.opcode: PythonModule({}) if split_up else PythonModule(tails=tails)}
    rows: dict[str, dict[tuple[str, int, tuple[str, ...], str], list[str]]] = {}
    names: set[str] = set()
    for alone, functions, served in written:
        first = served[0][0]
        name = common_name([one.name for one, _ in served], names.__contains__)
        names.add(name)
        home = f"{instruction.opcode}_{_first_type(first)}" if split_up else instruction.opcode
        *ends, made = functions
        modules.setdefault(home, PythonModule(tails=tails)).take(alone, [*ends, replace(made, name=name)])
        for one, member in served:
            table = modules[instruction.opcode]
            values = ", ".join(_value(table, c) for _, c in member.parameters)
            for operands, targets, spelled in _serving(one):
                of = rows.setdefault(home, {})
                of.setdefault((_literal(name) if split_up else name, operands, targets, values), []).extend(spelled)

    def text(what: str, module: PythonModule, serving: dict[str, list[Serving]]) -> str:
        return templates.render(
            "emulator/instructions/opcode.py.j2", ["spec/types.yaml", "spec/modifiers.yaml", instruction.path],
            opcode=instruction.opcode, what=what, summary=_docstring(instruction.summary), imports=module.imports(),
            constants=sorted(module.constants.items()), functions=list(module.functions.values()),
            serving=serving, digest=digest, literal=_literal,
        )  # fmt: skip

    serving = {
        home if split_up else "": [
            Serving(f, n, tuple(s), targets, values) for (f, n, targets, values), s in of.items()
        ]
        for home, of in rows.items()
    }
    return {
        name: text(name.replace("_", " of "), module, serving if name == instruction.opcode else {})
        for name, module in modules.items()
    }


# A module with what it contains so far; its functions, of which kernels call the last; and the programs that this one
# computes.
_Written: TypeAlias = tuple[PythonModule, list[NumPyFunction], list[tuple[Shared, Member]]]


def _written(checked: Checked, tails: dict[str, str]) -> list[_Written]:
    """Return the functions of an opcode, without names, each with the programs that it computes. Programs of several
    kinds may have the same function in NumPy: u32 and s32 are both uint32."""
    sharing = list(shared(checked).values())
    programs = [for_arrays(one.program) for one in sharing]
    whole = [i for i, p in enumerate(programs) if not multiplied(p) and split(p)[1] is None]
    of = dict(zip(whole, members([programs[i] for i in whole]), strict=True))
    found: dict[str, _Written] = {}
    for i, one in enumerate(sharing):
        member = of.get(i) or Member(programs[i], ())
        alone = PythonModule(tails=tails)
        functions = _Writer(alone, member).functions()
        found.setdefault(functions[-1].key, (alone, functions, []))[2].append((one, member))
    return list(found.values())


def _value(module: PythonModule, c: Const) -> str:
    return str(c.value) if c.kind in (RELATION, OPERATOR) else numpy_constant(module, c.kind, c.value)


def numpy_constant(module: PythonModule, kind: Kind, value: int) -> str:
    """Return the name of a constant, and define it in the module."""
    if kind.sort == "bool":
        return module.constant("_true" if value else "_false", str(bool(value)), "bool")
    digits = f"{value:0{kind.storage // 4}x}"
    return module.constant(f"_x{digits}", f"0x{digits}", f"uint{kind.storage}")


def _first_type(one: Shared) -> str:
    """Return the type of the first operand of the variant that a function is named after."""
    return one.variant.sources[0].type.name


def _serving(one: Shared) -> Iterator[tuple[int, tuple[str, ...], list[str]]]:
    """Yield the spellings, without the opcode, for each number of operands and list of targets."""
    found: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for (spelling, operands), targets in one.targets.items():
        found.setdefault((operands, tuple(targets)), []).append(spelling.partition(".")[2])
    for (operands, where), spelled in found.items():
        yield operands, where, spelled


def _docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class _Writer(Lowering):
    """A writer of one function. Bits and bools are NumPy arrays."""

    OPERATORS: ClassVar = {**Lowering.OPERATORS, "logicalNot": "(~{})"}

    def __init__(self, module: PythonModule, member: Member) -> None:
        self.module = module
        self.program, self.parameters = member
        self.statements: list[tuple[str, str, str]] = []
        self.hoisted = 0

    def functions(self) -> list[NumPyFunction]:
        """Return the function, without a name. If its end is read from a table, the function of the end comes before
        it."""
        program, outer = self.program, ""
        if kinds := multiplied(program):
            formats = ", ".join(map(self.module.number, kinds))
            outer = f"{self.module.use('mixed', 'by_product', '_by_product')}({formats})"
        head, tail = split(program)
        if tail is None:
            return [replace(self.written(head), decorator=outer)]
        decorator = self.module.use("tables", tail.decorator, f"_{tail.decorator}")
        decorator += f"({tail.argument})" * bool(tail.argument)
        if not head.lets:
            return [replace(self.written(tail.program), decorator=decorator)]
        end = replace(_Writer(self.module, Member(tail.program, ())).written(tail.program), decorator=decorator)
        tails = self.module.tails
        end = replace(end, name=tails.setdefault(end.key, f"_end_{len(tails) + 1}"))
        made = self.written(head)
        *lines, last = made.lines
        text = last.text.removeprefix("return ")
        return [
            end,
            replace(made, decorator=outer, lines=[*lines, replace(last, text=f"return {end.name}({text})")]),
        ]

    def written(self, program: Program) -> NumPyFunction:
        for let in program.lets:
            value = self.fitting(let.value, source_of(let))
            self.statements.append((let.name, value, source_of(let)))
        parameters = [f"{n}: {'int' if c.kind in (RELATION, OPERATOR) else 'Array'}" for n, c in self.parameters]
        return NumPyFunction(
            name="",
            parameters=[*parameters, *(f"{i.name}: Array" for i in program.inputs)],
            result="Array" if len(program.results) == 1 else "tuple[Array, Array]",
            decorator="",
            lines=written(self.statements, [self.term(r) for r in program.results]),
        )

    def fitting(self, term: Term, source: str) -> str:
        """Return the term's text. If it is too long for a line, its arguments are first computed on lines of their
        own."""
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
        if kind in (RELATION, OPERATOR):
            return str(value)
        return numpy_constant(self.module, kind, value)

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
        parts = [arguments[0], f"({', '.join(arguments[1:])},)"] if t.function == "propagate" else arguments
        if t.function in BETWEEN:
            parts += [self.module.number(t.arguments[0].kind), self.module.number(t.kind)]
        elif t.format is not None:
            if _is_mixed(t):
                formats = ", ".join(self.module.number(a.kind) for a in t.arguments)
                parts.append(f"({formats})")
            parts.append(use("formats", t.format.name))
        elif t.arguments[0].kind.fixed is not None:
            parts.append(self.module.number(t.arguments[0].kind))
        if t.function in ("convertStochastic", "convertBounded"):
            parts.append(str(t.arguments[1].kind.width))
        if t.mode:
            assert t.mode in ROUNDINGS
            parts += [use("binary", t.mode), str(t.ftz)]
        if t.daz:
            parts.append("True")
        return f"{self.function_of(t)}({', '.join(parts)})"

    def function_of(self, t: Apply) -> str:
        """Return the function by its name in the module."""
        if t.function == "compare":
            return self.compared(t)
        f = ALL[t.function]
        usual = all(k.format is None or is_usual(k.format) for k in (t.kind, *(a.kind for a in t.arguments)))
        if t.function == "convert" and not (usual and all(k.format for k in (t.kind, t.arguments[0].kind))):
            return self.module.use("conversion", t.function, f"_any_{t.function}")
        # A specification may use the names of combined functions.
        name = f"_{t.function}" if t.function in COMBINED else t.function
        if t.function in ("convertStochastic", "convertBounded"):
            return self.module.use("conversion", t.function, name)
        if t.function in COMBINED:
            return self.module.use(HOMES[f.clause], t.function, name)
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

    def compared(self, t: Apply) -> str:
        """Return the function that compares numbers of a kind."""
        f = t.arguments[0].kind.format
        if f is None:
            return self.module.use("integers", "compareIntegers")
        if is_usual(f):
            return self.module.use("comparison", "compare")
        return self.module.use("declared", "compare", "_declared_compare")

    def mixed(self, t: Apply) -> str:
        """Return the function for operands and a result of several formats."""
        for kind in (t.kind, *(a.kind for a in t.arguments)):
            if kind.format is None or (kind.format.precision > 24 and kind != t.kind):
                raise PtxspecError(f"there is no {t.function} in NumPy for a {kind} among others")
        return self.module.use("mixed", t.function, f"_mixed_{t.function}")


def _is_mixed(t: Apply) -> bool:
    """Return whether an operation is in mixed.py, which has tables of the results of narrow formats."""
    of_one = t.function in SEVERAL and t.mode != "" and t.format is not None and not is_usual(t.format)
    return t.mixed or of_one
