"""The results that integer arithmetic, logic, shifts and moves must return, found without the specification: in
Python's integers of any size, bit by bit and byte by byte (PTX ISA 9.4, 9.7.1, 9.7.9 and 9.7.10)."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any


def width(type_: str) -> int:
    """Of an operand; 1 of a predicate."""
    return 1 if type_ == "pred" else prod(map(int, type_.removeprefix("im")[1:].split("x")))


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def value(x: int, type_: str) -> int:
    """The integer that bits of a type stand for."""
    return signed(x, width(type_)) if type_[0] == "s" else x


def within(x: int, type_: str) -> int:
    """The integer of a type next to x."""
    bits = width(type_)
    least = -(1 << (bits - 1)) if type_[0] == "s" else 0
    return min(max(x, least), least + (1 << bits) - 1)


def expected(spelling: str, result: str, sources: list[str], operands: tuple[int, ...]) -> int:
    """The result's bits. `result` and `sources` are the types of the registers."""
    opcode, *modifiers = spelling.split(".")
    if "x" in result and opcode not in ("mov", "cvt"):
        # Lanes are computed one by one.
        lane, size = result.split("x")[0], width(result.split("x")[0])
        alone = ".".join([opcode, *(m for m in modifiers if m != result), lane])
        parts = zip(*([x >> i & (1 << size) - 1 for i in range(0, width(result), size)] for x in operands), strict=True)
        return sum(expected(alone, lane, [lane] * len(operands), p) << (size * i) for i, p in enumerate(parts))
    if opcode == "mov":
        step = width(sources[0])
        return sum(x << (i * step) for i, x in enumerate(operands))
    values = [value(x, t) for x, t in zip(operands, sources, strict=True)]
    found = _OPCODES[opcode](modifiers, sources, *values)
    return found % (1 << width(result))


def _sum(sign: int) -> Callable[..., int]:
    def f(modifiers: list[str], types: list[str], a: int, b: int) -> int:
        return within(a + sign * b, types[0]) if "sat" in modifiers else a + sign * b

    return f


def _product(modifiers: list[str], types: list[str], a: int, b: int, c: int = 0) -> int:
    part = a * b >> width(types[0]) if "hi" in modifiers else a * b
    if "sat" in modifiers:
        return within(signed(part % 2**32, 32) + c, types[0])
    return part + c


def _product_of_24(modifiers: list[str], types: list[str], a: int, b: int, c: int = 0) -> int:
    x, y = (signed(v % 2**24, 24) if types[0][0] == "s" else v % 2**24 for v in (a, b))
    part = x * y >> 16 if "hi" in modifiers else x * y
    if "sat" in modifiers:
        return within(signed(part % 2**32, 32) + c, types[0])
    return part + c


def _quotient(modifiers: list[str], types: list[str], a: int, b: int) -> int:
    # What the manual leaves open is what ptxas folds: all ones.
    if b == 0:
        return -1
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def _remainder(modifiers: list[str], types: list[str], a: int, b: int) -> int:
    return a - b * _quotient(modifiers, types, a, b) if b else -1


def _extreme(choose: Callable[[int, int], int]) -> Callable[..., int]:
    def f(modifiers: list[str], types: list[str], a: int, b: int) -> int:
        return max(choose(a, b), 0) if "relu" in modifiers else choose(a, b)

    return f


def _highest(modifiers: list[str], types: list[str], a: int) -> int:
    # The highest bit unlike the sign, as the bits are looked at one after another.
    for place in reversed(range(width(types[0]))):
        if a >> place & 1 != (a < 0):
            return width(types[0]) - 1 - place if "shiftamt" in modifiers else place
    return -1


def _nth(modifiers: list[str], types: list[str], mask: int, base: int, offset: int) -> int:
    """As the loop of the manual, 9.7.1.18."""
    offset = signed(offset, 32)
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else -1
    place, count = base, abs(offset)
    while 0 <= place < 32:
        count -= mask >> place & 1
        if count == 0:
            return place
        place += 1 if offset > 0 else -1
    return -1


