"""fit: the special function unit, recovered from a recording."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TextIO

from .. import evaluate, roots
from ..diagnostics import PtxspecError, unknown
from ..files import replace_text
from ..gpu import recording
from ..gpu.fit import published
from ..gpu.fit.fitting import fit
from ..gpu.fit.observed import programs
from ..gpu.fit.recorded import Evidence, Recorded
from ..gpu.fit.writing import as_yaml
from ..gpu.recording import Recording
from ..model import Differences, Spec, UnitModel
from ..read import link as reading
from ..roots import Root
from . import NO, OK, progress_bar


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recording", type=Path, metavar="RECORDING", help="the folder with what a GPU computed")
    parser.add_argument("--unit", action="append", metavar="NAME", help="this unit only; may be given several times")
    parser.add_argument("--record", action="store_true", help="write what is exact to spec/units/")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = (roots.find_own if options.record else roots.find_source)(options.root)
    spec = reading.read(root.path)
    for name in options.unit or ():
        if name not in spec.units:
            raise PtxspecError(unknown("unit", name, spec.units))
    folder = units_of(root) if options.record else None
    exact = [recovered(spec, name, evidence, root, folder) for name, evidence in _evidence(options, spec)]
    return OK if all(exact) else NO


def units_of(root: Root) -> Path:
    """Where units stand that are known."""
    return root.path / "spec" / "units"


def recovered(
    spec: Spec, name: str, evidence: Evidence, root: Root, folder: Path | None, to: TextIO | None = None
) -> bool:
    """Fit a unit and tell what came of it; what is exact is written to a folder. Whether it is."""
    with progress_bar(name) as report:
        outcome = fit(spec, spec.units[name], evidence, evaluate.emulator(root), report)
    print(f"{name}: {outcome.report[0]}", file=to)
    for line in outcome.report[1:]:
        print(f"  {line}", file=to)
    model = outcome.model
    if model is not None and folder is not None:
        path = folder / f"{model.name}.yaml"
        _write(model, path)
        print(f"  written: {path}", file=to)
    return model is not None


def _write(model: UnitModel, path: Path) -> None:
    """A model as its file, with its table first: broken off between the two, the old model has its own still."""
    path.parent.mkdir(exist_ok=True)
    table = model.core.name if isinstance(model.core, Differences) else ""
    if isinstance(model.core, Differences):
        replace_text(path.with_name(table), model.core.text)
    replace_text(path, as_yaml(model))
    for other in path.parent.glob(f"{path.stem}-*"):
        if other.name != table:
            other.unlink(missing_ok=True)


def recorded_units(found: Recording, spec: Spec) -> list[tuple[str, Evidence]]:
    """The units that a recording's GPU has, with what there is to fit them to."""
    evidence = Recorded(found, spec)
    return [(n, evidence) for n, u in spec.units.items() if programs(spec, u, evidence.within[0])]


def _evidence(options: argparse.Namespace, spec: Spec) -> list[tuple[str, Evidence]]:
    """The units to fit, each with what there is to fit it to."""
    if published.is_published(options.recording):
        return [
            (r.entry.report.unit, r)
            for r in published.reported(published.read(options.recording, spec), options.unit or (), spec)
        ]
    with progress_bar("reading") as report:
        found = recording.read(options.recording, spec, _wanted(options, spec), report)
    here = recorded_units(found, spec)
    return [(name, Recorded(found, spec)) for name in options.unit] if options.unit else here


def _wanted(options: argparse.Namespace, spec: Spec) -> set[tuple[str, int]]:
    """The variants that are made of the units to fit."""
    units = {*(options.unit or spec.units)}
    return {
        v.key
        for i in spec.instructions.values()
        for v in i.variants
        for path in i.hardware_paths(v)
        if units.issuperset(path.units)
    }
