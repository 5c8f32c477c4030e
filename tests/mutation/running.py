"""Mutants, each in a process of its own that begins with all that is known of the specification as it is."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from helpers import repository

from mutation import killers, results
from mutation.mutants import Mutant
from mutation.world import World, root_with

# Seconds of a processor after which a check is taken to hang.
_LIMIT = 120
SURVIVED, BROKE = "survived", "broke"


@dataclass(frozen=True)
class Outcome:
    """A mutant's end: who killed it, `survived` if nobody did, or `broke` if a check broke down; and what was said."""

    mutant: Mutant
    by: str
    said: str
    seconds: float

    @property
    def killed(self) -> bool:
        return self.by not in (SURVIVED, BROKE)


def judged(mutant: Mutant) -> tuple[str, str]:
    with root_with(mutant) as root:
        world = World(mutant, root)
        for name, kills in killers.KILLERS.items():
            if said := kills(world):
                return name, said
    return SURVIVED, ""


def prepare(opcodes: Iterable[str]) -> None:
    """Compute what judges say of some opcodes, which is the same for all of their mutants."""
    spec = repository.specification()
    checked = repository.checked()
    for opcode in (o for o in opcodes if o in checked):
        for v, programs in checked[opcode].programs.items():
            for target in programs:
                if target and results.ptxemu_follows(v.spelling, target):
                    results.published(v.spelling, target)
                else:
                    results.of(v, target, spec)
            results.registers(v.spelling, v.operands)
    gc.collect()
    gc.freeze()


def run(mutants: Sequence[Mutant], processes: int = 1) -> Iterator[Outcome]:
    """One after the other, or several at a time."""
    repository.checked()
    running: dict[int, tuple[Mutant, int]] = {}
    left = list(reversed(mutants))
    while left or running:
        if left and len(running) < processes:
            mutant = left.pop()
            read, write = os.pipe()
            child = os.fork()
            if not child:
                _answer(mutant, write)
            os.close(write)
            running[child] = mutant, read
            continue
        child, status, used = os.wait4(-1, 0)
        if child not in running:
            continue
        mutant, read = running.pop(child)
        with os.fdopen(read, "rb") as file:
            said = file.read()
        by, text = pickle.loads(said) if said else (BROKE, f"ended with {status}")
        yield Outcome(mutant, by, text, used.ru_utime + used.ru_stime)


def _answer(mutant: Mutant, write: int) -> None:
    """In the child: judge, tell, end."""
    resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT, _LIMIT))
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        found = judged(mutant)
    except BaseException as e:
        import traceback

        found = BROKE, f"{type(e).__name__}: {e} {traceback.format_exc()[-400:]}"
    with os.fdopen(write, "wb") as file:
        file.write(pickle.dumps(found))
    os._exit(0)