def _eight_bits(types: list[str], *operands: int) -> list[int]:
    """A place and a length, which the manual restricts to 255; of more ptxas takes eight bits, or, of 64, all."""
    return [x & 0xFF if width(types[0]) == 32 else x for x in operands]


def _field(modifiers: list[str], types: list[str], a: int, b: int, c: int) -> int:
    start, length, top = (*_eight_bits(types, b, c), width(types[0]) - 1)
    bits = a % 2 ** width(types[0])
    above = bits >> min(start + length - 1, top) & 1 if types[0][0] == "s" and length else 0
    chosen = [(bits >> (start + i) & 1) if i < length and start + i <= top else above for i in range(top + 1)]
    return sum(bit << i for i, bit in enumerate(chosen))


def _inserted(modifiers: list[str], types: list[str], a: int, b: int, c: int, e: int) -> int:
    start, length = _eight_bits(types, c, e)
    found = [b >> i & 1 for i in range(width(types[0]))]
    for i in range(start, min(start + length, len(found))):
        found[i] = a >> (i - start) & 1
    return sum(bit << i for i, bit in enumerate(found))


def _limited(modifiers: list[str], x: int) -> int:
    return min(x, 32) if "clamp" in modifiers else x % 32


def _mask(modifiers: list[str], types: list[str], a: int, b: int) -> int:
    return ((1 << _limited(modifiers, b)) - 1) << _limited(modifiers, a)


def _extended(modifiers: list[str], types: list[str], a: int, b: int) -> int:
    length = _limited(modifiers, b)
    kept = a % 2**length
    return signed(kept, length) if types[0][0] == "s" and length else kept


def _dot(count: int, wide: int) -> Callable[..., int]:
    """Products of `count` elements of a, of `wide` bits, with bytes of b."""

    def f(modifiers: list[str], types: list[str], a: int, b: int, c: int) -> int:
        first = 2 if "hi" in modifiers else 0
        total = c
        for i in range(count):
            x, y = a >> (wide * i) & (1 << wide) - 1, b >> (8 * (first + i)) & 0xFF
            total += (signed(x, wide) if types[0][0] == "s" else x) * (signed(y, 8) if types[1][0] == "s" else y)
        return total

    return f


def _chosen(modifiers: list[str], types: list[str], a: int, b: int, c: int) -> int:
    data = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    mode = next((m for m in modifiers if m != "b32"), "")
    if not mode:
        nibbles = [c >> (4 * i) & 0xF for i in range(4)]
        found = [data[n & 7] if n < 8 else 0xFF * (data[n & 7] >> 7) for n in nibbles]
    else:
        # By the table of the manual, 9.7.10.7: the bytes from the highest to the lowest, where the lower bits of c are
        # 0, 1, 2 and 3.
        table = {
            "f4e": ("3210", "4321", "5432", "6543"),
            "b4e": ("5670", "6701", "7012", "0123"),
            "rc8": ("0000", "1111", "2222", "3333"),
            "ecl": ("3210", "3211", "3222", "3333"),
            "ecr": ("0000", "1110", "2210", "3210"),
            "rc16": ("1010", "3232", "1010", "3232"),
        }
        found = [data[int(n)] for n in reversed(table[mode][c & 3])]
    return int.from_bytes(bytes(found), "little")


def _funnel(modifiers: list[str], types: list[str], a: int, b: int, c: int) -> int:
    both, places = b << 32 | a, _limited(modifiers, c)
    return both << places >> 32 if "l" in modifiers else both >> places


def _shift_right(modifiers: list[str], types: list[str], a: int, b: int) -> int:
    return a // 2 ** min(b, width(types[0]))


def _shift_left(modifiers: list[str], types: list[str], a: int, b: int) -> int:
    return a * 2**b if b < width(types[0]) else 0


