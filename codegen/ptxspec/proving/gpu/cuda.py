"""A GPU through cuda-bindings. NVRTC compiles to machine code of the GPU's target: the driver need not know the PTX
version."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .device import DeviceError, Module, NoDeviceError, RunEnvironment

Array = NDArray[Any]

_INSTALL = "install it with `pip install 'ptxspec[cuda]'`"
_THREADS = 256
# Fills results before a kernel runs, so that one that is not written does not look like the last result.
_UNWRITTEN = 0xA5
_KERNEL_MODULE = Path("/proc/driver/nvidia/version")


class Nvrtc:
    """The compiler, which needs neither GPU nor driver."""

    def __init__(self) -> None:
        """Load the compiler. Raises NoDeviceError where it is not installed."""
        self._api = _import("nvrtc")
        try:
            major, minor = _checked("its version", self._api.nvrtcVersion())
        except (DeviceError, RuntimeError) as e:
            raise NoDeviceError(f"NVRTC was not found ({_line(e)}); {_INSTALL}") from None
        self.release = f"{major}.{minor}"

    def check(self, target: str) -> None:
        """Check that NVRTC supports a target. Raises NoDeviceError if it does not."""
        known = _checked("its targets", self._api.nvrtcGetSupportedArchs())
        if int(target.removeprefix("sm_")) not in known:
            listed = f"sm_{min(known)} to sm_{max(known)}"
            raise NoDeviceError(f"NVRTC {self.release} supports {listed}, but not {target}; another version may")

    def compile(self, name: str, source: str, headers: Mapping[str, str], target: str) -> bytes:
        """Compile source to a cubin. Raises DeviceError with the first error in the compiler's log."""
        api = self._api
        texts, names = [t.encode() for t in headers.values()], [n.encode() for n in headers]
        program = _checked(name, api.nvrtcCreateProgram(source.encode(), name.encode(), len(names), texts, names))
        try:
            options = [f"--gpu-architecture={target}".encode(), b"-DPTXSPEC_KERNELS_ONLY"]
            error, *_ = api.nvrtcCompileProgram(program, len(options), options)
            if int(error):
                # More than one byte, because Python shares objects of length one, and NVRTC writes into these.
                log = bytes(1 + _checked(name, api.nvrtcGetProgramLogSize(program)))
                _checked(name, api.nvrtcGetProgramLog(program, log))
                raise DeviceError(_first_error(log.decode("utf-8", "replace")) or f"{name}: {error.name}")
            cubin = bytes(1 + _checked(name, api.nvrtcGetCUBINSize(program)))
            _checked(name, api.nvrtcGetCUBIN(program, cubin))
            return cubin[:-1]
        finally:
            api.nvrtcDestroyProgram(program)


