"""README's two commands with other versions of the packages than .ci/constraints.txt has, and which package broke what.

    python .ci/dependencies.py newest        what is released today
    python .ci/dependencies.py prereleases   and what is to be released
    python .ci/dependencies.py lowest        the lowest versions that pyproject.toml takes
    python .ci/dependencies.py renew         writes the newest to .ci/ and pyproject.toml; nothing is tried

Tried is the last commit, in a clone and an environment of its own. Where a step fails, each package whose version
differs is moved alone, with what has to move with it, from the version that CI has to the other. Needs uv
(`pip install uv`).

Exit code: 0 all is well; 1 something broke; 2 it could not be tried."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from steps import STEPS, Step, run

ROOT = Path(__file__).parents[1]
LOCK, CONSTRAINTS, PROJECT = ".ci/requirements.txt", ".ci/constraints.txt", "pyproject.toml"
HERE = ["--python", sys.executable]
MODES = {
    "newest": HERE,
    "prereleases": [*HERE, "--prerelease", "allow"],
    "lowest": [*HERE, "--resolution", "lowest-direct"],
}
RENEWED = ["--upgrade", "--universal", "--generate-hashes", "--python-version", "3.11"]
INSTALLED = "install"
# What is installed first is found by README's commands, as in CI.
TRIED = {
    INSTALLED: f"uv pip install --quiet -r {CONSTRAINTS}",
    "README: generate": f"{STEPS['README: generate']} && {STEPS['generated/ as it is committed']}",
    "README: pytest": STEPS["README: pytest"],
}
# After which a step is ended.
MINUTES = 60.0
# One package of the lock: its version, where it is meant, and who wants it.
ENTRY = re.compile(r"^([\w.-]+)(==[^\n]*?) \\\n(?:    --hash=\S+(?: \\)?\n)+((?:    #[^\n]*\n)*)", re.MULTILINE)
HEAD = f"""\
# The versions of {LOCK}, without hashes, which pip does not take beside `-e .`: README's commands install
# these. `python .ci/dependencies.py renew` writes both.
"""


class UntriedError(Exception):
    """Nothing can be said of the packages."""


def constraints(lock: str) -> str:
    """The text of .ci/constraints.txt."""
    return HEAD + "".join(f"{name}{version}\n" for name, version, _ in ENTRY.findall(lock))


def build_requirements(lock: str) -> list[str]:
    """What builds the package: hatchling with its plugin, and what these need, as they need."""
    wanted_by = {name: set(re.findall(r"[\w.-]+", via)) for name, _, via in ENTRY.findall(lock)}
    found = {"hatchling", "hatch-fancy-pypi-readme"}
    while more := {name for name, via in wanted_by.items() if via & found} - found:
        found |= more
    return [f"{name}{version}" for name, version, _ in ENTRY.findall(lock) if name in found]


def with_build_requirements(project: str, lock: str) -> str:
    """The text of pyproject.toml with these."""
    lines = "".join(f'    "{each}",\n' for each in build_requirements(lock))
    return re.sub(r"(?<=^requires = \[\n)(?:    .*\n)+", lines, project, count=1, flags=re.MULTILINE)


def resolved(to: Path, *options: str) -> dict[str, str]:
    """The versions that uv finds for these options, and in the file `to`."""
    command = ["uv", "pip", "compile", "--quiet", "--extra", "test", PROJECT, "--output-file", str(to), *options]
    named = os.environ | {"UV_CUSTOM_COMPILE_COMMAND": "python .ci/dependencies.py renew"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=named, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UntriedError("no uv here: pip install uv") from None
    if done.returncode:
        raise UntriedError(f"uv finds no versions:\n{done.stderr}")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", to.read_text("utf-8"), re.MULTILINE))


def renew() -> None:
    resolved(ROOT / LOCK, *RENEWED)
    lock = (ROOT / LOCK).read_text("utf-8")
    (ROOT / CONSTRAINTS).write_text(constraints(lock), "utf-8")
    project = ROOT / PROJECT
    project.write_text(with_build_requirements(project.read_text("utf-8"), lock), "utf-8")


class Environment:
    """A virtual environment in which a clone is tried with one set of versions or with several, one after the other."""

    def __init__(self, folder: Path, clone: Path, asked: list[int]) -> None:
        venv.create(folder, with_pip=True)
        self._folder, self._clone, self._asked = folder, clone, asked

    def run(self, name: str, versions: Path, options: str) -> Step:
        """A step as CI has it, with these versions in the place of CI's; `options` are pytest's."""
        file, place = shlex.quote(str(versions)), shlex.quote(str(self._folder))
        setting = (
            f"cd {shlex.quote(str(self._clone))}; export VIRTUAL_ENV={place} PATH={place}/bin:$PATH "
            f'PIP_DISABLE_PIP_VERSION_CHECK=1 PYTEST_ADDOPTS={shlex.quote(options)}" $PYTEST_ADDOPTS"; '
        )
        print(f"{name} ...", flush=True)
        step = run(name, setting + TRIED[name].replace(CONSTRAINTS, file), self._folder, self._asked, MINUTES)
        print(step, flush=True)
        if self._asked:
            raise UntriedError("interrupted")
        return step


@dataclass
class Trial:
    """One package that was moved: from which version to which, what moved with it, and what came of it."""

    package: str
    before: str
    after: str
    others: list[str]
    failed: bool
    tests: list[str]

    def __str__(self) -> str:
        beside = f", with {', '.join(self.others)}" if self.others else ""
        return "\n    ".join([f"{self.package} {self.before} -> {self.after}{beside}", *self.tests])


def verdict(step: str, trials: list[Trial]) -> str:
    """Which packages broke a step."""
    guilty = [str(trial) for trial in trials if trial.failed]
    if not guilty:
        return f"{step}: no package that was moved alone breaks it"
    return "\n  ".join([f"{step} breaks by", *("\n".join(guilty).splitlines())])


class Blame:
    """Packages moved alone, from the versions of CI to those with which a step failed."""

    def __init__(
        self, options: list[str], held: dict[str, str], wanted: dict[str, str], folder: Path, environment: Environment
    ) -> None:
        self._options, self._held, self._wanted = options, held, wanted
        self._folder, self._environment = folder, environment

    def of(self, failed: Step) -> str:
        """Which packages broke it."""
        if self._fails(failed, self._folder / "held.txt"):
            return f"{failed.name} fails with {CONSTRAINTS} too: no package is to blame"
        trials = [self._trial(failed, name) for name in self._wanted if self._held.get(name) != self._wanted[name]]
        return verdict(failed.name, [trial for trial in trials if trial])

    def _trial(self, failed: Step, name: str) -> Trial | None:
        """What comes of one package; nothing where it cannot move."""
        wanted, file = self._wanted[name], self._folder / "moved.txt"
        # uv leaves what stands in the file as it is, where it can.
        shutil.copy(self._folder / "held.txt", file)
        try:
            found = resolved(file, *self._options, "--upgrade-package", f"{name}=={wanted}")
        except UntriedError:
            return None
        others = sorted(each for each in found if each != name and found[each] != self._held.get(each))
        print(f"{name}=={wanted}", *others, flush=True)
        step = self._fails(failed, file)
        return Trial(name, self._held.get(name, "none"), wanted, others, bool(step), step.failed if step else [])

    def _fails(self, failed: Step, versions: Path) -> Step | None:
        """The step with these versions where it fails, of pytest what failed before."""
        cache = self._folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        options = f"-o cache_dir={shlex.quote(str(cache))}"
        if failed.failed:
            shutil.copytree(self._folder / "failed", cache)
            options += " --last-failed --last-failed-no-failures=none"
        elif not failed.tests:
            options += " --collect-only"
        for name in dict.fromkeys((INSTALLED, failed.name)):
            step = self._environment.run(name, versions, options)
            if not step.ok:
                return step if name == failed.name else None
        return None


def tried(mode: str, folder: Path, asked: list[int]) -> int:
    wanted, clone = folder / "wanted.txt", folder / "clone"
    versions = resolved(wanted, *MODES[mode])
    held = resolved(folder / "held.txt", *HERE, "--constraints", CONSTRAINTS)
    moved = [f"  {name} {held.get(name, 'none')} -> {v}" for name, v in versions.items() if held.get(name) != v]
    print(
        f"{mode}: {len(moved)} of {len(versions)} packages are not those of {CONSTRAINTS}", *moved, sep="\n", flush=True
    )
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    environment, failed = Environment(folder / "wanted", clone, asked), []
    for name in TRIED:
        step = environment.run(name, wanted, f"-o cache_dir={shlex.quote(str(folder / 'failed'))}")
        if not step.ok:
            failed.append(step)
            if name == INSTALLED:
                break
    if failed:
        blame = Blame(MODES[mode], held, versions, folder, Environment(folder / "moved", clone, asked))
        print("", *[blame.of(step) for step in failed], sep="\n", flush=True)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=[*MODES, "renew"])
    mode = parser.parse_args().mode
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: asked.append(number))
    try:
        if mode == "renew":
            renew()
            return 0
        with tempfile.TemporaryDirectory() as folder:
            return tried(mode, Path(folder), asked)
    except UntriedError as e:
        print(e, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
