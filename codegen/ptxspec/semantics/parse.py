"""Semantics text -> tree. Python's own parser reads it; whatever is not part of the language is refused here.

resolve.py checks the names.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, reduce

from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic, Mark, SpecError
from ..model import Code
from .functions import TABLE
from .tree import (
    Assign,
    Boolean,
    Call,
    Conditional,
    Expression,
    Helper,
    If,
    Name,
    Number,
    Operator,
    Program,
    Return,
    Statement,
    Text,
)

_HEX_FLOAT = re.compile(r"(?<![\w.])0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)(?![\w.])")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_COMMENT = re.compile(r"#.*")
_FOREIGN = re.compile(r"[^\t -~]")
_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MAX_EXPONENT = 20_000
_MAX_EXPONENT_DIGITS = 6
_MAX_DEPTH = 60


class _Reader:
    def __init__(self, code: Code) -> None:
        self.code = code
        self.lines = code.text.split("\n")
        self.errors: list[Diagnostic] = []
        self.hex: dict[tuple[int, int], Fraction] = {}
        self.reads: list[Name] = []
        self.calls: list[tuple[str, Mark]] = []
        self.assigned: set[str] = set()
        self.depth = 0

    def mark(self, node: ast.AST) -> Mark:
        # Columns count bytes, which are characters here, since `ast` reads ASCII only.
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        same = getattr(node, "end_lineno", line) == line
        end = getattr(node, "end_col_offset", column + 1) if same else column + 1
        return self.code.mark(line, column, max(1, end - column))

    def error(self, mark: Mark, message: str, help: str = "") -> None:
        self.errors.append(self.code.error(mark, message, help))

    def program(self) -> Program:
        text = "\n".join(self._plain(number, line) for number, line in enumerate(self.lines, 1))
        if self.errors:
            raise SpecError(self.errors)
        try:
            with warnings.catch_warnings():
                # Python warns about some code that is refused below anyway, such as comparisons with `is`.
                warnings.simplefilter("ignore")
                module = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            line, offset = getattr(e, "lineno", 1) or 1, getattr(e, "offset", 1) or 1
            said = getattr(e, "msg", None) or "too deeply nested"
            self.error(self.code.mark(line, max(0, offset - 1)), f"semantics cannot be read: {said}")
            raise SpecError(self.errors) from None
        helpers: dict[str, Helper] = {}
        body: list[ast.stmt] = []
        for statement in module.body:
            if isinstance(statement, ast.FunctionDef):
                helper = self.helper(statement)
                if helper.name in helpers or helper.name in TABLE:
                    self.error(helper.mark, f"'{helper.name}' is defined already")
                helpers[helper.name] = helper
            else:
                body.append(statement)
        statements = self.block(body, in_helper=False)
        for name, mark in self.calls:
            if name not in TABLE and name not in helpers:
                self.error(mark, f"unknown function '{name}'", suggest(name, [*TABLE, *helpers]))
        if self.errors:
            raise SpecError(self.errors)
        return Program(self.code, self.code.start, helpers, statements, tuple(self.reads), frozenset(self.assigned))

    def _plain(self, number: int, line: str) -> str:
        """Return a line without its comment, and with a name of the same length for each hexadecimal float, which
        Python lacks."""

        def stand_in(match: re.Match[str]) -> str:
            whole, part = match[1], match[2] or ""
            exponent = int(match[3]) if len(match[3]) <= _MAX_EXPONENT_DIGITS else _MAX_EXPONENT + 1
            if abs(exponent) > _MAX_EXPONENT or not (whole or part):
                mark = self.code.mark(number, match.start(), len(match[0]))
                self.error(mark, f"'{match[0]}' is not a number of any format")
            else:
                value = Fraction(int(whole + part, 16)) * Fraction(2) ** (exponent - 4 * len(part))
                self.hex[number, match.start()] = value
            return "_" * len(match[0])

        code = _COMMENT.sub("", line)
        if foreign := _FOREIGN.search(code):
            mark = self.code.mark(number, foreign.start())
            self.error(mark, f"'{foreign[0]}' can stand in a comment only", "the language is written in ASCII")
        return _HEX_FLOAT.sub(stand_in, code)

    def helper(self, node: ast.FunctionDef) -> Helper:
        mark = self.mark(node)
        a = node.args
        if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults or node.decorator_list or node.returns:
            self.error(mark, f"helper '{node.name}' has more than plain parameters", "write def name(x, y):")
        parameters = tuple(p.arg for p in a.args)
        if not all(map(_NAME.fullmatch, (node.name, *parameters))):
            self.error(mark, f"'{node.name}' or a parameter cannot be a name here", "begin with a letter")
        if len(set(parameters)) < len(parameters):
            self.error(mark, f"helper '{node.name}' has two parameters of one name")
        self.assigned.update(parameters)
        return Helper(self.code, mark, node.name, parameters, self.block(node.body, in_helper=True))

    def block(self, statements: list[ast.stmt], in_helper: bool) -> tuple[Statement, ...]:
        out: list[Statement] = []
        for i, s in enumerate(statements):
            mark = self.mark(s)
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
                name = s.targets[0].id
                self.assigned.add(name)
                if not _NAME.fullmatch(name):
                    self.error(self.mark(s.targets[0]), f"'{name}' cannot be a name here", "begin with a letter")
                out.append(Assign(self.code, self.mark(s.targets[0]), name, self.expression(s.value)))
            elif isinstance(s, ast.If):
                self.depth += 1
                if self.depth > _MAX_DEPTH:
                    self.error(mark, "too deeply nested")
                    return ()
                test = self.expression(s.test)
                rest = statements[i + 1 :]
                if in_helper and rest and _returns(s.body):
                    # The statements after a branch that has returned are its other branch.
                    other = self.block([*s.orelse, *rest], in_helper)
                    out.append(If(self.code, test.mark, test, self.block(s.body, in_helper), other))
                    self.depth -= 1
                    return tuple(out)
                then = self.block(s.body, in_helper)
                out.append(If(self.code, test.mark, test, then, self.block(s.orelse, in_helper)))
                self.depth -= 1
            elif isinstance(s, ast.Return) and in_helper and s.value is not None:
                out.append(Return(self.code, mark, self.expression(s.value)))
                if i + 1 < len(statements):
                    self.error(self.mark(statements[i + 1]), "nothing can follow a return")
                break
            elif isinstance(s, ast.Pass):
                continue
            else:
                self.error(
                    mark,
                    f"{_kind(s)} is not part of the semantics language",
                    "statements are assignments to one name, ifs, and helpers' defs at the top; results: d, p, q",
                )
        return tuple(out)

    def expression(self, node: ast.expr) -> Expression:
        self.depth += 1
        try:
            if self.depth > _MAX_DEPTH:
                self.error(self.mark(node), "too deeply nested")
                return Boolean(self.code, self.mark(node), False)
            return self._expression(node)
        finally:
            self.depth -= 1

    def _expression(self, node: ast.expr) -> Expression:
        code, mark = self.code, self.mark(node)
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                return Boolean(code, mark, node.value)
            if isinstance(node.value, int):
                return Number(code, mark, Fraction(node.value))
            if isinstance(node.value, str):
                return Text(code, mark, node.value)
            if isinstance(node.value, float):
                if node.value == float("inf"):
                    self.error(mark, "this literal is beyond every format")
                    return Boolean(code, mark, False)
                self.error(mark, f"a decimal fraction is not exact: {node.value!r}", f"write {_hex_float(node.value)}")
                return Number(code, mark, Fraction(node.value))
        elif isinstance(node, ast.Name):
            if (found := self.hex.get((node.lineno, node.col_offset))) is not None:
                return Number(code, mark, found)
            name = Name(code, mark, node.id)
            self.reads.append(name)
            return name
        elif isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name):
                self.error(mark, f"only functions of the table are called, not {_kind(node.func)}")
            elif node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
                self.error(mark, f"'{node.func.id}' takes its arguments by position")
            else:
                self.calls.append((node.func.id, self.mark(node.func)))
                return Call(code, mark, node.func.id, tuple(map(self.expression, node.args)))
            return Boolean(code, mark, False)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return Operator(code, mark, _UNARY[type(node.op)], (self.expression(node.operand),))
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            both = (self.expression(node.left), self.expression(node.right))
            return Operator(code, mark, _BINARY[type(node.op)], both)
        elif isinstance(node, ast.BoolOp):
            word = "and" if isinstance(node.op, ast.And) else "or"
            return self.chain(mark, word, [self.expression(v) for v in node.values])
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self.membership(node, mark)
        elif isinstance(node, ast.Compare) and all(type(o) in _COMPARE for o in node.ops):
            terms = [self.expression(t) for t in (node.left, *node.comparators)]
            pairs = [
                Operator(code, mark, _COMPARE[type(o)], (x, y))
                for o, x, y in zip(node.ops, terms, terms[1:], strict=False)
            ]
            return self.chain(mark, "and", pairs)
        elif isinstance(node, ast.IfExp):
            return Conditional(
                code, mark, self.expression(node.test), self.expression(node.body), self.expression(node.orelse)
            )
        self.error(mark, f"{_kind(node)} is not part of the semantics language")
        return Boolean(code, mark, False)

    def membership(self, node: ast.Compare, mark: Mark) -> Expression:
        """Return the comparisons that `x in ("lt", "le")` is short for."""
        listed = node.comparators[0]
        if len(node.ops) > 1 or not isinstance(listed, ast.Tuple) or not listed.elts:
            self.error(mark, "`in` takes a list of names", 'write it as in `cmp in ("lt", "le")`')
            return Boolean(self.code, mark, False)
        subject = self.expression(node.left)
        same = [Operator(self.code, mark, "==", (subject, self.expression(e))) for e in listed.elts]
        found = self.chain(mark, "or", same)
        return Operator(self.code, mark, "not", (found,)) if isinstance(node.ops[0], ast.NotIn) else found

    def chain(self, mark: Mark, word: str, terms: Sequence[Expression]) -> Expression:
        """Return `and` or `or` of many terms as a chain of pairs."""
        if len(terms) > _MAX_DEPTH:
            self.error(mark, f"more than {_MAX_DEPTH} terms", "name the first ones")
            return Boolean(self.code, mark, False)
        return reduce(lambda x, y: Operator(self.code, mark, word, (x, y)), terms)


def _returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return _returns(last.body) and bool(last.orelse) and _returns(last.orelse)
    return isinstance(last, ast.Return)


def _kind(node: ast.AST) -> str:
    return {
        "Attribute": "an attribute", "Subscript": "an index", "Import": "an import", "ImportFrom": "an import",
        "Lambda": "a lambda", "AugAssign": "an augmented assignment", "Expr": "an expression without effect",
        "For": "a loop", "While": "a loop", "FunctionDef": "a nested def", "ClassDef": "a class",
        "Return": "a return without a value, or outside a helper,", "Constant": "this literal",
        "BinOp": "this operator", "UnaryOp": "this operator", "Compare": "this comparison",
        "Assign": "an assignment to several names", "AnnAssign": "an annotation", "NamedExpr": "an assignment inside",
        "JoinedStr": "text", "ListComp": "a comprehension", "GeneratorExp": "a comprehension",
        "Tuple": "a tuple", "List": "a list", "Dict": "a mapping", "Set": "a set",
    }.get(type(node).__name__, "this")  # fmt: skip


def _hex_float(value: float) -> str:
    mantissa, exponent = value.hex().split("p")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + "p" + exponent.lstrip("+")


@cache
def parse(code: Code) -> Program:
    """Read a piece of semantics. Raises SpecError for text outside the language and for unknown functions."""
    return _Reader(code).program()
