"""Two comparisons of the same numbers as one."""

from __future__ import annotations

from dataclasses import replace

from ..semantics.program import Apply, Let, Term

# (x, y): x is less than y, or greater, so that neither is a NaN.
LESS_GREATER = "compareLessGreater"


def comparing_once(lets: tuple[Let, ...]) -> tuple[Let, ...]:
    """Return lets in which `x < y or x > y` is one function."""

    def changed(term: Term) -> Term:
        match term:
            case Apply(
                function="logicalOr",
                arguments=(
                    Apply(function="compareLess", arguments=(x, y)) as less,
                    Apply(function="compareGreater", arguments=(a, b)) as greater,
                ),
            ) if (x, y) == (a, b) and type(less) is type(greater):
                return replace(less, function=LESS_GREATER)
            case Apply():
                return term.of(map(changed, term.arguments))
        return term

    return tuple(let.of(changed(let.value)) for let in lets)
