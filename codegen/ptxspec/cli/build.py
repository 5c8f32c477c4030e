"""build: kernels compiled for machines without a compiler."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from .. import evaluate, roots
from ..diagnostics import PtxspecError, unknown
from ..release import release
from . import OK, counted, progress_bar

_PROJECT = """\
[build-system]
requires = ["setuptools>=70"]
build-backend = "setuptools.build_meta"

[project]
name = "ptxemu-native"
version = "{version}"
description = "Kernels of ptxemu, compiled"

[tool.setuptools]
packages = ["ptxemu_native"]

[tool.setuptools.package-data]
ptxemu_native = ["*.so", "index.json"]
"""
# This makes the wheel one for this platform.
_SETUP = """\
from setuptools import Distribution, setup


class Compiled(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=Compiled)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--native", type=Path, required=True, metavar="DIR", help="the folder to make, of a wheel's form"
    )
    parser.add_argument("opcodes", nargs="*", metavar="OPCODE", help="the kernels of these opcodes; without, of all")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    emulator = evaluate.emulator(roots.find_source(options.root))
    variants = emulator.variants()
    known = list(dict.fromkeys(v.spelling.partition(".")[0] for v in variants))
    for opcode in options.opcodes:
        if opcode not in known:
            raise PtxspecError(unknown("opcode", opcode, known))
    wanted = set(options.opcodes or known)
    accelerator, compiling, shipping = (
        importlib.import_module(f"{emulator.__name__}.{name}") for name in ("accelerator", "compiling", "shipping")
    )
    kernels = [
        accelerator.Wanted(*emulator.compile(v.spelling, v.operands)._wanted)
        for v in variants
        if v.spelling.partition(".")[0] in wanted
    ]
    folder = options.native / "ptxemu_native"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with progress_bar("compiling") as report:
            made = shipping.build(str(folder), kernels, report)
        (folder / "__init__.py").write_text(
            '"""Kernels of ptxemu in C; its module shipping.py reads index.json."""\n', "utf-8"
        )
        (options.native / "pyproject.toml").write_text(_PROJECT.format(version=release() or "0"), "utf-8")
        (options.native / "setup.py").write_text(_SETUP, "utf-8")
    except compiling.Failure as e:
        raise PtxspecError(f"build: {e}") from None
    except OSError as e:
        raise PtxspecError(f"{options.native}: cannot be written: {e.strerror}") from None
    print(f"{options.native}: {counted(made, 'kernel')} in C; `pip wheel {options.native}` makes a wheel of them")
    return OK
