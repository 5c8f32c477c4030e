"""C and C++: the text of asm statements, and the strings that are PTX or contain a program with asm statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...ptx.scanning import HOLE
from .. import constraints
from .programs import Literal, ParsedProgram, Strings
from .text import ELSEWHERE, FORMATTED_LATER, Text, has_statement, is_module, unescape, verbatim
from .trees import NodePath, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


_ASM = frozenset(["asm", "__asm__", "__asm"])
_QUALIFIERS = frozenset(["volatile", "__volatile__", "goto", "inline", "__inline__", "const"])
_BEGUN = re.compile(r"\w++[\s\w\\]*+\(")
_FUNCTION = "void f() {"
_MACRO = r"\w++\s*+\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)"
# A macro with arguments where only strings are expected.
_AMONG_STRINGS = re.compile(
    rf"""(?<=")\s*+(?P<macro>{_MACRO})(?=\s*+["):])
      | \b(?:asm|__asm__|__asm)\b[\s\w]*+\(\s*+(?P<first>{_MACRO})(?=\s*+["):])""",
    re.VERBOSE,
)
# A macro by itself between statements, such as CUTLASS_PRAGMA_UNROLL.
_BETWEEN_STATEMENTS = re.compile(r"(?<=[;{})>:])[ \t]*+\n\s*+[A-Z_][A-Z0-9_]{3,}+(?=[ \t]*+\n)")
# In a program within a string: strings, which may have several lines, and other tokens with quotation marks.
_QUOTED = re.compile(r"""//[^\n]*+|/\*(?s:.)*?\*/|'(?:[^'\\\n]|\\.){1,4}'|"(?:[^"\\]|\\(?s:.))*+\"""")
# GCC's and Clang's names of operands, and their %=, another number in each copy: %[a] and L%=.
_NAMED = re.compile(r"%\[(\w+)\]|%=")
# An argument of an error or a log is not PTX: it is for people.
_LOGGED = re.compile(r"(?:cerr|clog|LOG\w*+\([^()\"]*+\))\Z")
_LOGS = re.compile(r"\b(?:spdlog|logger|log)(?:::|\.|->)(?:trace|debug|info|warn|warning|error|critical|fatal)\Z")
_STDERR = re.compile(r"\bfprintf\(\s*+stderr\b")


class Cpp(ParsedProgram):
    package = "tree_sitter_cuda"
    strings = frozenset(["string_literal", "raw_string_literal"])
    joins = MappingProxyType({"concatenated_string": frozenset(), "binary_expression": frozenset(["+", "<<"])})
    calls = frozenset(["call_expression"])
    arguments = frozenset(["argument_list", "initializer_list"])
    told = frozenset(["throw_statement"])
    blocks = frozenset(["compound_statement", "declaration_list", "translation_unit"])

    def as_parsed(self) -> str:
        text = self.text
        if self.view.embedded and '"' in text:
            text = _QUOTED.sub(_on_one_line, text)
        if "asm" not in text:
            return text
        return _BETWEEN_STATEMENTS.sub(_blank, _AMONG_STRINGS.sub(_as_a_name, text))

    def texts(self) -> Iterator[Text]:
        for leaf in self.leaves(Walk(self.tree.root)):
            node = leaf.node
            if node.type == "preproc_arg":
                yield from self._body(node)
            elif string := leaf.within(self.strings):
                strings = self.around(string)
                self.done = max(self.done, strings.joined.end_byte)
                yield from self.read(strings)
            elif self.said(node) in _ASM:
                end, found = self._asm(leaf)
                self.done = max(self.done, end)
                if found:
                    yield found

    # Strings

    def read(self, strings: Strings) -> Iterator[Text]:
        found, is_template = self.found(strings)
        # A whole module is PTX wherever it is written to.
        if is_template or is_module(found.text) or not self._is_logged(strings):
            yield from in_program(found) or ([found] if is_template else by_itself(found))

    def _is_logged(self, strings: Strings) -> bool:
        first = next(super().parts(strings.joined))
        argument = self.argument(strings.value)
        return (
            self.is_told(strings.value)
            or (first.type not in self.strings and _LOGGED.search(self.said(first)) is not None)
            or (argument is not None and _LOGS.search(argument.called) is not None)
            or (argument is not None and _STDERR.match(f"{argument.called}{self.said(argument.arguments)}") is not None)
        )

    def parts(self, joined: Node) -> Iterator[Node]:
        found = super().parts(joined)
        if joined.type == "binary_expression" and self.said(joined.child(1)) == "<<":
            # The stream that strings are written to is not one of them.
            first = next(found)
            if first.type in self.strings:
                yield first
        yield from found

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        self.fill(found, into, verbatim if "R" in found.prefix else unescape, FORMATTED_LATER)

    # Macros

    def _body(self, node: Node) -> Iterator[Text]:
        """Yield the texts in the body of a macro, which is not part of the tree: as the statements of a function."""
        yield from Cpp(self._in_function(node.start_byte, self.said(node).replace("#", " "))).texts()

    # Statements

    def _asm(self, asm: NodePath) -> tuple[int, Text | None]:
        """Return where the strings of an asm statement end, and their text, or None if it is not one. If the tree
        around it has errors, it is parsed alone."""
        start, around = asm.node.start_byte, asm.parent
        is_whole = around is not None and around.node.type == "gnu_asm_expression" and not around.node.has_error
        opened = None if is_whole else _BEGUN.match(self.text, start)
        end = constraints.closing(self.text, opened.end()) if opened else None
        if end is None or self.text.startswith(_FUNCTION):
            return self._statement(asm.node)
        alone = Cpp(self._in_function(start, self.text[start:end]))
        return end, alone._statement(alone.tree.at(len(_FUNCTION)).node)[1]

    def _in_function(self, start: int, statements: str) -> Text:
        """Return a text with the statements that start at an offset."""
        found = Text(self.view)
        found.add(_FUNCTION, start)
        found.add(statements, start)
        found.add(";}", start)
        return found.close()

    def _statement(self, asm: Node) -> tuple[int, Text | None]:
        """Return the same for a statement in the tree. It is read token by token, as macros may be anywhere in it."""
        tokens = self.tree.leaves(asm.start_byte, self.strings)
        next(tokens)
        token = _code(tokens, self.comments)
        while token is not None and self.said(token) in _QUALIFIERS:
            token = _code(tokens, self.comments)
        if token is None or self.said(token) != "(":
            return asm.end_byte, None
        found, depth, line, end = Text(self.view), 0, -1, token.end_byte
        found.begins, found.opened = asm.start_byte, token.end_byte
        while (token := _code(tokens, self.comments)) is not None:
            said = self.said(token)
            if token.start_byte < line:
                continue
            if said.startswith("#"):
                # The text after a directive may replace the text before it.
                line = self._end_of_line(token.start_byte)
                found.add(HOLE + "\n", token.start_byte)
            elif token.type in self.strings:
                string = self.literal(token)
                (verbatim if "R" in string.prefix else unescape)(
                    self.text[string.start : string.end], string.start, found
                )
            elif not depth and (said in (")", ":", "::", ",", ";", "{", "}")):
                break
            else:
                if not depth and said not in "()\n":
                    found.add(ELSEWHERE, token.start_byte)
                depth += (said == "(") - (said == ")")
            end = token.end_byte
        found.close()
        operands = constraints.cpp(self.text, end)
        found.constraints, numbers = operands or ((), {})
        found.text = _NAMED.sub(partial(_numbered, numbers), found.text)
        return end, found

    def _end_of_line(self, position: int) -> int:
        end = self.text.find("\n", position)
        while end > 0 and self.text[end - 1] == "\\":
            end = self.text.find("\n", end + 1)
        return end if end >= 0 else len(self.text)


def _code(tokens: Iterator[Node], comments: frozenset[str]) -> Node | None:
    """Return the next token that is not a comment."""
    return next((t for t in tokens if t.type not in comments), None)


def _on_one_line(m: re.Match[str]) -> str:
    """Return a string within a string on one line: there, \\n ends a line even inside a string."""
    return m[0].replace("\n", " ") if m[0].startswith('"') else m[0]


def _as_a_name(m: re.Match[str]) -> str:
    macro = "macro" if m["macro"] else "first"
    return m[0][: m.start(macro) - m.start()] + "_" * len(m[macro])


def _blank(m: re.Match[str]) -> str:
    return re.sub(r"\S", " ", m[0])


def _numbered(numbers: dict[str, int], m: re.Match[str]) -> str:
    """Return the number of a named operand, in as many characters; an unknown name remains a name."""
    if m[1] is None:
        return "__"
    return f"%{numbers[m[1]]}".ljust(len(m[0])) if m[1] in numbers else f"%_{m[1]}_"


def in_program(text: Text) -> list[Text]:
    """Return the inline assembly of a string that contains a program. Compilers write `asm` into the comments of PTX
    too, so the word alone is no evidence."""
    return [t for t in Cpp(text).texts() if t.text.strip()] if "asm" in text.text else []


def by_itself(text: Text) -> Iterator[Text]:
    """Yield a string that is not an argument of asm() if it is PTX: if it names a version, or has a statement."""
    if is_module(text.text):
        yield text
    elif has_statement(text.text):
        text.prose = True
        yield text


class Host(ParsedProgram):
    """A program in another language, whose strings are PTX or CUDA C++ with asm, unless they tell people something."""

    def read(self, strings: Strings) -> Iterator[Text]:
        if not self.is_told(strings.value):
            found, is_template = self.found(strings)
            yield from in_program(found) or ([found] if is_template else by_itself(found))
