"""A GPU that is none: it reads the kernels' sources, and runs the instruction in each by the emulator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxspec.gpu.device import About, DeviceError

Array = NDArray[Any]

_KERNEL = re.compile(
    r"__global__ void (\w+)\((.*?)\)\s*\{\s*#if PTXSPEC_TAKES\((\d+), (\d+)\).*?"
    r'asm volatile\("(?:\{\.reg \.pred %%p; )?(\S+) (.*?)(?:;|")',
    re.DOTALL,
)


@dataclass
class StandIn:
    """`wrong` changes the results of kernels with a spelling; `failing` are spellings whose launch fails, `large` those
    that run out of memory on more operands than this; `broken` are sources that do not compile. `stops` interrupts the
    run after so many launches."""

    emulator: ModuleType
    gpu: str = "Stand-in"
    target: str = "sm_90"
    release: str = "13.5"
    ptx: int = 95
    wrong: Mapping[str, Callable[[Sequence[Array], Array], Array]] = field(default_factory=dict)
    failing: frozenset[str] = frozenset()
    large: Mapping[str, int] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    stops: int = -1
    launches: list[str] = field(default_factory=list)

    @property
    def about(self) -> About:
        return About(self.gpu, self.target, "0.0", "no compiler", self.release)

    def compile(self, name: str, source: str, headers: Mapping[str, str]) -> _Module:
        assert list(headers) == ["ptxspec.cuh"] and '#include "ptxspec.cuh"' in source
        if name in self.broken:
            raise DeviceError(f"{name}(1): error: injected")
        kernels = {}
        for kernel, parameters, architecture, ptx, spelling, operands in _KERNEL.findall(source):
            assert len(re.findall("%[1-9]", operands)) == parameters.count("*") - 1
            taken = int(architecture) <= int(self.target[3:]) * 10 and int(ptx) <= self.ptx
            kernels[kernel] = spelling if taken else ""
        return _Module(self, kernels)


@dataclass(frozen=True)
class _Module:
    device: StandIn
    kernels: Mapping[str, str]

    def launch(self, kernel: str, operands: Sequence[Array], result: np.dtype[Any]) -> Array:
        device, spelling = self.device, self.kernels[kernel]
        if len(device.launches) == device.stops:
            raise KeyboardInterrupt
        device.launches.append(spelling)
        if spelling in device.failing:
            raise DeviceError(f"{kernel}: CUDA_ERROR_ILLEGAL_ADDRESS")
        if operands[0].size > device.large.get(spelling, operands[0].size):
            raise DeviceError("out of memory")
        if not spelling:
            # The kernel is empty where the target or the toolkit does not have the instruction.
            return np.full(operands[0].size, 0xA5A5A5A5A5A5A5A5 & ((1 << 8 * result.itemsize) - 1), result)
        found = np.asarray(device.emulator.execute(spelling, *operands, target=device.target), result)
        return device.wrong[spelling](operands, found) if spelling in device.wrong else found
