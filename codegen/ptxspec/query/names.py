"""The targets that somebody names: by all names that the catalogue knows, and `native`, this machine's GPU."""

from __future__ import annotations

from ..catalog import names
from ..diagnostics import PtxspecError
from .database import Database

NATIVE = "native"


def target(db: Database, text: str) -> str:
    """The target that is meant. Raises PtxspecError where there is none, or more than one."""
    try:
        return names.only(db, text, targets(db, text))
    except names.UnknownTargetNameError as e:
        raise PtxspecError(str(e)) from None


def targets(db: Database, text: str) -> list[str]:
    """Return all targets that may be meant, in their order. Raises PtxspecError where there is none."""
    if text.strip().lower() == NATIVE:
        return native(db)
    try:
        return names.targets(db, text)
    except names.UnknownTargetNameError as e:
        raise PtxspecError(str(e)) from None


def native(db: Database) -> list[str]:
    """The targets of the GPUs that the driver shows. Raises PtxspecError where it shows none."""
    from ..native import capabilities  # few ask for it

    found = []
    for major, minor in capabilities():
        name = f"sm_{major}{minor}"
        if name not in db.targets:
            raise PtxspecError(f"the driver shows a GPU of compute capability {major}.{minor}, which is not known here")
        found.append(name)
    return list(dict.fromkeys(found))
