"""cuda.bindings with a driver and a compiler that are none: device memory is the host's, and a kernel adds one."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np


class Status:
    def __init__(self, code: int, name: str) -> None:
        self.code, self.name = code, name

    def __int__(self) -> int:
        return self.code


OK = Status(0, "SUCCESS")
OUT_OF_MEMORY = Status(2, "CUDA_ERROR_OUT_OF_MEMORY")
ILLEGAL_ADDRESS = Status(700, "CUDA_ERROR_ILLEGAL_ADDRESS")


class Driver:
    """The calls of cuda-bindings that cuda.py makes, as documented: each returns a tuple with its status first."""

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=76
    )

    def __init__(self) -> None:
        self.memory: dict[int, Any] = {}
        self.limit = 1 << 30
        self.generation = 9
        self.version = 13020
        self.lost = False
        self.contexts = 0
        self.modules: list[bytes] = []

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        return (OK,)

    def cuDeviceGet(self, ordinal: int) -> tuple[Any, ...]:
        return OK, ordinal

    def cuDeviceGetName(self, size: int, device: int) -> tuple[Any, ...]:
        return OK, b"Fake GPU".ljust(size, b"\0")

    def cuDeviceGetAttribute(self, attribute: int, device: int) -> tuple[Any, ...]:
        return OK, {75: self.generation, 76: 0}[attribute]

    def cuDriverGetVersion(self) -> tuple[Any, ...]:
        return OK, self.version

    def cuDevicePrimaryCtxReset(self, device: int) -> tuple[Any, ...]:
        self.lost, self.modules = False, []
        return (OK,)

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:
        self.contexts += 1
        return OK, self.contexts

    def cuCtxSetCurrent(self, context: int) -> tuple[Any, ...]:
        return (OK,)

    def cuModuleLoadData(self, image: int) -> tuple[Any, ...]:
        self.modules.append(ctypes.string_at(image, 4))
        return OK, len(self.modules)

    def cuModuleGetFunction(self, module: int, name: bytes) -> tuple[Any, ...]:
        return OK, name

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:
        if self.lost or size > self.limit:
            return (ILLEGAL_ADDRESS if self.lost else OUT_OF_MEMORY), 0
        block = ctypes.create_string_buffer(size)
        self.memory[ctypes.addressof(block)] = block
        return OK, ctypes.addressof(block)

    def cuMemFree(self, pointer: int) -> tuple[Any, ...]:
        del self.memory[pointer]
        return (OK,)

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> tuple[Any, ...]:
        ctypes.memmove(to, source, size)
        return (OK,)

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> tuple[Any, ...]:
        ctypes.memmove(to, source, size)
        return (OK,)

    def cuMemsetD8(self, pointer: int, value: int, size: int) -> tuple[Any, ...]:
        ctypes.memset(pointer, value, size)
        return (OK,)

    def cuLaunchKernel(self, function: bytes, *arguments: Any) -> tuple[Any, ...]:
        gx, gy, gz, bx, by, bz, shared, stream, parameters, extra = arguments
        assert (gy, gz, by, bz, shared, stream, extra) == (1, 1, 1, 1, 0, 0, 0)
        places = (ctypes.c_uint64 * 3).from_address(parameters)
        a, d = (ctypes.c_uint64.from_address(p).value for p in places[:2])
        n = ctypes.c_uint32.from_address(places[2]).value
        assert gx * bx >= n > (gx - 1) * bx
        if function == b"adds_one":
            x = np.frombuffer((ctypes.c_uint32 * n).from_address(a), np.uint32)
            np.frombuffer((ctypes.c_uint32 * n).from_address(d), np.uint32)[:] = x + np.uint32(1)
        self.lost = function == b"fails"
        return (OK,)

    def cuCtxSynchronize(self) -> tuple[Any, ...]:
        return (ILLEGAL_ADDRESS if self.lost else OK,)


class Nvrtc:
    """Its machine code is the source."""

    def nvrtcVersion(self) -> tuple[Any, ...]:
        return OK, 13, 0

    def nvrtcGetSupportedArchs(self) -> tuple[Any, ...]:
        return OK, [75, 90]

    def nvrtcCreateProgram(
        self, source: bytes, name: bytes, count: int, headers: list[bytes], names: list[bytes]
    ) -> tuple[Any, ...]:
        assert count == len(headers) == len(names)
        return OK, source

    def nvrtcCompileProgram(self, program: bytes, count: int, options: list[bytes]) -> tuple[Any, ...]:
        assert options[0] == b"--gpu-architecture=sm_90a" and count == len(options)
        return (Status(6, "NVRTC_ERROR_COMPILATION") if b"nonsense" in program else OK,)

    def nvrtcGetProgramLogSize(self, program: bytes) -> tuple[Any, ...]:
        return OK, len(self._log)

    def nvrtcGetProgramLog(self, program: bytes, log: bytes) -> tuple[Any, ...]:
        ctypes.memmove(log, self._log, len(self._log))
        return (OK,)

    def nvrtcGetCUBINSize(self, program: bytes) -> tuple[Any, ...]:
        return OK, len(program)

    def nvrtcGetCUBIN(self, program: bytes, cubin: bytes) -> tuple[Any, ...]:
        ctypes.memmove(cubin, program, len(program))
        return (OK,)

    def nvrtcDestroyProgram(self, program: bytes) -> tuple[Any, ...]:
        return (OK,)

    _log = b"x.cu(1): warning: odd\nx.cu(2): error: nonsense\n\0"