def _table(modifiers: list[str], types: list[str], a: int, b: int, c: int, table: int, k: int = 0) -> int:
    numbers = ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1) for i in range(32))
    return sum((table >> n & 1) << i for i, n in enumerate(numbers))


def _packed(modifiers: list[str], types: list[str], a: int, b: int, c: int = 0) -> int:
    small = modifiers[2]
    bits = width(small)
    return c << 2 * bits | within(a, small) % (1 << bits) << bits | within(b, small) % (1 << bits)


def _polynomial(modifiers: list[str], types: list[str], a: int, b: int, c: int) -> int:
    product, a = 0, a % 2**64
    for i in range(64):
        product ^= a << i if b >> i & 1 else 0
    return (product >> 64 if "hi" in modifiers else product % 2**64) ^ c


def _bits(of: Callable[..., bool]) -> Callable[..., int]:
    def f(modifiers: list[str], types: list[str], *operands: int) -> int:
        return sum(of(*(x >> i & 1 for x in operands)) << i for i in range(width(types[0])))

    return f


_OPCODES: dict[str, Callable[..., Any]] = {
    "add": _sum(1),
    "sub": _sum(-1),
    "mul": _product,
    "mad": _product,
    "mul24": _product_of_24,
    "mad24": _product_of_24,
    "sad": lambda modifiers, types, a, b, c: c + abs(a - b),
    "div": _quotient,
    "rem": _remainder,
    "abs": lambda modifiers, types, a: abs(a),
    "neg": lambda modifiers, types, a: -a,
    "min": _extreme(min),
    "max": _extreme(max),
    "popc": lambda modifiers, types, a: a.bit_count(),
    "clz": lambda modifiers, types, a: width(types[0]) - a.bit_length(),
    "bfind": _highest,
    "fns": _nth,
    "clmad": _polynomial,
    "brev": lambda modifiers, types, a: int(f"{a:0{width(types[0])}b}"[::-1], 2),
    "bfe": _field,
    "bfi": _inserted,
    "bmsk": _mask,
    "szext": _extended,
    "dp4a": _dot(4, 8),
    "dp2a": _dot(2, 16),
    "and": _bits(lambda a, b: a == 1 and b == 1),
    "or": _bits(lambda a, b: a == 1 or b == 1),
    "xor": _bits(lambda a, b: a != b),
    "not": _bits(lambda a: a == 0),
    "cnot": lambda modifiers, types, a: int(a == 0),
    "lop3": _table,
    "shf": _funnel,
    "shl": _shift_left,
    "shr": _shift_right,
    "prmt": _chosen,
    "cvt": _packed,
}
OPCODES = ("mov", *_OPCODES)


def second(spelling: str, d: int, operands: tuple[int, ...]) -> int:
    """The predicate beside a result: whether that is not zero, and what an operand says (PTX ISA 9.4, 9.7.9.6)."""
    return int(d != 0 and operands[-1] != 0) if ".and." in spelling else int(d != 0 or operands[-1] != 0)


def with_code(spelling: str, operands: tuple[int, ...], code: bool) -> tuple[int, bool]:
    """The result's bits of a link of a chain, and the carry or the borrow that it leaves (PTX ISA 9.4, 9.7.2). `code`
    is what comes in, False where nothing does."""
    opcode, *modifiers, type_ = spelling.split(".")
    bits = width(type_)
    if opcode.startswith("mad"):
        a, b, addend = operands
        product = value(a, type_) * value(b, type_) >> (bits if "hi" in modifiers else 0)
        first, second = product % (1 << bits), addend
    else:
        first, second = operands
    sign = -1 if opcode.startswith("sub") else 1
    if "sat" in modifiers:
        return within(signed(first, bits) + sign * (signed(second, bits) + code), type_) % (1 << bits), False
    total = first + sign * (second + code)
    return total % (1 << bits), not 0 <= total < 1 << bits
