"""Machine code of PTX, as nvdisasm lists it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"


def machine_code(ptxas: Path, nvdisasm: Path, folder: Path, kernels: list[str]) -> dict[str, list[dict[str, str]]]:
    """What kernels are compiled to, by their names."""
    text = HEADER + "\n".join(kernels)
    (folder / "k.ptx").write_text(text, "utf-8")
    subprocess.run([ptxas, "-arch", "sm_90", "k.ptx", "-o", "k.cubin"], check=True, cwd=folder)
    listed = subprocess.run([nvdisasm, "-json", "k.cubin"], check=True, cwd=folder, capture_output=True, text=True)
    return {f["function-name"]: f["sass-instructions"] for f in json.loads(listed.stdout)[1]}
