"""The strings of programs: their concatenations, their placeholders, and their uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...ptx.scanning import HOLE, View
from .. import constraints, traces
from .text import ELSEWHERE, Text, filled_in, replaced_later, unescape
from .trees import NodePath, Walk, parse

if TYPE_CHECKING:
    from tree_sitter import Node


# Functions that take PTX: the name, and the number of the argument, from 1 on; 0 is the first string.
Calls = tuple[tuple[str, int], ...]


class Literal(NamedTuple):
    """A string: its prefix, where its text starts and ends, and its placeholders."""

    prefix: str
    start: int
    end: int
    holes: tuple[tuple[int, int], ...]


class Strings(NamedTuple):
    """Strings that form one value: the node that joins them, and the resulting value, for example of `.format()`.
    `percent`: an operator fills them in; `replaced` are the parts that `.replace()` fills in."""

    joined: Node
    value: NodePath
    percent: bool = False
    replaced: tuple[str, ...] = ()


class Argument(NamedTuple):
    """A value as an argument: what is called, the list of all arguments, the argument, and its name."""

    called: str
    arguments: Node
    node: Node
    name: str


_OPENING = re.compile(
    r"""(?P<prefix>[\w$@]*+)(?P<hashes>\#*+)(?P<quote>"{3,}|'{3}|["'`])(?:(?<=R")(?P<delimiter>[^()\\\s]{0,16})\()?""",
    re.VERBOSE,
)
_REPLACES = re.compile(r"(?i:replace_?(?:all)?)")
_UNINDENTING = re.compile(r"(?:^|\W)(?:dedent|cleandoc|string)$")
_LISTED = re.compile(r"[=&+\w,~{} ]*+")
# The name of a called function, before the arguments of a template.
_NAME = re.compile(r"\w+(?=(?:<[^()]*>)?$)")
# Julia concatenates strings with *.
_ASSIGNS = ("=", "+=", "*=")
_SCOPES = frozenset(
    [
        "function_definition",
        "function_item",
        "function_declaration",
        "method_declaration",
        "method_definition",
        "lambda_expression",
        "arrow_function",
    ]
)
_BRACKETS = "parenthesized_expression"
# How many nodes outwards to search for a use as a message to people.
_FURTHEST = 64
# The names of arguments that are inline assembly in any call, and in calls of functions with `asm` in their name.
_ASM = "asm"
_TEMPLATES = frozenset(["asm_string", "template", "ptx"])
# Methods of a text, such as a compiled kernel's: what they search for is not compiled.
_SEARCHES = re.compile(
    r"(?:\.|->)\s*+(?i:count|contains|includes|r?find\w*|r?index|(?:last_?)?index_?of|(?:starts|ends)_?with"
    r"|replace_?(?:all|first)?|r?split\w*|r?partition|search|match(?:es|_?all)?|remove(?:prefix|suffix))$"
)


