"""Branches of programs that depend on the target: `if constexpr` and NV_IF_TARGET in C++, conditions on the device's
capability in Python."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.scanning import View
from . import constraints
from .languages import PROGRAMS
from .languages.cpp import Cpp
from .languages.programs import ParsedProgram
from .languages.python import Python
from .languages.text import Text
from .macros import Macro, Truth
from .preprocessor import both, decided, either, opposite

if TYPE_CHECKING:
    from tree_sitter import Node


class Span(NamedTuple):
    """A part of a text whose condition is false or unknown."""

    start: int
    end: int
    holds: Truth
    condition: str = ""


def programs(view: View, language: str) -> Iterator[Text]:
    """Yield the strings of a program that contain C++ programs with conditions."""
    if "asm" not in view.text or not _CONDITIONS.search(view.text):
        return
    program = PROGRAMS[language](view)
    for strings in program.traced():
        text = program.text_of(strings, whole=True)
        if "asm" in text.text and _CONDITIONS.search(text.text):
            yield text


# C++

_CONDITIONS = re.compile(r"#\s*if|\bif\s+constexpr\b|\bNV_(?:IF|DISPATCH)_|__CUDA_ARCH__")
_BRANCHES = re.compile(r"\bif\s+constexpr\b|\bif\s*\([^;{}]*__CUDA_ARCH__")
_TARGETS = re.compile(r"\bNV_(?P<kind>IF_TARGET|IF_ELSE_TARGET|DISPATCH_TARGET)\s*\(")
_CONSTANT = re.compile(
    r"\b(?:constexpr|const)\b[^;{}()=]*?\b(?P<name>\w+)\s*(?:=\s*(?P<value>[^;{}]+)|\{(?P<in>[^;{}]*)\})\s*;"
)
# Words of conditions on targets. Other conditions are on types and sizes, and may be anywhere.
_OF_TARGETS = re.compile(r"arch|sm_?\d|\bsm\b|capab|cuda|ptx|ampere|ada\b|hopper|blackwell|rubin|target", re.IGNORECASE)


def of_cpp(view: View, macros: Mapping[str, Macro], named: Callable[[str], Truth]) -> Iterator[Span]:
    """Yield the branches in a C++ text that are not compiled, or of which that is unknown. `macros` are those at its
    end; `named` decides the conditions of NV_IF_TARGET."""
    text = view.text
    for m in _TARGETS.finditer(text):
        yield from _of_targets(text, m, named)
    if not _BRANCHES.search(text):
        return
    constants: dict[str, Macro] = {}
    for m in _CONSTANT.finditer(text):
        # If a name is defined twice, its value depends on the place.
        twice = m["name"] in constants
        constants[m["name"]] = Macro(None) if twice else Macro(True, (m["value"] or m["in"]).strip())
    program = Cpp(view)
    for node in program.tree.nodes("if_statement"):
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        asked = program.said(condition)[1:-1].strip()
        if then is None or not _OF_TARGETS.search(asked):
            continue
        holds = decided(asked, {**constants, **macros})
        if program.said(node.child(1)) != "constexpr":
            if holds is None:
                continue
            # The compiler drops the dead branch, but only if it optimises.
            holds = True if holds else None
        yield from _branches(f"if ({asked})", holds, then, node.child_by_field_name("alternative"))


def _branches(condition: str, holds: Truth, then: Node | None, otherwise: Node | None) -> Iterator[Span]:
    for node, compiled in ((then, holds), (otherwise, opposite(holds))):
        if node is not None and compiled is not True:
            yield Span(node.start_byte, node.end_byte, compiled, condition)


def _of_targets(text: str, m: re.Match[str], named: Callable[[str], Truth]) -> Iterator[Span]:
    end = constraints.closing(text, m.end())
    if end is None:
        return
    arguments = list(_arguments(text, m.end(), end - 1))
    taken: Truth = False
    for i in range(0, len(arguments) - 1, 2):
        condition = text[slice(*arguments[i])].strip()
        holds = both(opposite(taken), _of_names(condition, named))
        if holds is not True:
            yield Span(*arguments[i + 1], holds, f"NV_{m['kind']}({condition})")
        taken = either(taken, holds)
        if m["kind"] != "DISPATCH_TARGET":
            if len(arguments) > 2 and taken is not False:
                yield Span(*arguments[2], opposite(taken), f"NV_{m['kind']}({condition})")
            return


def _of_names(condition: str, named: Callable[[str], Truth]) -> Truth:
    """Return whether a condition on a target is true; None for macros other than NV_..."""
    return named(condition) if re.fullmatch(r"NV_\w+", condition) else None


def _arguments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each argument of a macro."""
    position = begun = start
    while position < end:
        c = text[position]
        if c == ",":
            yield begun, position
            begun = position + 1
        position = (constraints.closing(text, position + 1) or end) if c == "(" else position + 1
    yield begun, end


