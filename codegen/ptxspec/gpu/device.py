"""The interface of a GPU for a conformance run: a few methods, which the tests' stand-in has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import PtxspecError

Array = NDArray[Any]


class NoDeviceError(PtxspecError):
    """An error where there is nothing to run on, or nothing to compile with."""


class DeviceError(Exception):
    """An error of a kernel that did not compile or did not run; the device can be used on. Its text is one line."""


@dataclass(frozen=True)
class About:
    """The GPU, its target ("sm_90", whatever kind of it is compiled for), its driver, and the compiler with its CUDA
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
        """Run a kernel of generated/cuda, one thread per element: an array for each source register, and for each of
        the results. Raises DeviceError."""


class Device(Protocol):
    @property
    def about(self) -> About: ...

    def compile(self, name: str, source: str, headers: Mapping[str, str], target: str) -> Module:
        """Compile a source for this device, as its target or a kind of that. Raises DeviceError with the compiler's
        first complaint."""
