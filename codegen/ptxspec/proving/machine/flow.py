"""The instructions of a kernel that do the work, from the loads of its operands to the stores of its results, with
names for registers.

The kernel's own instructions are left out: those that read its parameter, loads and shuffles of operands, stores, and
its end. Names follow values and not registers, so that the same work has the same text: `a` is an operand, `d` the
result, `t1` an intermediate value, `p1` a predicate, `u1` a value that all threads share; `a+1` is the second register
of a pair, `t1:t2` a pair of two values. A value that is written under a condition keeps its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .kernels import STEP, Listed

# A register with its number, also in |R0|.H0_H0 or -R2.reuse.
_REGISTER = re.compile(r"\b(U?[RP])(\d+)\b")
_PREDICATE = re.compile(r"U?P(?:\d+|T)")
_REUSE = re.compile(r"\.reuse\b")
_OFFSET = re.compile(r"\[[^\[\]]*?(?:\+0x([0-9a-f]+))?\](?:,|$)")
# The beginning of every kernel: it sets its stack pointer.
_STACK = re.compile(r"R1,(?:RZ,RZ,)?c\[0x0\]")
# The place of a kernel's parameter.
_PARAMETERS = "c[0x0]"
# Instructions with a result of two registers: doubles, two floats, and those marked 64 for their result.
_WIDE = re.compile(
    r"(?:D(?:ADD|FMA|MUL|MNMX)|F(?:ADD|FMA|MUL)2)\b|CS2R$|U?IMAD\.WIDE|(?:F2F|I2F|FRND)(?:\.FTZ)?\.F64"
    r"|F2I(?:\.FTZ)?\.[SU]64|U?(?:MOV|IADD|SEL|LDC|LDG|I2I)(?:\.\w+)*\.64\b"
)
# Instructions that read pairs of registers as all operands.
_READS_PAIRS = re.compile(r"D(?:ADD|FMA|MUL|MNMX|SETP)\b|F(?:ADD|FMA|MUL)2\b|STG(?:\.\w+)*\.64\b")
# Instructions that may have a predicate before their result.
_LOGIC = re.compile(r"U?LOP3\b")
_FRAME = ("EXIT", "NOP", "LDG", "STG", "SHFL", "VOTE", "VOTEU", "RPCMOV")
_JUMPS = ("BRA", "BSSY", "BSYNC", "BREAK", "CALL", "RET", "WARPSYNC", "BMOV")
# Up to this many instructions are kept as they are; of more, only the counts.
WHOLE = 12

# A value: its number, and 1 for the second register of a pair.
Value = tuple[int, int]


class UnknownFlow(ValueError):
    """An error for an instruction that reads a register that nothing wrote: names would be wrong."""


@dataclass(frozen=True)
class MachineWork:
    """The machine code that does a variant's work: `count` instructions, and `beyond` more in subroutines that it may
    call. `text` is the instructions separated by `; `; if there are many or some jump, the count of each."""

    count: int
    beyond: int
    text: str


def work(code: Sequence[Listed], operands: Sequence[str], results: Sequence[str]) -> MachineWork:
    """Return the work of a kernel that loads `operands` in this order, and stores `results` behind them."""
    # Subroutines follow its end.
    start = begin(code)
    own = [(n, i) for n, i in enumerate(code) if n > start and not _is_frame(n, i)]
    end = next(n for n, i in enumerate(code) if name_of(i) == "EXIT" and not i.get("predicate"))
    main = [i for n, i in own if n < end]
    if len(main) > WHOLE or any(name_of(i).split(".")[0] in _JUMPS for i in main):
        counted = Counter(_kind(i) for i in main)
        text = ", ".join(f"{n} {kind}" if n > 1 else kind for kind, n in counted.items())
    else:
        text = "; ".join(_Walk([*operands, *results]).lines(code[start + 1 : end]))
    return MachineWork(len(main), len(own) - len(main), text)


def begin(code: Sequence[Listed]) -> int:
    """Return the place where a kernel sets its stack pointer, the last of its initial steps."""
    return next(n for n, i in enumerate(code) if _STACK.match(i.get("operands", "")))


def name_of(i: Listed) -> str:
    # nvdisasm does not know every instruction that ptxas emits.
    return str(i["opcode"]).strip() or "?"


def _kind(i: Listed) -> str:
    """Return an instruction's name without insignificant parts; for the special function unit, with its function."""
    first, *more = name_of(i).split(".")
    return f"{first}.{more[0]}" if first == "MUFU" else first


def _is_frame(n: int, i: Listed) -> bool:
    first, operands = name_of(i).split(".")[0], i.get("operands", "")
    return first in _FRAME or _PARAMETERS in operands or (first == "BRA" and operands == hex(16 * n))


