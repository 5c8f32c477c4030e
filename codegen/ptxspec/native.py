"""The GPUs of this machine, as its driver reports them: through the driver's library, or through nvidia-smi if Python
cannot load that."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys

from .diagnostics import PtxspecError

Capability = tuple[int, int]

# CUdevice_attribute
_MAJOR, _MINOR = 75, 76
_SMI = ("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader")


def capabilities() -> list[Capability]:
    """Return the compute capabilities of all GPUs, in the driver's order. Raises PtxspecError if there is none."""
    why = []
    for ask in (_by_driver, _by_smi):
        try:
            found = ask()
        except PtxspecError as e:
            why.append(str(e))
            continue
        if found:
            return found
        why.append("the driver reports no GPU")
    raise PtxspecError(f"'native' requires a GPU: {'; '.join(dict.fromkeys(why))}; name a target or a GPU instead")


def _by_driver() -> list[Capability]:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        raise PtxspecError(f"there is no NVIDIA driver ({name})") from None
    count = ctypes.c_int()
    if error := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        raise PtxspecError(f"the driver answers with error {error}")
    found = []
    for i in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        error = (
            driver.cuDeviceGet(ctypes.byref(device), i)
            or driver.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device)
            or driver.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device)
        )
        if error:
            raise PtxspecError(f"the driver answers with error {error}")
        found.append((major.value, minor.value))
    return found


def _by_smi() -> list[Capability]:
    try:
        done = subprocess.run(_SMI, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        raise PtxspecError("nvidia-smi cannot be run") from None
    if done.returncode:
        first = next(iter((done.stdout + done.stderr).split("\n")), "")
        raise PtxspecError(f"nvidia-smi: {first or done.returncode}")
    return [(int(major), int(minor)) for major, minor in re.findall(r"^\s*(\d+)\.(\d+)\s*$", done.stdout, re.MULTILINE)]
