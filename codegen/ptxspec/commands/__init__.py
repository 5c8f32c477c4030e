"""The commands, grouped by what they need: each `configure_NAME` adds a command's arguments and says what runs it."""

from __future__ import annotations

OK, NO, MISUSE = 0, 1, 2


def counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
