"""ptxspec: a database of NVIDIA's PTX arithmetic instructions.

>>> import ptxspec
>>> db = ptxspec.load()
>>> db.variant("max.NaN.f32").requires.target
'sm_80'
>>> db.query("max.NaN.f64").reasons[0].message
'max.f64 has no .NaN; it has no modifiers'
>>> db.query("ex2.approx.f16", target="sm_75")
yes: ex2.approx.f16 (1 operand) on sm_75
  here      PTX 7.0 or newer (CUDA 11.0) on sm_75
  requires  sm_75 or newer, PTX 7.0 or newer (CUDA 11.0)
  claim     bounded
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from .api import Database
    from .blocks import Block, functions
    from .catalog import Requirement
    from .catalog.explaining import Reason
    from .diagnostics import PtxspecError, SpecError
    from .query.variant import Variant
    from .query.verdicts import Verdict
    from .shown import Answer, Findings, Variants

_HOMES = {
    "Answer": "shown",
    "Block": "blocks",
    "Database": "api",
    "Findings": "shown",
    "PtxspecError": "diagnostics",
    "Reason": "catalog.explaining",
    "Requirement": "catalog",
    "SpecError": "diagnostics",
    "Variant": "query.variant",
    "Variants": "shown",
    "Verdict": "query.verdicts",
    "functions": "blocks",
}
__all__ = [
    "Answer",
    "Block",
    "Database",
    "Findings",
    "PtxspecError",
    "Reason",
    "Requirement",
    "SpecError",
    "Variant",
    "Variants",
    "Verdict",
    "functions",
    "load",
]


def load(root: str | Path | None = None) -> Database:
    """Return the database: the package's own, from its ptxspec.json; with `root`, from the YAML of that folder.

    Raises PtxspecError, and SpecError for a specification with errors."""
    from pathlib import Path

    from . import roots
    from .api import Database

    if root is None:
        return Database.read(roots.find().data)
    from .emit.products.data import as_data
    from .specification import read

    data = as_data(read(roots.find(Path(root)).path))
    return Database(data.shared, data.opcodes.__getitem__, data.other)


def __getattr__(name: str) -> object:
    """Return one of the names above, imported at its first use so that the command line starts quickly."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
