"""A stand-in for a GPU: it reads the kernels' sources, and runs the instruction in each by the emulator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxspec.proving.gpu.device import DeviceError, RunEnvironment

Array = NDArray[Any]

_KERNEL = re.compile(r'^PTXSPEC_(\w+)\((\w+), "([^"]+)", (\d+), (\d+)(?:, \w+, \w+, \w+)?\)$', re.MULTILINE)
_SHAPE = re.compile(r"#define PTXSPEC_(\w+)\(name, instruction, architecture, ptx, \.\.\.\)((?:.*\\\n)+)")
_LIST = re.compile(r"\(list\) == (\d+) \? (.*)$", re.MULTILINE)
_IS = re.compile(r"PTXSPEC_IS\((\d+), (\d+)\)")
_WORDS = {"char": np.uint8, "short": np.uint16, "int": np.uint32, "long": np.uint64}


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
    compiled: str = ""

    def run(self, spelling: str, operands: Sequence[Array], results: int) -> Sequence[Any]:
        kernel = self.emulator.compile(spelling, len(operands), self.compiled)
        found = kernel(*operands)
        if results == 1:
            return [found]
        # Several registers are those of one result, or of two.
        return found if isinstance(found, tuple) else kernel(*operands, results=2)

    @property
    def about(self) -> RunEnvironment:
        return RunEnvironment(self.gpu, self.target, "0.0", "no compiler", self.release)

    def compile(self, name: str, source: str, headers: Mapping[str, str], target: str) -> _Module:
        assert list(headers) == ["ptxspec.cuh"] and '#include "ptxspec.cuh"' in source
        if name in self.broken:
            raise DeviceError(f"{name}(1): error: injected")
        assert target in (self.target, f"{self.target}a")
        self.compiled = target
        shapes = dict(_SHAPE.findall(headers["ptxspec.cuh"]))
        kernels = {}
        lists = {int(n): _IS.findall(text) for n, text in _LIST.findall(source)}
        here = _number(target)
        for shape, kernel, spelling, architecture, ptx in _KERNEL.findall(source):
            place, oldest = divmod(int(architecture), 100_000)
            listed = not place or any(int(a) == here and int(p) <= self.ptx for a, p in lists[place])
            taken = listed and oldest // 10 <= here // 10 and oldest % 10 <= here % 10 and int(ptx) <= self.ptx
            kernels[kernel] = _Kernel(spelling if taken else "", shapes[shape])
        return _Module(self, kernels)


def _bits(x: Array) -> Array:
    return x if x.dtype == bool else x.view(f"u{x.itemsize}")


def _number(target: str) -> int:
    """A target as kernels' guards have it."""
    return int(target[3:].rstrip("fa")) * 10 + {"f": 1, "a": 2}.get(target[-1], 0)


@dataclass(frozen=True)
class _Kernel:
    """`shape` is the macro that it comes of; without a spelling the target does not have the instruction."""

    spelling: str
    shape: str

    def columns(self, name: str) -> list[Any]:
        """The types of the parameters: s0, s1, ... are the sources, d0, d1, ... the results."""
        words = re.findall(rf"unsigned (\w+)(?: long)? \*{name}\d", self.shape)
        return [np.dtype(_WORDS[w]) for w in words]

    @property
    def predicates(self) -> list[bool]:
        """A flag for each source: whether the assembly makes a predicate of it."""
        return [f".reg .pred %%s{i};" in self.shape for i in range(len(self.columns("s")))]


@dataclass(frozen=True)
class _Module:
    device: StandIn
    kernels: Mapping[str, _Kernel]

    def launch(self, name: str, operands: Sequence[Array], results: Sequence[np.dtype[Any]]) -> list[Array]:
        device, kernel = self.device, self.kernels[name]
        spelling = kernel.spelling
        # A kernel reads and writes as much memory as its pointers say.
        assert kernel.columns("s") == [x.dtype for x in operands] and kernel.columns("d") == list(results)
        if len(device.launches) == device.stops:
            raise KeyboardInterrupt
        device.launches.append(spelling)
        if spelling in device.failing:
            raise DeviceError(f"{name}: CUDA_ERROR_ILLEGAL_ADDRESS")
        if operands[0].size > device.large.get(spelling, operands[0].size):
            raise DeviceError("out of memory")
        if not spelling:
            # The kernel is empty where the target or the toolkit does not have the instruction.
            return [np.full(operands[0].size, 0xA5, np.uint8).repeat(r.itemsize).view(r) for r in results]
        given = [x.astype(bool) if is_one else x for x, is_one in zip(operands, kernel.predicates, strict=True)]
        found = device.run(spelling, given, len(results))
        columns = [_bits(x).astype(r) for x, r in zip(found, results, strict=True)]
        return [device.wrong[spelling](operands, x) for x in columns] if spelling in device.wrong else columns
