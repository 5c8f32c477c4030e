"""fit: the special function unit, recovered from a recording."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import evaluate, roots
from ..diagnostics import PtxspecError, unknown
from ..gpu import recording
from ..gpu.fit.fitting import as_yaml, fit
from ..model import Differences
from ..read import link as reading
from . import NO, OK, progress_bar


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recording", type=Path, metavar="RECORDING", help="the folder with what a GPU computed")
    parser.add_argument("--unit", action="append", metavar="NAME", help="this unit only; may be given several times")
    parser.add_argument("--record", action="store_true", help="write what is exact to spec/units/")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root) if options.record else roots.find(options.root)
    spec = reading.read(root.path)
    for name in options.unit or ():
        if name not in spec.units:
            raise PtxspecError(unknown("unit", name, spec.units))
    wanted = {(core.variant, 1) for name in options.unit or spec.units for core in spec.units[name].cores}
    with progress_bar("reading") as report:
        recorded = recording.read(options.recording, spec, wanted, report)
    emulator = evaluate.emulator(root)
    exact = True
    for name in options.unit or spec.units:
        with progress_bar(name) as report:
            outcome = fit(spec, spec.units[name], recorded, emulator, report)
        print(f"{name}: {outcome.report[0]}")
        for line in outcome.report[1:]:
            print(f"  {line}")
        model = outcome.model
        exact &= model is not None
        if model is not None and options.record:
            folder = root.path / "spec" / "units"
            folder.mkdir(exist_ok=True)
            if isinstance(model.core, Differences):
                (folder / model.core.name).write_text(model.core.text, "ascii", newline="\n")
            path = folder / f"{model.name}.yaml"
            path.write_text(as_yaml(model), "utf-8", newline="\n")
            print(f"  written: {path}")
    return OK if exact else NO