# Python

_CAPABILITY = re.compile(r"(?:get_)?(?:device_|compute_|cuda_)?capability|(?:device_)?cc")
_OF_CAPABILITY = re.compile(rf"(?:{_CAPABILITY.pattern}|(?<![a-z])arch)(?:\(.*\))?\.m", re.DOTALL)
_NUMBER = re.compile(
    r"_?(?:get_)?(?:sm|arch|(?:cuda|sm|gpu|device|target)_arch|target_sm|sm_version|compute_cap\w*|arch_num)"
)
# Words of conditions on the device that are not understood, such as calls of a project's own functions.
_OF_DEVICE = re.compile(
    r"(?<![a-z])(?:sm_?\d\w*|sm|arch|cc|(?:device_|compute_)?cap(?:ability)?|ampere|ada|hopper|blackwell|rubin)(?![a-z])",
    re.IGNORECASE,
)
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
_COLLECTION = re.compile("tuple|list|set")
_LEAVES = frozenset(["return_statement", "raise_statement", "continue_statement", "break_statement"])
_DEEPEST = 20


class _Target(int):
    """The number of a target, 90 or 103; programs may compare with 9, 90 or 900."""

    def compared_with(self, n: Any) -> int:
        """Return the number in the form of the one that it is compared with."""
        is_number = isinstance(n, int)
        return int(self) // 10 if is_number and n < 20 else int(self) * 10 if is_number and n > 200 else int(self)


def of_python(view: View, target: str) -> Iterator[Span]:
    """Yield the branches in a Python text that are for other targets, or of which that is unknown."""
    if not (_OF_DEVICE.search(view.text) or re.search(r"capab|arch|compute_cap", view.text)):
        return
    conditions = _Conditions(Python(view), target)
    for node in conditions.program.tree.nodes("if_statement", "elif_clause", "conditional_expression", "decorator"):
        yield from conditions.spans(node)


