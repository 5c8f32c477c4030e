"""The interface of a GPU for a conformance run: a few methods, which the tests' stand-in has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError

Array = NDArray[Any]


class NoDeviceError(PtxspecError):
    """An error for a missing GPU or compiler."""


class DeviceError(Exception):
    """An error of a kernel that did not compile or run; the device remains usable. Its text is one line."""


@dataclass(frozen=True)
class RunEnvironment:
    """The GPU, its target ("sm_90", whichever kind of it is compiled for), its driver, and the compiler with its CUDA
    release ("13.0")."""

    gpu: str
    target: str
    driver: str
    compiler: str
    release: str

    def __str__(self) -> str:
        return f"{self.gpu} ({self.target}), driver {self.driver}, {self.compiler}"


class Module(Protocol):
    """Compiled kernels."""

    def launch(self, kernel: str, operands: Sequence[Array], results: Sequence[np.dtype[Any]]) -> list[Array]:
        """Run a kernel of generated/cuda, one thread per element, on an array for each source register. Return an array
        for each result. Raises DeviceError."""


class Device(Protocol):
    @property
    def about(self) -> RunEnvironment: ...

    def compile(self, name: str, source: str, headers: Mapping[str, str], target: str) -> Module:
        """Compile a source for this device's target, or for a kind of it. Raises DeviceError with the compiler's first
        error."""
