"""Macros that a text does not define itself, in the conditions that `ptxspec lint` decides."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from oracles.nvcc import holding
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.lint import macros
from ptxspec.lint.guards import guards
from ptxspec.lint.macros import Defines, Truth, needed, nv_target

ASM = 'asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(a));'
TABLE = tomllib.loads(Path(macros.__file__).with_suffix(".toml").read_text("utf-8"))
DEFINED = {name: value for project in TABLE.values() for name, value in project.get("defined", {}).items()}

# What the configuration says of a macro, and the targets from sm_86 on that have it.
TEXTS = {
    ">= sm_120": "sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f",
    "sm_90": "sm_90 sm_90a",
    "sm_90a": "sm_90a",
    ">= sm_90a": "sm_90a",
    "sm_110f": "sm_110a sm_110f",
    "sm_101f": "sm_101a sm_101f sm_110a sm_110f",
    "sm_103f": "sm_103a sm_103f sm_107a sm_107f",
    "sm_103f < sm_107": "sm_103a sm_103f",
    ">= sm_86<sm_89": "sm_86 sm_87 sm_88",
    " sm_89 , sm_120f": "sm_89 sm_120a sm_120f sm_121a sm_121f",
    "H100, 12.1": "sm_90 sm_90a sm_121 sm_121a sm_121f",
}


def holds(db: Database, condition: str, target: str | None, defines: Defines = (), ptx: str | None = None) -> Truth:
    found = guards(db, f"#if {condition}\nx\n#endif", "c++", target, defines, ptx)
    assert found is not None
    return found.compiled(2)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_says_which_targets_have_a_macro(db: Database, text: str) -> None:
    later = [t.name for t in db.targets.values() if t.order >= db.targets["sm_86"].order]
    has = [t for t in later if holds(db, "HAS", t, (("HAS", text),))]
    assert has == TEXTS[text].split()
    assert all(holds(db, "defined(HAS)", t, (("HAS", text),)) is (t in has) for t in later)


@pytest.mark.parametrize("text", ["", ",", "sm_90,", "> sm_90", "= sm_90", ">= sm_90 <", "sm_90 sm_100", "< sm_90"])
def test_other_texts_say_nothing(db: Database, text: str) -> None:
    assert needed(db, text) is None


def test_macros_of_known_headers_are_known(db: Database) -> None:
    text = f"#ifdef CUDA_PTX_FP8_CVT_ENABLED\n{ASM}\n#endif"
    assert db.lint(text, target="sm_80", language="c++", file="a.cu") == []
    assert len(db.lint(text.replace("tanh", "sin"), target="sm_89", language="c++", file="a.cu")) == 1
    assert holds(db, "CUDA_PTX_FP8_CVT_ENABLED", None) is None


@pytest.mark.parametrize(
    ("condition", "first", "second"),
    [
        ("__CUDA_ARCH_HAS_FEATURE__(SM90_ALL)", True, False),
        ("defined(__CUDA_ARCH_HAS_FEATURE__) && !__CUDA_ARCH_HAS_FEATURE__(SM100_ALL)", True, True),
        ("CUDA_ARCH_FAMILY(1000)", False, True),
        ("CUDA_ARCH_CONDITIONAL((900))", True, False),
        ("_CCCL_PTX_ARCH() >= 1000", False, True),
        ("__CUDA_MINIMUM_ARCH__ == 900 && NV_TARGET_MINIMUM_SM_INTEGER == 90", True, False),
        ("_CCCL_CUDACC_AT_LEAST(12, 8)", True, True),
        ("_CCCL_CUDA_COMPILER(NVHPC) || __CUDA_ARCH__ >= 1000", False, True),
        ("_CCCL_CUDA_COMPILER(CLANG)", None, None),
        ("_CCCL_CUDACC_BELOW(12, 8)", False, False),
        ("_CCCL_CUDACC_AT_LEAST(12)", None, None),
        ("SOME_MACRO(12)", None, None),
        ("__has_include(<a.h>)", None, None),
        ("_CCCL_PTX_ARCH(", None, None),
    ],
)
def test_macros_that_are_called_are_known(db: Database, condition: str, first: Truth, second: Truth) -> None:
    assert holds(db, condition, "sm_90a") is first
    assert holds(db, condition, "sm_100f") is second


def test_what_the_file_defines_comes_before_known_headers(db: Database) -> None:
    def compiled(define: str, target: str, defines: Defines = ()) -> Truth:
        found = guards(db, f"{define}\n#if CUTE_ARCH_MMA_SM80_ENABLED\nx\n#endif", "c++", target, defines)
        assert found is not None
        return found.compiled(define.count("\n") + 3)

    on_90 = "#if __CUDA_ARCH__ >= 900\n#define CUTE_ARCH_MMA_SM80_ENABLED 1\n#endif"
    maybe = "#if SOMETHING\n#define CUTE_ARCH_MMA_SM80_ENABLED 1\n#endif"
    never = (("CUTE_ARCH_MMA_SM80_ENABLED", False),)
    assert compiled("", "sm_80") is True
    assert compiled(on_90, "sm_80") is False
    assert compiled(on_90, "sm_90") is True
    assert compiled(maybe, "sm_80") is None
    assert compiled("#undef CUTE_ARCH_MMA_SM80_ENABLED", "sm_80") is False
    # The configuration comes before both.
    assert [compiled(text, "sm_90", never) for text in ("", on_90, maybe)] == [False, False, False]


def test_a_called_macro_of_the_file_is_its_own(db: Database) -> None:
    found = guards(db, "#define CUDA_ARCH_FAMILY(x) 1\n#if CUDA_ARCH_FAMILY(1000)\nx\n#endif", "c++", "sm_90")
    assert found is not None and found.compiled(3) is None


@pytest.mark.parametrize(
    ("condition", "ptx", "expected"),
    [
        ("__CUDACC_VER_MAJOR__ >= 12", None, True),
        ("__CUDACC_VER_MAJOR__ < 12", None, False),
        ("__CUDACC_VER_MAJOR__ >= 99", None, False),
        ("__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)", "8.4", True),
        ("__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)", "8.3", False),
        ("CUDA_VERSION >= 12080", "8.7", True),
        ("CUDART_VERSION >= 12080", "8.5", False),
        ("__cccl_ptx_isa >= 860ULL", "8.6", True),
        ("__cccl_ptx_isa >= 860ULL", "8.5", False),
        # No CUDA release is known to have brought it.
        ("CUDA_VERSION >= 9000", "5.1", None),
    ],
)
def test_conditions_on_the_release_go_by_the_ptx_version(
    db: Database, condition: str, ptx: str | None, expected: Truth
) -> None:
    assert holds(db, condition, "sm_60", (), ptx) is expected
    assert holds(db, condition, None, (), ptx) is None


def test_the_command_line_says_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(f"#if CUDA_VERSION >= 12000\n{ASM}\n#endif")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", "--target", "sm_80", "--ptx", "8.0", "a.cu"]) == 1
    assert main(["lint", "--target", "sm_80", "--ptx", "7.8", "a.cu"]) == 0
    assert "1 in code that is not compiled\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "targets"),
    [
        ("NV_PROVIDES_SM_90", "sm_90 sm_90a sm_100f"),
        ("NV_IS_EXACTLY_SM_90", "sm_90 sm_90a"),
        ("NV_HAS_FEATURE_SM_90a", "sm_90a"),
        ("NV_HAS_FEATURE_SM_100f", "sm_100f"),
        ("NV_IS_DEVICE", "sm_80 sm_90 sm_90a sm_100f"),
        ("NV_NO_TARGET", ""),
    ],
)
def test_conditions_of_nv_if_target(db: Database, name: str, targets: str) -> None:
    asked = ("sm_80", "sm_90", "sm_90a", "sm_100f")
    assert [t for t in asked if nv_target(db, name, t)] == targets.split()
    assert nv_target(db, name, None) is nv_target(db, f"{name}x", "sm_90") is None


def test_the_table_is_of_targets_that_there_are(db: Database) -> None:
    for project in TABLE.values():
        assert project["source"] and project["version"]
    for name, value in DEFINED.items():
        assert name.isidentifier()
        if isinstance(value, str):
            terms = needed(db, value)
            assert terms and all(any(t.holds(db, target) for target in db.targets) for t in terms), name


# Against nvcc

CONDITIONS = (
    *(f"__CUDA_ARCH_HAS_FEATURE__(SM{n}_ALL)" for n in (90, 100, 103, 107, 110, 120, 121)),
    *(f"{name} {sign} {n}" for name in ("_CCCL_PTX_ARCH()", "CUB_PTX_ARCH", "__CUDA_MINIMUM_ARCH__")
      for sign in (">=", "==") for n in (800, 900, 1000, 1200)),
    "NV_TARGET_MINIMUM_SM_INTEGER >= 90", "_CCCL_CUDACC_AT_LEAST(12, 8)", "_CCCL_CUDACC_BELOW(13, 5)",
    "_CCCL_CTK_AT_LEAST(13, 5)", "_CCCL_CTK_BELOW(13, 6)", "_CCCL_CUDA_COMPILATION()", "_CCCL_DEVICE_COMPILATION()",
    "_CCCL_HOST_COMPILATION()", "_CCCL_TILE_COMPILATION()", "_CCCL_HAS_SIMD_8BIT()", "_CCCL_HAS_SIMD_F32X2_PTX()",
    "__cccl_ptx_isa >= 920ULL", "__CUDACC_VER_MAJOR__ == 13", "CUDA_VERSION >= 13050", "CUDART_VERSION < 13000",
    "__CUDA_FP8_INTERNAL_CAN_RELY_ON_PTX_FOR_SHORTTYPESCVT__",
    "__CUDA_FP8_INTERNAL_CAN_RELY_ON_PTX_RZ_FOR_SHORTTYPESCVT__",
)  # fmt: skip
NAMES = (
    *(f"NV_{kind}_SM_{n}" for kind in ("PROVIDES", "IS_EXACTLY") for n in (75, 80, 86, 89, 90, 100, 107, 110, 121)),
    *(f"NV_HAS_FEATURE_SM_{n}a" for n in (90, 100, 103, 107, 110, 120, 121)),
    *(f"NV_HAS_FEATURE_SM_{n}f" for n in (100, 103, 107, 110, 120, 121)),
    "NV_IS_DEVICE", "NV_IS_HOST", "NV_ANY_TARGET", "NV_NO_TARGET",
)  # fmt: skip
HEADERS = {
    "cccl": "cuda.h mma.h cuda_fp8.h cuda/std/version cub/util_arch.cuh nv/target",
    "cutlass": "cutlass/cutlass.h cutlass/arch/arch.h cutlass/arch/mma.h cutlass/arch/barrier.h "
    "cutlass/arch/reg_reconfig.h cutlass/numeric_conversion.h cutlass/functional.h cute/tensor.hpp "
    "cute/atom/mma_atom.hpp cute/atom/copy_atom.hpp cute/arch/cluster_sm90.hpp cute/arch/mma_sm61.hpp "
    "cute/arch/mma_sm89.hpp",
    "flashinfer": "cstdint flashinfer/mma.cuh flashinfer/cp_async.cuh flashinfer/vec_dtypes.cuh",
}


def compiled_by(db: Database) -> list[str]:
    """The targets of nvcc."""
    return [t.name for t in db.targets.values() if t.nvcc or (t.base and db.targets[t.base].nvcc)]


# Headers that are in no wheel are looked for where PTXSPEC_CUTLASS and PTXSPEC_FLASHINFER say.
@pytest.mark.exhaustive
@pytest.mark.parametrize("project", HEADERS)
def test_known_macros_are_what_nvcc_says(db: Database, nvcc: Path, tmp_path: Path, project: str) -> None:
    folder = nvcc.parents[1] / "include/cccl" if project == "cccl" else os.environ.get(f"PTXSPEC_{project.upper()}")
    if folder is None:
        pytest.skip(f"PTXSPEC_{project.upper()} does not say where the headers are")
    own = [f"defined({name})" for name in TABLE[project]["defined"]]
    if project == "cccl":
        own += CONDITIONS
    elif project == "cutlass":
        own += [f"CUDA_ARCH_{kind}({n})" for kind in ("FAMILY", "CONDITIONAL") for n in (900, 1000, 1030, 1210)]
    head = "".join(f"#include <{name}>\n" for name in HEADERS[project].split())
    branches = [f'NV_IF_TARGET({n}, asm volatile("// {len(own) + i} holds");)' for i, n in enumerate(NAMES)]
    for target in compiled_by(db):
        body = "\n".join(branches if project == "cccl" else ())
        found = holding(nvcc, tmp_path, head, own, target, body, "-std=c++17", "-w", f"-I{folder}")
        expected = {c: i in found for i, c in enumerate(own)}
        assert {c: holds(db, c, target) for c in own} == expected, target
        if project == "cccl":
            named = {n: len(own) + i in found for i, n in enumerate(NAMES)}
            assert {n: nv_target(db, n, target) for n in NAMES} == named, target
