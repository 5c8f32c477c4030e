"""Completion of arguments. A shell asks at every Tab, so little is read: the database's own file, and the file of an
opcode once the opcode is written."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from argcomplete.completers import DirectoriesCompleter, FilesCompleter
from argcomplete.finders import CompletionFinder, safe_actions
from argcomplete.lexers import split_line

from ..catalog import names
from ..diagnostics import PtxspecError
from ..query.database import Database
from ..query.names import NATIVE
from . import database

# The greatest number of spellings that are offered whole. Of more, only the next names are offered.
_WHOLE = 40

Words = Iterable[str] | Mapping[str, str]


def answer(parser_of: Callable[[list[str]], argparse.ArgumentParser], storing: type[argparse.Action]) -> None:
    """Print the words that can stand at the shell's cursor, and end the process. `storing` is the action with which the
    parser stores values."""
    # The words before the cursor's.
    *_, words, _ = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    parser = parser_of(words[1:])
    _complete(parser)
    safe_actions.add(storing)
    CompletionFinder()(parser, always_complete_options=False, validator=lambda word, prefix: True)


def _complete(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete(command)
        elif action.choices is None and action.nargs != 0:
            # An option or argument without an entry has no known words: a number, an operand, a message.
            setattr(action, "completer", _OF.get(action.dest, _nothing))  # noqa: B010


def _nothing(**_: Any) -> Words:
    return ()


def _of_database(words: Callable[[Database, str], Words]) -> Callable[..., Words]:
    def found(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Words:
        try:
            some = words(database(argparse.Namespace(root=getattr(parsed_args, "root", None))), prefix)
        except PtxspecError:
            return ()
        if isinstance(some, Mapping):
            return {word: about for word, about in some.items() if word.startswith(prefix)}
        return [word for word in some if word.startswith(prefix)]

    return found


def _targets(db: Database, prefix: str) -> Words:
    """Return the targets with the names of their GPUs, or the GPUs with their targets if no target begins so."""
    if any(t.startswith(prefix) for t in db.targets):
        return {t: names.sold_as(db, t, whole=False) for t in db.targets}
    return {**names.meaning(db), NATIVE: "this machine's GPU"}


def _versions(db: Database, prefix: str) -> Words:
    return {v: f"CUDA {about.cuda}" if about.cuda else "" for v, about in db.versions.items()}


def _types(db: Database, prefix: str) -> Words:
    return sorted(db.types)


def _codes(db: Database, prefix: str) -> Words:
    from ..lint.findings import CODES

    return CODES


def _opcodes(db: Database, prefix: str) -> Words:
    return {o: about.summary for o, about in db.opcodes.items()}


def _variants(db: Database, prefix: str) -> Words:
    opcode, dot, _ = prefix.partition(".")
    if not dot and opcode not in db.opcodes:
        near = [o for o in db.opcodes if o.startswith(opcode)]
        if len(near) != 1:
            return {o: db.opcodes[o].summary for o in near}
        opcode = near[0]
    return _onward([v.spelling for v in db.opcodes[opcode].variants], prefix) if opcode in db.opcodes else ()


def _names(db: Database, prefix: str) -> Words:
    """Return opcodes and spellings."""
    found = _variants(db, prefix)
    near = [o for o in db.opcodes if o == prefix] or [o for o in db.opcodes if prefix and o.startswith(prefix)]
    return [*near, *found] if len(near) == 1 else found


def _onward(spellings: Iterable[str], prefix: str) -> Words:
    """Return the spellings with a prefix. If there are many, each is cut after the next modifier or type that tells
    them apart."""
    found = list(dict.fromkeys(s for s in spellings if s.startswith(prefix)))
    while len(found) > _WHOLE:
        # The shell would complete a single step and end the word after it.
        steps = {s[: s.find(".", len(prefix)) + 1] or s for s in found}
        if len(steps) > 1:
            return sorted(steps)
        (prefix,) = steps
        if prefix in found:
            break
    return found


_OF: dict[str, Any] = {
    "root": DirectoriesCompleter(),
    "target": _of_database(_targets),
    "ptx": _of_database(_versions),
    "type": _of_database(_types),
    **dict.fromkeys(("select", "ignore"), _of_database(_codes)),
    "opcode": _of_database(_opcodes),
    **dict.fromkeys(("variant", "against"), _of_database(_variants)),
    "name": _of_database(_names),
    "names": _of_database(_targets),
    **dict.fromkeys(
        ("file", "files", "paths", "recording", "ptxas", "record", "replay", "state", "stdin_filename"),
        FilesCompleter(),
    ),
}
