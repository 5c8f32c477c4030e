"""The results that integer arithmetic, logic, shifts and moves must return, found without the specification: in
Python's integers of any size (PTX ISA 9.4, 9.7.1, 9.7.9 and 9.7.10)."""

from __future__ import annotations

OPCODES = ("mov", "and", "or", "xor", "not", "shl", "shr", "add", "sub")


def width(type_: str) -> int:
    """Of an operand; 1 of a predicate."""
    return 1 if type_ == "pred" else int(type_[1:])


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def expected(spelling: str, sources: list[str], operands: tuple[int, ...]) -> int:
    """The result's bits. `sources` are the types of the source registers."""
    opcode, *modifiers = spelling.split(".")
    type_ = modifiers[-1]
    bits = width(type_)
    ones = (1 << bits) - 1
    a, *more = operands
    b = more[0] if more else 0
    if opcode == "mov":
        step = width(sources[0])
        return sum(x << (i * step) for i, x in enumerate(operands))
    if opcode in ("and", "or", "xor"):
        pairs = [(a >> i & 1, b >> i & 1) for i in range(bits)]
        return sum({"and": u * v, "or": max(u, v), "xor": (u + v) % 2}[opcode] << i for i, (u, v) in enumerate(pairs))
    if opcode == "not":
        return ones - a
    if opcode == "shl":
        return a * 2**b & ones if b < bits else 0
    if opcode == "shr":
        value = signed(a, bits) if type_[0] == "s" else a
        return value // 2 ** min(b, bits) & ones
    sign = 1 if opcode == "add" else -1
    if "sat" not in modifiers:
        return (a + sign * b) % 2**bits
    if type_[0] == "u":
        return min(max(a + sign * b, 0), ones)
    total = signed(a, bits) + sign * signed(b, bits)
    return min(max(total, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1) % 2**bits