class _Conditions:
    """The conditions of a program on the device that it runs on, decided for a target."""

    def __init__(self, program: ParsedProgram, target: str) -> None:
        self.program = program
        number = int(re.sub(r"\D", "", target))
        self._number, self._capability = _Target(number), (number // 10, number % 10)
        self._assigned: dict[str, Node | None] = {}
        for node in program.tree.nodes("assignment"):
            self._assign(node.child_by_field_name("left"), node.child_by_field_name("right"))

    def _assign(self, left: Node | None, right: Node | None) -> None:
        if left is None or right is None or left.type != "identifier":
            return
        name = self.program.said(left)
        # If a name is assigned twice, its value depends on the place.
        self._assigned[name] = None if name in self._assigned else right

    def spans(self, node: Node) -> Iterator[Span]:
        """Yield the parts of a statement, an expression or a decorated definition that are for other targets."""
        if node.type == "decorator":
            yield from self._skipped(node)
        elif node.type == "conditional_expression":
            parts = node.named_children
            # Broken code may have fewer.
            if len(parts) > 2:
                yield from self._spans(parts[1], parts[0], [parts[2]])
        else:
            asked, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
            others = node.children_by_field_name("alternative")
            if node.type == "elif_clause" and node.parent is not None:
                clauses = node.parent.children_by_field_name("alternative")
                others = [c for c in clauses if c.start_byte > node.start_byte]
            yield from self._spans(asked, then, others)
            if not others and node.type == "if_statement":
                yield from self._behind(node, asked, then)

    def _behind(self, node: Node, asked: Node | None, then: Node | None) -> Iterator[Span]:
        """Yield the code after a branch that leaves the block: it only runs if the branch is not taken."""
        last = then.named_children[-1:] if then is not None else []
        if node.parent is not None and last and last[0].type in _LEAVES:
            for span in self._spans(asked, None, [node.parent]):
                yield span._replace(start=node.end_byte)

    def _spans(self, asked: Node | None, then: Node | None, others: list[Node]) -> Iterator[Span]:
        value, said = self._value(asked, 0), self.program.said(asked)
        if not isinstance(value, bool) and not (value is None and _OF_DEVICE.search(said)):
            return
        condition = f"if {' '.join(said.split())}"
        if value is not True and then is not None:
            yield Span(then.start_byte, then.end_byte, value, condition)
        if value is not False and others:
            yield Span(others[0].start_byte, others[-1].end_byte, opposite(value), condition)

    def _skipped(self, node: Node) -> Iterator[Span]:
        """Yield a test that is skipped on this target."""
        call = next(iter(node.named_children), None)
        arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
        if arguments is None or node.parent is None or not re.search(r"(?i:skip_?if)\(", self.program.said(call)):
            return
        yield from self._spans(arguments.named_child(0) if arguments.named_child_count else None, None, [node.parent])

    def _truth(self, asked: Node | None, depth: int) -> Truth:
        value = self._value(asked, depth)
        return value if isinstance(value, bool) else None

    def _value(self, node: Node | None, depth: int) -> Any:
        """Return the value of an expression, or None if it is unknown."""
        if node is None or depth > _DEEPEST:
            return None
        said, kind = self.program.said(node), node.type
        if kind == "integer":
            return int(said, 0) if re.fullmatch(r"0[xX]\w+|[1-9]\d*|0", said) else None
        if kind in ("true", "false"):
            return kind == "true"
        if _COLLECTION.fullmatch(kind):
            values = [self._value(n, depth + 1) for n in node.named_children]
            return None if None in values else tuple(values)
        if kind == "parenthesized_expression":
            return self._value(next(iter(node.named_children), None), depth + 1)
        if kind == "not_operator":
            value = self._value(node.child_by_field_name("argument"), depth + 1)
            return None if value is None else not value
        if kind == "boolean_operator":
            sides = [self._truth(node.child_by_field_name(f), depth + 1) for f in ("left", "right")]
            return either(*sides) if self.program.said(node.child(1)).startswith("o") else both(*sides)
        if kind == "comparison_operator":
            return self._compared(node, depth)
        if kind == "binary_operator":
            a, b = (self._value(node.child_by_field_name(f), depth + 1) for f in ("left", "right"))
            sign = self.program.said(node.child(1))
            fitting = sign in _COMPUTED and isinstance(a, int) and isinstance(b, int) and (b or sign in ("+", "-", "*"))
            return _COMPUTED[sign](int(a), int(b)) if fitting else None
        if kind == "subscript":
            value, index = (self._value(node.child_by_field_name(f), depth + 1) for f in ("value", "subscript"))
            is_index = isinstance(value, tuple) and isinstance(index, int) and index < len(value)
            return value[index] if is_index else None
        return self._named(node, said, depth)

    def _named(self, node: Node, said: str, depth: int) -> Any:
        if node.type == "identifier" and said in self._assigned:
            return self._value(self._assigned[said], depth + 1)
        called = said.partition("(")[0] if node.type == "call" else said
        name = called.rpartition(".")[2]
        if name in ("major", "minor") and _OF_CAPABILITY.search(called):
            return self._capability[name == "minor"]
        if _CAPABILITY.fullmatch(name):
            return self._capability
        return self._number if _NUMBER.fullmatch(name) else None

    def _compared(self, node: Node, depth: int) -> Truth:
        values = [self._value(n, depth + 1) for n in node.named_children]
        signs = [" ".join(self.program.said(c).split()) for c in node.children if not c.is_named]
        if None in values or len(signs) != len(values) - 1:
            return None
        found: Truth = True
        for a, sign, b in zip(values, signs, values[1:], strict=False):
            found = both(found, self._holds(a, sign, b))
        return found

    def _holds(self, a: Any, sign: str, b: Any) -> Truth:
        """Return whether a comparison is true; a target takes the form of the other side."""
        compare = _COMPARED.get(sign)
        if isinstance(a, tuple) and isinstance(b, int):
            a = self._number
        if isinstance(a, _Target):
            a = a.compared_with(b[0] if isinstance(b, tuple) and b else b)
        elif isinstance(b, _Target):
            b = b.compared_with(a)
        try:
            return compare(a, b) if compare else None
        except TypeError:
            return None
