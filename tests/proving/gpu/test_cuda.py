"""The GPU's compiler, which needs no GPU, and its driver, told with a stand-in for cuda.bindings."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import fake_cuda
from helpers.bench import SPEC
from helpers.kernels import FOLDER, OF_FORMS, OF_INSTRUCTIONS
from ptxspec.proving.gpu import cuda
from ptxspec.proving.gpu.device import DeviceError, NoDeviceError


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100a", "sm_120f"])
def test_all_kernels_compile_to_machine_code(nvrtc: cuda.Nvrtc, target: str) -> None:
    headers = {p.name: p.read_text("utf-8") for p in FOLDER.glob("*.cuh")}
    for path in (*OF_INSTRUCTIONS, *OF_FORMS):
        cubin = nvrtc.compile(path.name, path.read_text("utf-8"), headers, target)
        assert cubin.startswith(b"\x7fELF")
        for v in SPEC.instructions[path.stem].variants if path in OF_INSTRUCTIONS else ():
            assert (v.identifier.encode() in cubin) == SPEC.has_kernel(v)


def test_the_compilers_first_error_is_told(nvrtc: cuda.Nvrtc) -> None:
    with pytest.raises(DeviceError, match=r"x\.cu\(1\): error: "):
        nvrtc.compile("x.cu", "nonsense", {}, "sm_90")


def test_a_kernel_gets_its_operands_and_gives_its_results(driver: fake_cuda.Driver) -> None:
    device = cuda.CudaDevice()
    assert (device.about.gpu, device.about.target, device.about.release) == ("Fake GPU", "sm_90", "13.0")
    assert device.about.driver.endswith("CUDA 13.2") or device.about.driver.endswith("(CUDA 13.2)")
    module = device.compile("x.cu", "code", {"h.cuh": ""}, "sm_90a")
    x = np.arange(1000, dtype=np.uint32)
    assert np.array_equal(module.launch("adds_one", [x], [x.dtype])[0], x + 1)
    assert np.array_equal(module.launch("adds_one", [x[::-1]], [x.dtype])[0], x[::-1] + 1)
    assert driver.modules == [b"code"] and driver.memory == {}
    # What no kernel wrote does not look like a result.
    assert set(module.launch("writes_nothing", [x], [x.dtype])[0].tolist()) == {0xA5A5A5A5}


def test_after_an_error_the_next_kernel_runs(driver: fake_cuda.Driver) -> None:
    module = cuda.CudaDevice().compile("x.cu", "code", {}, "sm_90a")
    x = np.arange(10, dtype=np.uint32)
    with pytest.raises(DeviceError, match=r"^fails: CUDA_ERROR_ILLEGAL_ADDRESS$"):
        module.launch("fails", [x], [x.dtype])
    assert np.array_equal(module.launch("adds_one", [x], [x.dtype])[0], x + 1)
    driver.limit = 39
    with pytest.raises(DeviceError, match=r"^out of memory$"):
        module.launch("adds_one", [x], [x.dtype])
    driver.limit = 40
    assert np.array_equal(module.launch("adds_one", [x], [x.dtype])[0], x + 1)
    assert driver.memory == {}


def test_a_gpu_that_the_compiler_does_not_know_cannot_run(driver: fake_cuda.Driver) -> None:
    driver.generation = 7
    with pytest.raises(NoDeviceError, match=r"supports sm_75 to sm_90, but not sm_70"):
        cuda.CudaDevice()


def test_a_driver_older_than_the_compiler_is_told_of_once(driver: fake_cuda.Driver) -> None:
    driver.version = 12080
    with pytest.raises(NoDeviceError, match=r"supports CUDA 12\.8, and cannot run code that NVRTC 13\.0 compiles"):
        cuda.CudaDevice()


def test_the_compilers_log_is_cut_to_its_first_error(driver: fake_cuda.Driver) -> None:
    with pytest.raises(DeviceError, match=r"^x\.cu\(2\): error: nonsense$"):
        cuda.CudaDevice().compile("x.cu", "nonsense", {}, "sm_90a")
