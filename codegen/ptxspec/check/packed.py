"""Programs as they are kept between runs. They are read back where one is asked for, as few runs need those of all
opcodes."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..model import Variant
from ..semantics.program import Program

Programs = Mapping[str | None, Program]
_ONLY_ITSELF: Any = object.__eq__


@dataclass(frozen=True, eq=False)
class Packed(Mapping[Variant, Programs]):
    """An opcode's programs. `shared` are the objects in them that are equal only to themselves, such as formats: these
    must stay the same ones as elsewhere in the specification. `data` are bytes whose digest the cache has verified."""

    variants: tuple[Variant, ...]
    shared: tuple[Any, ...]
    data: bytes

    @classmethod
    def of(cls, programs: Mapping[Variant, Programs]) -> Packed:
        if isinstance(programs, Packed):
            return programs
        file = io.BytesIO()
        pickler = _Pickler(file, pickle.HIGHEST_PROTOCOL)
        pickler.dump([*programs.values()])
        return cls(tuple(programs), tuple(pickler.shared), file.getvalue())

    def __reduce__(self) -> tuple[Any, ...]:
        return Packed, (self.variants, self.shared, self.data)

    @cached_property
    def _programs(self) -> Mapping[Variant, Programs]:
        return dict(zip(self.variants, _Unpickler(self.shared, self.data).load(), strict=True))

    def __getitem__(self, variant: Variant) -> Programs:
        return self._programs[variant]

    def __iter__(self) -> Iterator[Variant]:
        return iter(self.variants)

    def __len__(self) -> int:
        return len(self.variants)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.shared: dict[Any, int] = {}

    def persistent_id(self, x: Any) -> int | None:
        return self.shared.setdefault(x, len(self.shared)) if type(x).__eq__ is _ONLY_ITSELF else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, shared: tuple[Any, ...], data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._shared = shared

    def persistent_load(self, place: int) -> Any:
        return self._shared[place]