class ParsedProgram:
    """A program, parsed with the grammar of its language. The class attributes are names in that grammar: `package` has
    the grammar; `joins` concatenate strings, with these operators; `members` are attributes of values; `named` are
    arguments that may have names; `told` contain messages to people; `blocks` contain statements."""

    package: str
    strings: frozenset[str]
    comments: frozenset[str] = frozenset(["comment"])
    holes: frozenset[str] = frozenset()
    joins: Mapping[str, frozenset[str]]
    calls: frozenset[str]
    arguments: frozenset[str]
    named: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()

    def __init__(self, view: View, calls: Calls = ()) -> None:
        self.view, self.text, self._own_calls = view, view.text, dict(calls)
        self.done = -1
        # By the start of the function that has a variable, and the variable's name.
        self._assigned: dict[tuple[int, str], Text] = {}
        self.tree = parse(self.package, self.as_parsed())

    def as_parsed(self) -> str:
        """Return the program as the grammar can parse it, with every character at its offset."""
        return self.text

    def texts(self) -> Iterator[Text]:
        """Yield the inline assembly of the program, and its strings that are PTX."""
        for found in self.traced():
            yield from self.read(found)

    def read(self, strings: Strings) -> Iterator[Text]:
        """Yield the texts of strings if they are PTX."""
        raise NotImplementedError

    def found(self, strings: Strings) -> tuple[Text, bool]:
        """Return the text of strings, and whether it is passed as inline assembly."""
        argument = self.argument(strings.value)
        is_ptx = argument is not None and self._takes_ptx(argument)
        is_template = argument is not None and (is_ptx or self.is_template(argument))
        found = self.text_of(strings, is_template)
        found.named = is_ptx
        if argument:
            found.listed = self.listed(argument)
            found.constraints = constraints.letters(found.listed)
        self._assign(strings.value, found)
        return found, is_template

    def _assign(self, value: NodePath, text: Text) -> None:
        """Record the variable to which a text is assigned, and the earlier text to which it is appended."""
        place = value.parent
        operator = self.said(place.node.child(1)) if place and place.node.child_count > 2 else ""
        if place is None or operator not in _ASSIGNS:
            return
        scope = place.within(_SCOPES)
        key = (scope.node.start_byte if scope else -1, self.said(place.node.child(0)))
        if operator != "=":
            text.before = self._assigned.get(key)
        self._assigned[key] = text

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        """Add the text of a string. `percent`: an operator fills it in."""
        self.fill(found, into, unescape)

    # Strings

    def traced(self) -> Iterator[Strings]:
        """Yield the strings with traces of PTX, each with those that it is concatenated with."""
        known: set[int] = set()
        walk = Walk(self.tree.root)
        for leaf in self.leaves(walk):
            string = leaf.within(self.strings) or self._passed(leaf, walk)
            if string is not None and string.node.start_byte not in known:
                found = self.around(string)
                known.update(n.start_byte for n in self.parts(found.joined) if n.type in self.strings)
                yield found

    def leaves(self, walk: Walk) -> Iterator[NodePath]:
        """Yield the places of traces of PTX at or after `done`, which callers may advance."""
        self.done = -1
        for at in traces.offsets(self.text):
            if at >= self.done:
                leaf = walk.to(at)
                self.done = self.done if leaf.node.child_count else leaf.node.end_byte
                yield leaf

    def _passed(self, leaf: NodePath, walk: Walk) -> NodePath | None:
        """Return the first string that is passed to the call, or as the argument, whose name has the trace."""
        call = leaf.within(self.calls | self.named | self.arguments | self.blocks)
        if call is None or call.node.type not in self.calls | self.named:
            return None
        for arguments in call.node.children if call.node.type in self.calls else (call.node,):
            if arguments.type in self.arguments | self.named:
                string = next((s for value in _named(arguments) if (s := self._string(value))), None)
                return walk.to(string.start_byte).within(self.strings) if string is not None else None
        return None

    def around(self, string: NodePath) -> Strings:
        """Return a string with those that it is concatenated with."""
        joined = string
        while (parent := joined.parent) is not None and (parent.node.type == _BRACKETS or self._joins(parent.node)):
            joined = parent
        value, percent = joined, False
        replaced: list[str] = []
        while (parent := value.parent) is not None:
            node, call = parent.node, parent.parent
            first = node.start_byte == value.node.start_byte
            if first and node.type == "binary_operator" and self.said(node.child(1)) == "%":
                percent = True
            elif call is not None and (
                (first and node.type in self.members and call.node.type in self.calls)
                or (node.type in self.arguments and _UNINDENTING.search(self._called(parent)))
            ):
                replaced += self._replaced(node, call.node)
                parent = call
            elif node.type != _BRACKETS:
                break
            value = parent
        return Strings(joined.node, value, percent, tuple(replaced))

    def _replaced(self, method: Node, call: Node) -> Iterator[str]:
        """Yield the text that a call of a string's method replaces. A text of signs is not a placeholder: it is
        written in another way."""
        arguments = next((c for c in call.children if c.type in self.arguments), None)
        if arguments is None or method.type not in self.members or not _REPLACES.fullmatch(self.said(_last(method))):
            return
        first = next(_named(arguments), None)
        string = self._string(first) if first is not None else None
        if string is not None:
            found = self.literal(string)
            text = self.text[found.start : found.end]
            if re.search(r"\w", text):
                yield text

    def _joins(self, node: Node) -> bool:
        operators = self.joins.get(node.type)
        return operators is not None and (not operators or self.said(node.child(1)) in operators)

    def parts(self, joined: Node) -> Iterator[Node]:
        """Yield the operands of a concatenation in order: strings and other values."""
        left = [joined]
        while left:
            node = left.pop()
            if node.type in self.strings:
                yield node
            elif node.type == _BRACKETS or self._joins(node):
                left += (c for c in reversed(node.named_children) if c.type != "operator")
            elif node.type not in self.comments and node.type != "ERROR":
                yield node

    def text_of(self, strings: Strings, whole: bool) -> Text:
        """Return the text of strings. `whole`: there is nothing before and behind it."""
        found, hole = Text(self.view), -1
        found.replaced = strings.replaced
        if not whole:
            found.add(ELSEWHERE, strings.joined.start_byte)
        for part in self.parts(strings.joined):
            if part.type in self.strings:
                self.add(self.literal(part), found, strings.percent)
            elif hole != found.length:
                found.add(HOLE, part.start_byte)
                hole = found.length
        if not whole:
            found.add(ELSEWHERE, strings.joined.end_byte)
        return found.close()

    def literal(self, node: Node) -> Literal:
        """Return the parts of a string."""
        start, end = node.start_byte, node.end_byte
        m = _OPENING.match(self.text, start, end)
        if m is None:
            return Literal("", start, end, ())
        closing = len(m["quote"]) + len(m["hashes"])
        if m["delimiter"] is not None:
            closing += len(m["delimiter"]) + 1
        holes = tuple((c.start_byte, c.end_byte) for c in node.children if c.type in self.holes)
        return Literal(m["prefix"], m.end(), max(m.end(), end - closing), holes)

    def fill(
        self,
        found: Literal,
        into: Text,
        plain: Callable[[str, int, Text], None],
        later: re.Pattern[str] | None = None,
    ) -> None:
        """Add a string to a text, with holes for placeholders: those of the grammar, and those of a pattern."""
        if into.replaced:
            later = replaced_later(into.replaced, later)
        position = found.start
        for start, end in (*found.holes, (found.end, found.end)):
            between = self.text[position:start]
            if later is None:
                plain(between, position, into)
            else:
                filled_in(between, position, later, into, plain)
            if end > start:
                into.add(HOLE, start)
            position = end

    # Uses of strings

    def said(self, node: Node | None) -> str:
        """Return the text of a node."""
        return self.text[node.start_byte : node.end_byte] if node is not None else ""

    def _called(self, arguments: NodePath) -> str:
        call = arguments.parent
        return self.text[call.node.start_byte : arguments.node.start_byte].rstrip() if call is not None else ""

    def argument(self, value: NodePath) -> Argument | None:
        """Return a value as an argument, or None if it is not one."""
        passed, name, parent = value, "", value.parent
        if parent is not None and parent.node.type in self.named:
            passed, parent = parent, parent.parent
            name = self.said(passed.node.child(0)) if passed.node.child_count > 1 else ""
        if parent is None or parent.node.type not in self.arguments:
            return None
        return Argument(self._called(parent), parent.node, passed.node, name)

    def _takes_ptx(self, a: Argument) -> bool:
        """Return whether an argument is PTX according to the configured calls."""
        name = _NAME.search(a.called)
        place = self._own_calls.get(name[0], -1) if name else -1
        if place > 0:
            arguments = [n for n in _named(a.arguments) if n.type not in self.comments]
            return arguments.index(a.node) == place - 1
        return place == 0 and self._is_first(a)

    def _is_first(self, a: Argument) -> bool:
        """Return whether no string precedes an argument."""
        first = next((other for other in _named(a.arguments) if self._string(other)), None)
        return first is None or first.start_byte >= a.node.start_byte

    def is_template(self, a: Argument) -> bool:
        """Return whether an argument is inline assembly: the one with that name, or the first string in a call of a
        function with that name that does not search a text."""
        if a.name == _ASM:
            return True
        if _ASM not in a.called.lower() or _SEARCHES.search(a.called):
            return False
        if a.name:
            return a.name in _TEMPLATES
        return self._is_first(a)

    def _string(self, argument: Node) -> Node | None:
        """Return the first string of an argument that concatenates strings, else None."""
        value = _last(argument) if argument.type in self.named else argument
        return next((n for n in self.parts(value) if n.type in self.strings), None)

    def listed(self, a: Argument) -> str:
        """Return the constraints listed behind inline assembly, as LLVM has them: "=f,f". Empty if they are unknown."""
        for other in _named(a.arguments):
            name, value = "", other
            if other.type in self.named:
                name = self.said(other.child(0)) if other.child_count > 1 else ""
                value = _last(other)
            if name == "constraints" or (not name and other.start_byte >= a.node.end_byte):
                if value.type not in self.strings:
                    return ""
                found = self.literal(value)
                listed = self.text[found.start : found.end]
                return listed if "=" in listed and _LISTED.fullmatch(listed) else ""
        return ""

    def is_told(self, value: NodePath) -> bool:
        """Return whether a value is a message to people, such as that of an error."""
        found = value.within(self.told | self.blocks, _FURTHEST)
        return found is not None and found.node.type in self.told


def _named(node: Node) -> Iterator[Node]:
    """Yield the children that are not punctuation. Usually only the first of many is needed."""
    child = node.named_child(0) if node.named_child_count else None
    while child is not None:
        yield child
        child = child.next_named_sibling


def _last(node: Node) -> Node:
    """Return the last child that is not punctuation, or the node itself."""
    return (node.named_child(node.named_child_count - 1) if node.named_child_count else None) or node
