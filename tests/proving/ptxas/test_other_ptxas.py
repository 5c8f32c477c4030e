"""`verify` with another ptxas than the one that the specification records: an older one, one that hangs, none."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec import specification
from ptxspec.cli.main import main
from ptxspec.model import Spec
from ptxspec.proving.ptxas import asking, verify
from ptxspec.proving.ptxas.asking import PtxasError, find_ptxas, judge, refused, version

KNOWN, NEWER, WITHOUT = ("sm_90", "9.0"), ("sm_90", "9.1"), ("sm_107", "9.1")
PAIRS = [("sm_10", "1.0"), ("sm_100a", "8.6"), NEWER, KNOWN, WITHOUT, ("sm_121", "9.5")]

# What CUDA 13.0's does with a file that it does not know, and with the next one beside it, is this one's word.
OLDER = """\
import subprocess, sys
from pathlib import Path

if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.0, V13.0.88")
    sys.exit()
*sources, _, out = sys.argv[1:]
known = []
for source in sources:
    name, (version, target, *_) = Path(source).name, Path(source).read_text().split("\\n")
    if float(version.split()[1]) > 9.0:
        print(f"ptxas {source}, line 1; fatal   : Unsupported .version {version.split()[1]}; current version is '9.0'")
    elif "107" in target:
        print(f"ptxas {source}, line 2; fatal   : Unsupported .target '{target.split()[1]}'")
    else:
        known.append(source)
if known and known != sources:
    print(f"ptxas {known[0]}, line 2; error   : PTX .version 9.0 does not support .target (null)", flush=True)
code = subprocess.run([PTXAS, *known, "-o", out]).returncode if known else 255
print("ptxas fatal   : Ptx assembly aborted due to errors")
sys.exit(code)
"""


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def older(tmp_path: Path, ptxas: Path) -> Path:
    return program(tmp_path / "ptxas", f"#!{sys.executable}\nPTXAS = {str(ptxas)!r}\n{OLDER}")


@pytest.fixture
def small(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> Spec:
    """The specification with testp alone, judged on few pairs."""
    monkeypatch.setattr(verify, "pairs", lambda spec: PAIRS)
    return replace(spec, instructions={"testp": spec.instructions["testp"]}, instead={})


def test_an_older_ptxas_says_what_it_knows(older: Path) -> None:
    assert [*refused(older, PAIRS)] == [NEWER, WITHOUT, ("sm_121", "9.5")]
    assert refused(older, [("sm_107a", "9.0")]) == {("sm_107a", "9.0"): "Unsupported .target 'sm_107a'"}


def test_an_older_ptxas_finds_what_is_wrong(older: Path, small: Spec) -> None:
    testp = small.instructions["testp"]
    later = replace(testp.variants[0], requires=testp.variants[0].requires._replace(ptx="9.0"))
    wrong = replace(small, instructions={"testp": replace(testp, variants=(later, *testp.variants[1:]))})
    found = {(d.spelling, d.target, d.ptx) for d in verify.variants(wrong, older, None, [KNOWN, PAIRS[0], PAIRS[1]])}
    assert found == {(later.spelling, "sm_100a", "8.6")}


@pytest.mark.exhaustive
def test_the_command_says_which_pairs_were_not_judged(
    older: Path, small: Spec, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specification, "read", lambda root: small)
    arguments = ["verify", "--ptxas", str(older), "--root", str(ROOT)]
    assert main(arguments) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "not checked: 3 pairs unknown to ptxas 13.0.88: PTX 9.1, 9.5; sm_107, sm_121"
    assert second.startswith("ptxas 13.0.88: ") and " on 3 pairs of a target and a PTX version" in second
    found = verify.Result("ptxas 13.0.88", 3, 12, 99, (), 0, (NEWER,))
    monkeypatch.setattr(verify, "verify", lambda *_: found)
    assert main([*arguments, "--record"]) == 2
    assert "nothing was recorded: ptxas 13.0.88 does not know all pairs" in capsys.readouterr().err


def test_pairs_are_told_by_version_then_by_target(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "pairs", lambda spec: PAIRS)
    assert verify.told(spec, [NEWER, WITHOUT]) == "PTX 9.1; sm_107"
    assert verify.told(spec, [WITHOUT, ("sm_100a", "8.6")]) == "PTX 8.6; sm_100a, sm_107"
    assert verify.told(spec, [NEWER]) == "sm_90 with PTX 9.1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "#!/bin/sh\necho hello; echo more\n",
            "no ptxas: with --version it names no version of CUDA's, but says 'hello'",
        ),
        ("#!/bin/sh\n", "no ptxas: with --version it names no version of CUDA's\n"),
        ("#!/bin/sh\nwhile :; do echo y; done\n", "but says 'y'"),
        ("#!/nowhere/sh\n", "cannot be run: No such file or directory"),
        ("\0\0", "cannot be run: "),
        ("#!/bin/sh\necho V13.5.37\n", "ptxas judged not every statement for sm_10 and PTX 1.0"),
    ],
)
def test_what_is_no_ptxas_is_said(
    tmp_path: Path,
    small: Spec,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    said: str,
) -> None:
    monkeypatch.setattr(specification, "read", lambda root: small)
    path = program(tmp_path / "program", text)
    assert main(["verify", "--ptxas", str(path), "--root", str(ROOT)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"ptxspec: {path}: ") and said in err


def test_a_file_that_is_no_program_or_none(
    tmp_path: Path, spec: Spec, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specification, "read", lambda root: spec)
    path = tmp_path / "text"
    path.write_text("text")
    for given, said in ((path, "cannot be run: Permission denied"), (tmp_path, f"no file {tmp_path}; install")):
        assert main(["verify", "--ptxas", str(given), "--root", str(ROOT)]) == 2
        assert said in capsys.readouterr().err


def test_a_name_without_a_folder_is_the_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "sh", "#!/bin/sh\necho V1.2.3\n")
    monkeypatch.chdir(tmp_path)
    found = find_ptxas(Path("sh"))
    assert found and version(found) == "1.2.3"


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LIMIT", 0.2)
    monkeypatch.setattr(asking, "_SOON", 0.2)
    # What it starts is ended too: it holds the output.
    hanging = program(tmp_path / "hanging", f"#!/bin/sh\n(sleep 20; touch {tmp_path}/late)\necho V1.2.3\n")
    with pytest.raises(PtxasError, match="names no version"):
        version(hanging)
    with pytest.raises(PtxasError, match=r"no answer after 0\.2 seconds"):
        judge(program(tmp_path / "sleeping", "#!/bin/sh\nexec sleep 60\n"), ["add.f32 %f0, %f1, %f2;"], *KNOWN)
    assert not (tmp_path / "late").exists()
