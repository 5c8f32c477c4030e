"""Completion: shells ask the program itself what may stand at the cursor."""

from __future__ import annotations

import argparse
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.cli import completers, completion, vectors
from ptxspec.proving.gpu import export

SCRIPT = Path(sys.executable).with_name("ptxspec")
ENVIRONMENT = {**os.environ, "PATH": f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"}


def asked(line: str) -> list[str]:
    """Return the words that argcomplete's shell code would be given for a line."""
    asking = {
        "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }  # fmt: skip
    command = f"{sys.executable} -m ptxspec 8>&1 9>/dev/null >/dev/null"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=ENVIRONMENT | asking, cwd=ROOT, check=True
    )
    return done.stdout.split("\n") if done.stdout else []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ptxspec qu", ["query"]),
        ("ptxspec query --f", ["--format"]),
        ("ptxspec query fma.rn.bf", ["fma.rn.bf16", "fma.rn.bf16x2"]),
        ("ptxspec query fma.rn.bf16 --op", ["--operands"]),
        ("ptxspec eval tanh.approx.b", ["tanh.approx.bf16", "tanh.approx.bf16x2"]),
        ("ptxspec query add.f32 --target sm_90", ["sm_90", "sm_90a"]),
        ("ptxspec query add.f32 --target H1", ["H100"]),
        ("ptxspec query add.f32 --target RTX\\ 409", ["RTX\\ 4090"]),
        ("ptxspec list --type=bf", ["--type=bf16", "--type=bf16x2"]),
        ("ptxspec list --format ", ["table", "json", "csv"]),
        ("ptxspec lint pyproj", ["pyproject.toml"]),
        ("ptxspec eval add.f32 1", []),
        ("ptxspec query add.f32 --operands ", []),
        ("ptxspec query there.is.none", []),
        ("ptxspec --root /nowhere query fm", []),
    ],
)
@pytest.mark.sampled(5)
def test_what_may_stand_there_is_offered(line: str, offered: list[str]) -> None:
    assert asked(line) == offered


def words(db: Database, monkeypatch: pytest.MonkeyPatch, dest: str, prefix: str) -> list[str]:
    monkeypatch.setattr(completers, "database", lambda _: db)
    return list(completers._OF[dest](prefix=prefix, parsed_args=argparse.Namespace()))


@pytest.mark.parametrize("prefix", ["fm", "fma"])
def test_an_opcode_by_itself_is_offered_where_it_is_an_answer(
    db: Database, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    first, *variants = words(db, monkeypatch, "name", prefix)
    assert first == "fma" and variants and all(v.startswith("fma.") for v in variants)


@each_size
def test_every_variant_is_reached_step_by_step(db: Database, monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    """Among many spellings that begin alike, each offer ends at the next modifier or type; an offer that is the only
    one, after which a shell ends the word, is a whole spelling."""
    for opcode in db.opcodes if whole else spread(list(db.opcodes), 4):
        reached, waiting = set(), [f"{opcode}."]
        while waiting:
            offered = words(db, monkeypatch, "variant", waiting.pop())
            assert len(offered) > 1 or not offered[0].endswith(".")
            reached |= {w for w in offered if not w.endswith(".")}
            waiting += [w for w in offered if w.endswith(".")]
        assert reached == {v.spelling for v in db.opcodes[opcode].variants}


def test_opcodes_types_and_versions_are_those_of_the_database(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for dest, known in (("opcode", db.opcodes), ("type", db.types), ("ptx", db.versions), ("target", db.targets)):
        assert set(words(db, monkeypatch, dest, "")) == set(known)
    assert {"H100", "Hopper"} <= set(words(db, monkeypatch, "names", "H"))
    assert words(db, monkeypatch, "names", "na") == ["native"]
    assert words(db, monkeypatch, "variant", "ma") == [o for o in db.opcodes if o.startswith("ma")]
    assert words(db, monkeypatch, "name", "fma")[:1] == ["fma"]


def test_the_formats_of_vectors_are_known_without_what_writes_them() -> None:
    assert tuple(export.FORMATS) == vectors.FORMATS


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_that_was_told_completes(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    answer = {"bash": in_bash, "fish": in_fish, "zsh": in_zsh}[shell]("ptxspec query fma.rn.bf")
    assert "fma.rn.bf16" in answer


def in_bash(line: str) -> str:
    script = (
        f'eval "$(ptxspec completion bash)"; COMP_LINE="{line}" COMP_POINT={len(line)} COMP_TYPE=9; '
        '_python_argcomplete ptxspec; echo "${COMPREPLY[@]}"'
    )
    return subprocess.run(["bash", "-c", script], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout


def in_fish(line: str) -> str:
    script = f'ptxspec completion fish | source; complete -C "{line}"'
    command = ["fish", "--no-config", "-c", script]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout


def in_zsh(line: str) -> str:
    """Only a terminal makes zsh complete."""
    import pty

    child, terminal = pty.fork()
    if not child:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**ENVIRONMENT, "TERM": "dumb", "PS1": "$ "})

    def until(wanted: str) -> str:
        said, end = "", time.monotonic() + 30
        while wanted not in said and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 1 << 16).decode("utf-8", "replace")
        return said

    try:
        os.write(terminal, b'autoload -U compinit; compinit -u -D; eval "$(ptxspec completion zsh)"; echo re""ady\n')
        until("ready")
        os.write(terminal, f"{line}\t".encode())
        return until(f"{line}16")
    finally:
        os.kill(child, 9)
        os.close(terminal)
        os.waitpid(child, 0)
