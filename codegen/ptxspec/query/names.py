"""The targets that a user names: with any name in the catalogue, or with `native`, this machine's GPU."""

from __future__ import annotations

from ..catalog import names
from ..catalog.names import Named
from ..diagnostics import PtxspecError

NATIVE = "native"


def target(db: Named, text: str) -> str:
    """Return the target that a text names. Raises PtxspecError if there is none, or more than one."""
    try:
        return names.only(db, text, targets(db, text))
    except names.UnknownTargetNameError as e:
        raise PtxspecError(str(e)) from None


def targets(db: Named, text: str) -> list[str]:
    """Return all targets that a text can mean, in their order. Raises PtxspecError if there is none."""
    if text.strip().lower() == NATIVE:
        return native(db)
    try:
        return names.targets(db, text)
    except names.UnknownTargetNameError as e:
        raise PtxspecError(str(e)) from None


def native(db: Named) -> list[str]:
    """Return the targets of the GPUs that the driver reports. Raises PtxspecError if it reports none."""
    from ..native import capabilities  # rarely needed

    found = []
    for major, minor in capabilities():
        name = f"sm_{major}{minor}"
        if name not in db.catalog.targets:
            raise PtxspecError(
                f"the driver reports a GPU of compute capability {major}.{minor}, which this database does not know"
            )
        found.append(name)
    return list(dict.fromkeys(found))