class CudaDevice:
    """The first GPU that the driver reports; CUDA_VISIBLE_DEVICES selects another."""

    def __init__(self) -> None:
        """Open the first GPU. Raises NoDeviceError, which says what is missing."""
        self._api = _import("driver")
        try:
            error, *_ = self._api.cuInit(0)
        except RuntimeError as e:
            raise NoDeviceError(f"there is no NVIDIA driver: {_line(e)}") from None
        if int(error):
            raise NoDeviceError(f"there is no usable GPU: the driver says {error.name}")
        self._nvrtc = Nvrtc()
        try:
            self._device = _checked("no GPU", self._api.cuDeviceGet(0))
            self.about = self._describe()
            self._nvrtc.check(self.about.target)
            self._begin()
        except DeviceError as e:
            raise NoDeviceError(f"the GPU cannot be used: {e}") from None

    def compile(self, name: str, source: str, headers: Mapping[str, str], target: str) -> Module:
        return _CudaModule(self, self._nvrtc.compile(name, source, headers, target))

    def launch(
        self, cubin: bytes, kernel: str, operands: Sequence[Array], results: Sequence[np.dtype[Any]]
    ) -> list[Array]:
        """Run a kernel of a compiled module. After an error, a new context replaces the old one, which may be lost."""
        try:
            return self._launch(cubin, kernel, operands, results)
        except DeviceError:
            self._begin()
            raise

    def _describe(self) -> RunEnvironment:
        name = _checked("name", self._api.cuDeviceGetName(128, self._device))
        attribute = self._api.CUdevice_attribute
        major, minor = (
            _checked("compute capability", self._api.cuDeviceGetAttribute(a, self._device))
            for a in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        version = _checked("driver version", self._api.cuDriverGetVersion())
        cuda = f"CUDA {version // 1000}.{version % 1000 // 10}"
        if version // 1000 < int(self._nvrtc.release.split(".")[0]):
            # Such a driver cannot load modules.
            raise NoDeviceError(
                f"the driver supports {cuda}, and cannot run code that NVRTC {self._nvrtc.release} compiles: install a "
                f"newer driver, or NVRTC and cuda-bindings of CUDA {version // 1000}"
            )
        driver = f"{number} ({cuda})" if (number := _driver_number()) else cuda
        release = self._nvrtc.release
        return RunEnvironment(name.rstrip(b"\0").decode(), f"sm_{major}{minor}", driver, f"NVRTC {release}", release)

    def _begin(self) -> None:
        """Begin a context without modules; a previous context of this process is destroyed first."""
        self._modules: dict[bytes, Any] = {}
        self._api.cuDevicePrimaryCtxReset(self._device)
        context = _checked("context", self._api.cuDevicePrimaryCtxRetain(self._device))
        _checked("context", self._api.cuCtxSetCurrent(context))

    def _launch(
        self, cubin: bytes, kernel: str, operands: Sequence[Array], results: Sequence[np.dtype[Any]]
    ) -> list[Array]:
        api, n = self._api, operands[0].size
        if cubin not in self._modules:
            image = np.frombuffer(cubin, np.uint8)
            self._modules[cubin] = _checked("loading", api.cuModuleLoadData(image.ctypes.data))
        function = _checked(kernel, api.cuModuleGetFunction(self._modules[cubin], kernel.encode()))
        found = [np.empty(n, dtype) for dtype in results]
        with contextlib.ExitStack() as allocated:

            def allocate(size: int) -> Any:
                pointer = _checked("memory", api.cuMemAlloc(size))
                allocated.callback(api.cuMemFree, pointer)
                return pointer

            pointers = []
            for column in map(np.ascontiguousarray, operands):
                pointers.append(allocate(column.nbytes))
                _checked("copy", api.cuMemcpyHtoD(pointers[-1], column.ctypes.data, column.nbytes))
            for column in found:
                pointers.append(allocate(column.nbytes))
                _checked("memory", api.cuMemsetD8(pointers[-1], _UNWRITTEN, column.nbytes))
            values: list[Array] = [np.array([int(p)], np.uint64) for p in pointers]
            values.append(np.array([n], np.uint32))
            places = np.array([v.ctypes.data for v in values], np.uint64)
            blocks = (n + _THREADS - 1) // _THREADS
            shape = (blocks, 1, 1, _THREADS, 1, 1)
            _checked(kernel, api.cuLaunchKernel(function, *shape, 0, 0, places.ctypes.data, 0))
            _checked(kernel, api.cuCtxSynchronize())
            for column, pointer in zip(found, pointers[len(operands) :], strict=True):
                _checked("copy", api.cuMemcpyDtoH(column.ctypes.data, pointer, column.nbytes))
        return found


class _CudaModule:
    def __init__(self, device: CudaDevice, cubin: bytes) -> None:
        self._device, self._cubin = device, cubin

    def launch(self, kernel: str, operands: Sequence[Array], results: Sequence[np.dtype[Any]]) -> list[Array]:
        return self._device.launch(self._cubin, kernel, operands, results)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(f"cuda.bindings.{name}")
    except ImportError as e:
        raise NoDeviceError(f"cuda-bindings cannot be imported ({_line(e)}); {_INSTALL}") from None


def _checked(what: str, returned: tuple[Any, ...]) -> Any:
    """Return the value that a call returned with its status. Raises DeviceError for any status but success."""
    error, *values = returned
    if int(error):
        name = error.name
        raise DeviceError("out of memory" if name == "CUDA_ERROR_OUT_OF_MEMORY" else f"{what}: {name}")
    return values[0] if len(values) == 1 else tuple(values)


def _line(e: BaseException) -> str:
    return " ".join(str(e).split())[:300]


def _first_error(log: str) -> str:
    return next((line.strip() for line in log.strip("\0 \n").splitlines() if "error" in line), "")


def _driver_number() -> str:
    """Return the kernel module's version, such as 580.65.06, if the system reports it; the driver's API does not."""
    try:
        found = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", _KERNEL_MODULE.read_text("utf-8", "replace"))
    except OSError:
        return ""
    return found[0] if found else ""
