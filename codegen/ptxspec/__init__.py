"""ptxspec: a database of NVIDIA's PTX floating-point instructions.

>>> import ptxspec
>>> db = ptxspec.load()
>>> db.variant("max.NaN.f32").requires.target
'sm_80'
>>> [r.message for r in db.query("max.NaN.f64").reasons]
['max.f64 has no .NaN; it has no modifiers']
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from .diagnostics import PtxspecError, SpecError
    from .query.database import Database, Reason, Requires, Variant, Verdict

__all__ = ["Database", "PtxspecError", "Reason", "Requires", "SpecError", "Variant", "Verdict", "load"]


def load(root: str | Path | None = None) -> Database:
    """The database: of the project around the working directory or the one installed, from its ptxspec.json; with
    `root`, from the YAML of that folder. Raises PtxspecError, and SpecError for a specification with errors."""
    from pathlib import Path

    from . import roots
    from .query import database

    if root is None:
        return database.read(roots.find().data)
    from .emit.products.data import as_data
    from .read.link import read

    return database.Database(as_data(read(roots.find(Path(root)).path)))


def __getattr__(name: str) -> object:
    """The names above, imported when they are first asked for: the command line starts before anything else does."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from . import diagnostics
    from .query import database

    return getattr(database if hasattr(database, name) else diagnostics, name)
