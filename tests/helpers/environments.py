"""Environments of their own: with what is installed here and needed, and nothing else, or with what pip fetches."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path
from shutil import copyfile

from packaging.requirements import Requirement

# Run before anything else in such an environment: whoever opens a connection, or a file of the folder, is stopped.
GUARD = """\
import sys
def look(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise RuntimeError(f"a connection: {arguments}")
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(FOLDER):
        raise RuntimeError(f"a file of the clone: {arguments}")
sys.addaudithook(look)
"""


def stop_connections(folder: Path) -> None:
    """Every Python that has the folder on its PYTHONPATH is stopped where it opens a connection."""
    (folder / "sitecustomize.py").write_text(GUARD.replace("FOLDER", repr(f"{folder / 'nothing'}")), "utf-8")


class Environment:
    """A virtual environment without pip: this process's pip installs into it."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder)
        self.scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.scripts / "python"
        (self.packages,) = folder.glob("[Ll]ib/**/site-packages")
        self.environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self.environment |= {"PATH": f"{self.scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}

    def pip(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pip", "--python", str(self.python), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False)

    def copy_dependencies(self, *names: str) -> None:
        """Copy these distributions, and what they need, from what is installed here."""
        known: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name.lower() in known:
                continue
            known.add(name.lower())
            found = distribution(name)
            for file in found.files or ():
                # No scripts, which stand above the packages.
                if ".." not in file.parts and file.suffix != ".pyc":
                    to = self.packages / file
                    to.parent.mkdir(parents=True, exist_ok=True)
                    copyfile(str(found.locate_file(file)), to)
            needed = [Requirement(r) for r in found.requires or ()]
            left += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]

    def shut_in(self, away_from: Path) -> None:
        """From now on Python may neither connect nor read a file of the folder."""
        guard = GUARD.replace("FOLDER", repr(f"{away_from}{os.sep}"))
        (self.packages / "shut_in.py").write_text(guard, "utf-8")
        (self.packages / "shut_in.pth").write_text("import shut_in\n", "utf-8")

    def run(self, *command: object, cwd: Path, code: int = 0) -> str:
        """Run a command, which must exit with `code`, and return what it prints."""
        words = [str(c) for c in command]
        words[0] = str(self.scripts / words[0])
        done = subprocess.run(words, env=self.environment, cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr
