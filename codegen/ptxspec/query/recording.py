"""A recording of a GPU, as answers name it."""

from __future__ import annotations

from typing import NamedTuple


class Recording(NamedTuple):
    """A recording of a GPU: its folder below the root, and what it was recorded on and with."""

    path: str
    gpu: str
    target: str
    driver: str
    compiler: str
    date: str

    def __str__(self) -> str:
        return f"{self.gpu} ({self.target}), driver {self.driver}, {self.compiler}, {self.date}: {self.path}"
