"""`python -m helpers.fuzzing.engine TARGET SECONDS FOLDER`: feeds a target by coverage, with atheris, in a process of
its own: its engine ends the process. FOLDER keeps what reached new code, and what broke something as `crash-...`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import ROOT

# A longer input shows nothing more, and takes longer. Megabytes, and seconds for one input.
_LONGEST, _MEMORY, _PATIENCE = 20_000, 2_000, 60


def is_there() -> bool:
    return importlib.util.find_spec("atheris") is not None


def run(target: str, seconds: int, folder: Path) -> str:
    """Run a target for so many seconds; return what broke it and what was said of it, or an empty string."""
    command = [sys.executable, "-m", __spec__.name, target, str(seconds), str(folder)]
    path = [str(ROOT / p) for p in ("tests", "codegen", "generated/python")]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        env={**os.environ, "PYTHONPATH": ":".join(path)},
    )  # fmt: skip
    crashes = "\n".join(f"{p.name}: {p.read_bytes()!r}" for p in sorted(folder.glob("*-*")) if p.is_file())
    return "" if ended.returncode == 0 else f"{ended.stdout.decode('utf-8', 'replace')[-6000:]}\n{crashes}"


def _dictionary(words: tuple[str, ...]) -> str:
    written = ("".join(f"\\x{b:02x}" for b in w.encode("utf-8")) for w in words)
    return "".join(f'"{w}"\n' for w in written)


def main(name: str, seconds: str, folder: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["ptxspec", "ptxemu"]):
        from helpers import memory
        from helpers.fuzzing.targets import TARGETS

    # As in all tests what files have in common is read once, and a thousand times as many are tried.
    memory.remember(pytest.MonkeyPatch())
    target = TARGETS[name]
    corpus = Path(folder) / name
    corpus.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(target.seeds()):
        (corpus / f"seed-{i:03}").write_bytes(seed)
    words = Path(folder) / f"{name}.words"
    words.write_text(_dictionary(target.words), "ascii")
    limits = [f"-max_total_time={seconds}", f"-max_len={_LONGEST}", f"-rss_limit_mb={_MEMORY}", f"-timeout={_PATIENCE}"]
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            f"-dict={words}",
            f"-artifact_prefix={folder}/{name}-",
            "-print_final_stats=1",
            *limits,
        ],
        target.run,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
