"""The command `ptxspec server` beside what it serves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_without_pygls_it_says_how_to_install_it(tmp_path: Path) -> None:
    program = "import sys; sys.modules['pygls'] = None; from ptxspec.__main__ import main; sys.exit(main(['server']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr == "ptxspec: the language server requires pygls; install it with `pip install 'ptxspec[server]'`\n"
    )


def test_it_ends_where_the_editor_is_gone() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptxspec", "server", "--stdio"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_it_ends_as_the_editor_says() -> None:
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    asked = "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies)
    done = subprocess.run(
        [sys.executable, "-m", "ptxspec", "server"], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    assert '"capabilities"' in done.stdout and done.stderr == ""
