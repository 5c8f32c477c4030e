"""The command `ptxspec server` beside what it serves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_without_pygls_it_says_how_to_install_it(tmp_path: Path) -> None:
    program = "import sys; sys.modules['pygls'] = None; from ptxspec.__main__ import main; sys.exit(main(['server']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "ptxspec: a language server needs pygls: pip install 'ptxspec[server]'\n"


def test_it_ends_where_the_editor_is_gone() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptxspec", "server", "--stdio"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