class _Walk:
    """A walk through instructions without jumps that follows values. `places` are the contents of memory: operands,
    then results."""

    def __init__(self, places: Sequence[str]) -> None:
        self._places = places
        self._held: dict[str, Value] = {}
        self._letters: list[str] = []
        self._names: dict[int, str] = {}
        self._results: dict[Value, str] = {}
        self._ballots: dict[str, tuple[Value, str]] = {}

    def lines(self, code: Sequence[Listed]) -> list[str]:
        """Return the instructions that do the work, with the names of their values."""
        found: list[list[str | Value]] = []
        for n, i in enumerate(code):
            first = name_of(i).split(".")[0]
            if first == "LDG":
                register, _, address = i["operands"].partition(",")
                self._names[self._new("", register, _WIDE.match(name_of(i)))] = self._places[_place(address)]
            elif first == "SHFL":
                # This makes a predicate from a loaded word.
                to, _, word, *_ = i["operands"].split(",")
                self._held[to] = self._held[word]
            elif first in ("VOTE", "VOTEU"):
                # This makes a word to store from a predicate.
                to, _, predicate = i["operands"].split(",")
                self._ballots[to] = self._value(predicate.lstrip("!")), "!" * predicate.startswith("!")
            elif first == "STG":
                self._store(i)
            elif not _is_frame(n, i):
                found.append(self._instruction(i))
        counts: Counter[str] = Counter()
        return ["".join(p if isinstance(p, str) else self._told(p, counts) for p in line) for line in found]

    def _store(self, i: Listed) -> None:
        """Name the stored value after the result."""
        address, _, register = i["operands"].rpartition(",")
        result = self._places[_place(address)]
        if register in self._ballots:
            value, sign = self._ballots[register]
            self._results.setdefault(value, sign + result)
        elif register != "RZ":
            stored = self._pair(register) if _READS_PAIRS.match(name_of(i)) else [self._value(register)]
            for value, name in zip(stored, (result, f"{result}+1"), strict=False):
                self._results.setdefault(value, name)

    def _instruction(self, i: Listed) -> list[str | Value]:
        name, guard = name_of(i), i.get("predicate", "")
        operands = _REUSE.sub("", i.get("operands", "")).replace(" ", "").split(",")
        written = _written(name, operands)
        before = [*self._named(guard, pairs=False), " "] if guard else []
        read = [self._named(text, bool(_READS_PAIRS.match(name))) for text in operands[written:]]
        for text in operands[:written]:
            m = _REGISTER.fullmatch(text)
            if m and not (guard and text in self._held):
                self._new({"R": "t", "P": "p"}.get(m[1], "u"), text, _WIDE.match(name) if m[1][-1] == "R" else None)
        parts = [*before, name]
        for n, one in enumerate([*(self._named(text, pairs=False) for text in operands[:written]), *read]):
            parts += [", " if n else " ", *one]
        return parts

    def _new(self, letter: str, register: str, wide: object = None) -> int:
        """Return a new value in a register, or in it and the next one."""
        number = len(self._letters)
        self._letters.append(letter)
        self._held[register] = number, 0
        if wide:
            self._held[_next(register)] = number, 1
        return number

    def _named(self, text: str, pairs: bool) -> list[str | Value]:
        """Return an operand, with values in place of registers."""
        parts: list[str | Value] = []
        end = 0
        for m in _REGISTER.finditer(text):
            parts.append(text[end : m.start()])
            value, *second = self._pair(m[0]) if pairs and m[1] == "R" else [self._value(m[0])]
            parts.append(value)
            for other in second:
                parts += [":", other]
            end = m.end()
        return [*parts, text[end:]]

    def _pair(self, register: str) -> list[Value]:
        """Return the value or the two values in a register and the next one."""
        first, second = self._value(register), self._value(_next(register))
        return [first] if second == (first[0], 1) else [first, second]

    def _value(self, register: str) -> Value:
        if register not in self._held:
            raise UnknownFlow(f"{register} is read and nothing wrote it")
        return self._held[register]

    def _told(self, value: Value, counts: Counter[str]) -> str:
        number, part = value
        if value in self._results:
            return self._results[value]
        if (number, 0) in self._results:
            return f"{self._results[number, 0]}+1"
        if number not in self._names:
            letter = self._letters[number]
            counts[letter] += 1
            self._names[number] = f"{letter}{counts[letter]}"
        return self._names[number] + "+1" * part


def _next(register: str) -> str:
    letters, number = register.rstrip("0123456789"), register.lstrip("URP")
    return f"{letters}{int(number) + 1}"


def _place(address: str) -> int:
    m = _OFFSET.search(address)
    if m is None:
        raise UnknownFlow(f"{address} is no place in memory")
    return int(m[1] or "0", 16) // STEP


def _written(name: str, operands: Sequence[str]) -> int:
    """Return how many operands an instruction writes; they come first. A comparison writes two predicates, a logical
    operation one before its result, and an instruction with a carry predicates behind its result."""
    first, *others = operands
    if _PREDICATE.fullmatch(first):
        has_two = _LOGIC.match(name) or (others and _PREDICATE.fullmatch(others[0]))
        return 2 if has_two and not name.startswith("FCHK") else 1
    return 1 + next((n for n, text in enumerate(others) if not _PREDICATE.fullmatch(text)), 0)
