"""The variants of a specification."""

from __future__ import annotations

from ptxspec.model import Spec, Variant


def variants(spec: Spec) -> list[Variant]:
    return [v for i in spec.instructions.values() for v in i.variants]


def refused(spec: Spec) -> list[Variant]:
    return [v for i in spec.instructions.values() for v in i.refused]


def variant(spec: Spec, spelling: str, operands: int | None = None) -> Variant:
    (found,) = (v for v in variants(spec) if v.spelling == spelling and operands in (None, v.operands))
    return found
