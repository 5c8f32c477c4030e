"""`ptxspec explain` on logs as people post them: in our own words and with our own values around the tools' fixed
phrases, each with the change that mends it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from ptxspec import Database
from ptxspec.explain.log import as_text, explanations
from ptxspec.explain.surroundings import surroundings

pytestmark = pytest.mark.inputs(
    "specification", "codegen/ptxspec/explain", "codegen/ptxspec/proving/ptxas", "codegen/ptxspec/catalog"
)


class Log(NamedTuple):
    """A log, the beginning of each change, and what must stand in the whole answer."""

    text: str
    changes: tuple[str, ...]
    also: tuple[str, ...] = ()


BF16_ON_T4 = "use another type on sm_75: for .bf16 use .f16 (numbers up to 65504) or .f32"
LOGS = {
    "torch.compile, bf16 on a Turing GPU": Log(
        """\
torch._inductor.exc.InductorError: RuntimeError: Internal Triton PTX codegen error
`ptxas` stderr:
ptxas /tmp/tmpa1.ptx, line 277; error   : Feature 'cvt.bf16.f32' requires .target sm_80 or higher
ptxas /tmp/tmpa1.ptx, line 281; error   : Feature '.bf16' requires .target sm_80 or higher
ptxas fatal   : Ptx assembly aborted due to errors
Repro command: /opt/venv/triton/backends/nvidia/bin/ptxas -lineinfo -v --gpu-name=sm_75 /tmp/tmpa1.ptx -o /tmp/tmpa1.o
""",
        (BF16_ON_T4,),
        ("the log's GPU is sm_75: no option", "`ptxspec query cvt.rn.bf16.f32 --target sm_75`"),
    ),
    "the same on Windows": Log(
        "Repro command: C:\\v\\triton\\ptxas.exe --gpu-name=sm_75\n"
        "ptxas C:\\A B\\g.ptx, line 7; error : Feature 'cvt with .f32.bf16' requires .target sm_80 or higher\n",
        (BF16_ON_T4,),
    ),
    "bf16 is added on a GPU that multiplies it": Log(
        "GPU 0: NVIDIA A100-PCIE-40GB\n"
        "ptxas k.ptx, line 40; error   : Feature 'add.bf16' requires .target sm_90 or higher\n",
        ("on sm_80 write the recipe for add.bf16: { .reg .b16 %_t; mov.b16 %_t, 0x3f80; fma.rn.bf16 ",),
    ),
    "only -arch is old": Log(
        "nvcc -arch sm_75 -c k.cu\nDevice 0: NVIDIA GeForce RTX 3090, compute capability 8.6\n"
        "ptxas /tmp/tmpx.ptx, line 9; error   : Feature 'fma.rn.bf16' requires .target sm_80 or higher\n",
        ("compile for sm_80 or newer (-arch=sm_80; .target sm_80 in PTX) with .version 7.0",),
        ("the log's GPU, sm_86, has it",),
    ),
    "only -arch is told": Log(
        "nvcc -gencode arch=compute_70,code=sm_70 -gencode arch=compute_80,code=sm_80\n"
        "ptxas /tmp/t.compute_70.ptx, line 361; error   : Feature 'ex2.f16/f16x2' requires .target sm_75 or higher\n",
        ("compile for sm_75 or newer (-arch=sm_75; .target sm_75 in PTX) with .version 7.0",),
        ("if the GPU is no newer", "keep sm_70, and guard the code with #if __CUDA_ARCH__ >= 750"),
    ),
    "two GPUs": Log(
        "Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9\nDevice 1: NVIDIA GeForce RTX 2070\n"
        "ptxas t.ptx, line 191; error   : Feature 'cp.async' requires .target sm_80 or higher\n",
        ("compile for sm_80 or newer",),
        ("choose one with CUDA_VISIBLE_DEVICES",),
    ),
    "a kernel for tensor cores on an older GPU": Log(
        "V100's compute capability (7, 0)\n"
        "ptxas /tmp/tmpf.ptx, line 126; error   : Feature 'ldmatrix' requires .target sm_75 or higher\n"
        "ptxas /tmp/tmpf.ptx, line 126; error   : Modifier '.m8n8' requires .target sm_75 or higher\n",
        ("use code written for sm_70",),
        ("'ldmatrix' was introduced with sm_75",),
    ),
    "FP8 on an Ampere GPU": Log(
        "GPU 0: NVIDIA A10\nGPU 0 Compute Capability: 8.6\n"
        "triton.compiler.errors.CompilationError: at 1:0:\n"
        "ValueError(\"type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', "
        "'fp8e5')\")\n",
        ("use fp8e5 (e5m2), or 16 bits (float16, bfloat16); fp8e4nv is e4m3, and only sm_89 and newer convert it",),
        ("the log's GPU is sm_86", "results differ"),
    ),
    "a format of AMD's": Log(
        "type fp8e5b16 not supported in this architecture. The supported fp8 dtypes are ('fp8e4nv', 'fp8e5')",
        ("use fp8e5 (e5m2)",),
    ),
    "FP8 as ptxas refuses it": Log(
        "ptxas a.ptx, line 5; error   : Feature 'cvt with .e4m3x2/.e5m2x2' requires .target sm_89 or higher\n",
        ("compile for sm_89 or newer (-arch=sm_89; .target sm_89 in PTX) with .version 8.1",),
    ),
    "FP4 on a GeForce": Log(
        "ptxas q.ptx, line 6092; error   : Instruction 'cvt with .e2m1x2' not supported on .target 'sm_120'\n",
        ("compile for sm_120a or sm_120f",),
        ("sm_120a from PTX 8.7 (CUDA 12.8) for cvt.rn.satfinite.e2m1x2.f32",),
    ),
    "Hopper's instructions on a GeForce": Log(
        "ptxas g.ptx, line 10; error   : Instruction 'wgmma.fence' not supported on .target 'sm_120'\n",
        ("use code written for sm_120",),
        ("'wgmma.fence', which requires sm_90a from PTX 8.0\n",),
    ),
    "Hopper's instructions without the a": Log(
        "ptxas g.ptx, line 10; error   : Instruction 'setmaxnreg.inc' not supported on .target 'sm_90'\n",
        ("compile for sm_90a with .version 8.0 (CUDA 12.0) or newer",),
    ),
    "kinds that came in different PTX versions": Log(
        "ptxas g.ptx, line 1; error   : Instruction 'tcgen05.wait' cannot be compiled for architecture 'sm_100'\n",
        (
            "compile for sm_100a with .version 8.6 (CUDA 12.8) or newer, or for sm_100f with .version 8.8 (CUDA 12.9) "
            "or newer",
        ),
    ),
    "a reduction that Hopper lacks": Log(
        "ptxas g.ptx, line 1; error   : Instruction 'redux.f32' not supported on .target 'sm_90'\n",
        ("use code written for sm_90",),
        ("which requires sm_100a from PTX 8.6", "if the GPU is newer than sm_90 and one of these, compile for it"),
    ),
    "block scales, in colour": Log(
        "[ 28%] Building CUDA object mmq.cu.o\n"
        "\x1b[31mptxas m.ptx, line 1; error   : Feature '.kind::mxf4' not supported on .target 'sm_121'\x1b[0m\n"
        "\x1b[31mptxas m.ptx, line 1; error   : Feature '.scale_vec::2X' not supported on .target 'sm_121'\x1b[0m\n",
        ("compile for sm_121a or sm_121f with .version 8.8 (CUDA 12.9) or newer",),
        ("    ptxas: Feature '.kind::mxf4' not",),
    ),
    "block scales, from a forum": Log(
        "ptxas /tmp/m.ptx, line 12; error : Instruction \u2018mma with block scale\u2019 not supported on .target "
        "\u2018sm_120\u2019\n",
        ("compile for sm_120a with .version 8.7 (CUDA 12.8) or newer, or for sm_120f with .version 8.8",),
    ),
    "FP4 on a GPU without it": Log(
        "ptxas q.ptx, line 60; error   : Instruction 'cvt with .e2m1x2' not supported on .target 'sm_90'\n",
        ("on sm_90 write a recipe: `ptxspec query cvt.rn.satfinite.e2m1x2.f32 --target sm_90` has one",),
        ("requires sm_100a, sm_101a from PTX 8.6",),
    ),
    "a type that an older ptxas does not know": Log(
        "ptxas q.ptx, line 60; error   : Unknown modifier '.e4m3x2'\n",
        ("use ptxas of CUDA 11.8 or newer, with .version 7.8 or newer",),
    ),
    "a modifier of a load that an older ptxas does not know": Log(
        "ptxas q.ptx, line 60; error   : Unknown modifier '.mmio'\n",
        ("use ptxas of CUDA 12.2 or newer, with .version 8.2 or newer",),
    ),
    "instructions that an older ptxas does not know": Log(
        "ptxas q.ptx, line 6; error   : Not a name of any known instruction: 'wgmma'\n"
        "ptxas q.ptx, line 9; error   : Not a name of any known instruction: 'tanh'\n",
        ("use ptxas of CUDA 12.0 or newer, with .version 8.0", "use ptxas of CUDA 11.0 or newer, with .version 7.0"),
    ),
    "names of PTX, almost": Log(
        "ptxas q.ptx, line 6; error   : Unknown symbol 'WARPSZ'\n"
        "ptxas q.ptx, line 9; error   : Unknown symbol '%tidx'\n"
        "ptxas q.ptx, line 9; error   : Unknown symbol '%p1'\n",
        ("write WARP_SZ", "write %tid.x", "declare %p1 before this line"),
    ),
    "LLVM, told to write a PTX version that is too old": Log(
        "LLVM ERROR: PTX version 8.5 does not support target 'sm_120a'. Minimum required PTX version is 8.7. Either "
        "remove the PTX version to use the default, or increase it to at least 8.7.\n",
        ("write PTX 8.7 (CUDA 12.8) or newer (-mattr=+ptx87), or request no PTX version",),
        ("sm_120a was introduced in PTX 8.7, and PTX 8.5 is older",),
    ),
    "XLA and an old ptxas": Log(
        "W external/xla/asm_compiler.cc:9] Falling back to the CUDA driver for PTX compilation; ptxas does not support "
        "CC 12.0\nW external/xla/asm_compiler.cc:9] Used ptxas at /opt/cuda-12.4/bin/ptxas\n",
        ("use ptxas of CUDA 12.8 or newer, and put it first in PATH",),
    ),
    "builtin functions of clang": Log(
        "k.cu:5:7: error: '__nvvm_ff_to_e4m3x2_rn' needs target feature (sm_90|sm_89|sm_100),(ptx83|ptx81|ptx84)\n"
        "k.cu:9:7: error: '__nvvm_bar_warp_sync' needs target feature ptx60\n",
        (
            "compile for sm_89 or newer (--offload-arch=sm_89) with --cuda-path of CUDA 12.1 or newer, for PTX 8.1",
            "compile with --cuda-path of CUDA 9.0 or newer, for PTX 6.0",
        ),
    ),
    "intrinsics that LLVM cannot select": Log(
        "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.tanh.approx.f32\n"
        "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.mma.m16n8k16.row.col.bf16\n"
        "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.redux.sync.fmax\n",
        (
            "compile for sm_75 or newer (-mcpu=sm_75 -mattr=+ptx70 or newer) with an LLVM that supports it",
            "compile for sm_80 or newer (-mcpu=sm_80 -mattr=+ptx70 or newer) with an LLVM that supports it",
            "raise -mcpu and -mattr=+ptx",
        ),
    ),
    "an intrinsic that the log's target has": Log(
        "llc k.ll -march=nvptx64 -mcpu=sm_80\nLLVM ERROR: Cannot select: intrinsic %llvm.nvvm.tanh.approx.f32\n",
        ("raise -mcpu and -mattr=+ptx to the versions that llvm.nvvm.tanh.approx.f32 requires, or use",),
    ),
    "integers to bfloat": Log(
        "LLVM ERROR: Cannot select: t12: bf16 = sint_to_fp t21\n  t21: i16 = sign_extend t9\n",
        ("compile for sm_90 or newer (-mcpu=sm_90 -mattr=+ptx78 or newer) with an LLVM that supports it",),
        ("PTX has cvt.bf16.s32 from sm_90 and PTX 7.8",),
    ),
    "PTX that the host assembles": Log(
        "a.c:1: Error: no such instruction: `max.nan.f32 %xmm0,%xmm0'\n"
        "error: invalid instruction mnemonic 'tanh.approx.f32'\n  --> src/main.rs:4:15\n"
        "<inline asm>:1:2: error: invalid operand for instruction\n",
        ("compile inline PTX for the device only: put it under #ifdef __CUDA_ARCH__",),
    ),
    "what is no PTX": Log(
        "error: invalid instruction mnemonic 'vcvt.f32'\na.s:1: Error: no such instruction: `fadd.s x'\n", ()
    ),
    "MLIR, before LLVM": Log(
        "k.mlir:3:8: error: failed to legalize operation 'math.tanh' that was explicitly marked illegal\n"
        "k.mlir:4:8: error: failed to legalize operation 'arith.truncf'\n"
        "k.mlir:5:8: error: LLVM Translation failed for operation: builtin.unrealized_conversion_cast\n",
        (
            "lower math.tanh with convert-gpu-to-nvvm",
            "lower arith.truncf with convert-arith-to-llvm or convert-gpu-to-nvvm",
            "run reconcile-unrealized-casts as the last pass",
        ),
        ("`ptxspec query math.tanh` shows what it becomes",),
    ),
    "libNVVM and nvJitLink": Log(
        "NVVM_ERROR_COMPILATION\nk.ll line 12: parse expected type\n",
        ("write typed pointers, as in i8*, for targets before sm_100",),
    ),
    "nvJitLink alone": Log(
        "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (<cudapy-ptx>)\n", ("explain ptxas's errors in the log",)
    ),
    "Numba without a toolkit": Log(
        "numba.cuda.NvvmSupportError: No supported GPU compute capabilities found. Please check your cudatoolkit "
        "version matches your CUDA version.\n",
        ("install a CUDA toolkit that your Numba knows, with cudart and libNVVM in it",),
    ),
    "a library without code for the GPU": Log(
        "Error named symbol not found at line 449 in file /src/csrc/ops.cu\n",
        ("compile the program or library for this machine's GPU too",),
    ),
    "headers": Log(
        "/tmp/a.cu(3): catastrophic error: cannot open source file \"cuda_bf16.h\"\n"
        "cuda_bf16.hpp(383): error: identifier \"NV_IS_DEVICE\" is undefined\n"
        "cuda_bf16.hpp(383): error: identifier \"NV_IF_ELSE_TARGET\" is undefined\n"
        "k.cu(14): error: no instance of overloaded function \"atomicAdd\" matches the argument list\n",
        (
            "pass the folder of CUDA's headers, as in -I$CUDA_HOME/include",
            "pass the include folder of the CUDA release that has the header",
            "compile for a target that has it: sm_60 or newer for double",
        ),
    ),
    "ptxas behind the words of its caller": Log(
        "INTERNAL: ptxas exited with non-zero error code 65280, output: ptxas /tmp/t-1, line 10; error   : Feature "
        "'tanh' requires .target sm_75 or higher\n",
        ("compile for sm_75 or newer",),
        ("        at /tmp/t-1:10\n",),
    ),
    "vLLM on a T4": Log(
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has "
        "compute capability 7.5. You can use float16 instead by explicitly setting the `dtype` flag in CLI\n",
        ("use float16 (--dtype=half in vLLM) or float32: bfloat16 requires a GPU of sm_80 or newer",),
        ("the log's GPU is sm_75\n",),
    ),
    "a matrix product in FP8": Log(
        "RuntimeError: torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9\n",
        ("multiply in 16 bits (float16, bfloat16) instead: matrix instructions with FP8 require sm_89 or newer",),
    ),
    "CUTLASS on Hopper": Log(
        "-- CUDA Compilation Architectures: 90\nnvcc -gencode=arch=compute_90,code=sm_90\n"
        "ERROR : Arch conditional MMA instruction used without targeting appropriate compute capability. Aborting.\n",
        ("compile for the GPU's own target, sm_90a, as in -gencode arch=compute_90a,code=sm_90a",),
    ),
    "CUTLASS on a GeForce": Log(
        "GPU: NVIDIA GeForce RTX 5090\n"
        "ERROR : Arch conditional MMA instruction used without targeting appropriate compute capability. Aborting.\n",
        ("compile for the GPU's own target, sm_120a",),
    ),
    "CUTLASS on an older GPU": Log(
        "NVIDIA L40S\n"
        "ERROR : Arch conditional MMA instruction used without targeting appropriate compute capability. Aborting.\n",
        ("use a kernel written for sm_89",),
    ),
    "a PyTorch that is older than the GPU": Log(
        """\
UserWarning:
NVIDIA GeForce RTX 5070 Ti with CUDA capability sm_120 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
RuntimeError: CUDA error: no kernel image is available for execution on the device
""",
        ("install a PyTorch built for sm_120, with CUDA 12.8 or newer",),
    ),
    "a PyTorch that is newer than the GPU": Log(
        "Found GPU0 Tesla K80 which is of cuda capability 3.7.\n"
        "PyTorch no longer supports this GPU because it is too old.\n"
        "The minimum cuda capability supported by this library is 5.0.\n",
        ("install a PyTorch built for sm_37, with CUDA 6.5 or newer, before 12.0",),
    ),
    "a program without code for the GPU": Log(
        "Device 0: Quadro RTX 4000, compute capability 7.5, VMM: yes\n"
        "CUDA error: no kernel image is available for execution on the device\n  current device: 0\n",
        ("compile for sm_75, the log's GPU: -gencode arch=compute_75,code=sm_75",),
        ("CUDA 10.0 or newer compiles for sm_75",),
    ),
    "Julia, no compiler in the driver": Log(
        "ERROR: CUDA error: PTX JIT compiler library not found (code 221, ERROR_JIT_COMPILER_NOT_FOUND)\n",
        ("install the driver's own libnvidia-ptxjitcompiler.so.1, of the same version as libcuda.so",),
    ),
    "the environment forbids it": Log(
        "cudaErrorJitCompilationDisabled: PTX JIT compilation was disabled\n",
        ("unset CUDA_DISABLE_PTX_JIT",),
    ),
    "a driver that is too old": Log(
        "| NVIDIA-SMI 535.10    Driver Version: 535.10    CUDA Version: 12.2 |\n"
        "Cuda compilation tools, release 12.6, V12.6.20\n"
        "CUDA error 222: the provided PTX was compiled with an unsupported toolchain.\n",
        ("install driver 555.42.02 or newer, which supports the PTX of CUDA 12.6",),
        ("CUDA 12.6 writes .version 8.5", "the driver is that of CUDA 12.2 and supports PTX up to 8.2"),
    ),
    "a driver that says no more": Log(
        "Program hit CUDA_ERROR_INVALID_PTX (error 218) due to \"a PTX JIT compilation failed\" on cuModuleLoadData.\n",
        ("assemble the PTX with ptxas, and explain its errors",),
    ),
    "MLIR and an older ptxas": Log(
        "error: `ptxas` invocation failed. Log:\n"
        "ptxas /tmp/mlir-sm_90-a.ptx, line 5; fatal   : Unsupported .version 8.7; current version is '8.4'\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n",
        ("install CUDA 12.8 or newer, whose ptxas supports .version 8.7",),
    ),
    "a ptxas that dropped the target": Log(
        "ptxas fatal   : Value 'sm_52' is not defined for option 'gpu-name'\n",
        ("use ptxas of CUDA 6.5 or newer, before 13.0",),
    ),
    "CuPy on a GPU that CUDA 13 dropped": Log(
        "NVIDIA GeForce GTX 1080\n"
        "cupy.cuda.compiler.CompileException: nvrtc: error: invalid value for --gpu-architecture (-arch)\n",
        ("use NVRTC of CUDA 8.0 or newer, before 13.0",),
    ),
    "Numba and a GPU that is too new": Log(
        "numba.cuda.cudadrv.error.NvvmError: NVVM_ERROR_INVALID_OPTION\n"
        "libnvvm : error: -arch=compute_120 is an unsupported option\n",
        ("use libNVVM of CUDA 12.8 or newer",),
    ),
    "ptxas without -arch": Log(
        "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n",
        ("name the file's target to ptxas",),
    ),
    "XLA and a Triton kernel": Log(
        "ptxas exited with non-zero error code 65280, output: ptxas fatal   : PTX with .target 'sm_90a' cannot be "
        "compiled for architecture 'sm_90'\n",
        ("compile it with -arch=sm_90a",),
    ),
    "a function that nothing defines": Log(
        "ptxas fatal   : Unresolved extern function '_Z3powdi'\nninja: build stopped: subcommand failed.\n",
        ("compile with -rdc=true (nvcc) or -c (ptxas), and link the object that defines _Z3powdi",),
    ),
    "a function of libdevice": Log(
        "ptxas fatal   : Unresolved extern function '__nv_expf'\n",
        ("link libdevice (libdevice.10.bc of the CUDA toolkit)",),
    ),
    "LLVM without bfloat": Log(
        """\
LLVM ERROR: Cannot select: 0x50: ch = NVPTXISD::StoreRetval<(store (s16), align 1)> 0x51, Constant:i32<0>, 0x52
  0x52: bf16 = fma 0x53, 0x54, 0x55
    0x53: bf16,ch = load<(dereferenceable invariant load (s16))> 0x51, TargetExternalSymbol:i64'f_param_0', undef:i64
""",
        ("compile for sm_80 or newer (-mcpu=sm_80 -mattr=+ptx70 or newer) with an LLVM that supports it",),
    ),
    "LLVM without bfloat for a newer target": Log(
        "0. Program arguments: llc -mcpu=sm_90 a.ll\nLLVM ERROR: Cannot select: t12: bf16 = fadd t21, t22\n",
        ("use a newer LLVM, with -mattr=+ptx78 or newer",),
    ),
    "LLVM without bfloat on an older GPU": Log(
        "Tesla T4\nLLVM ERROR: Cannot select: t10: bf16 = fma t1, t2, t3\n",
        ("use another type on sm_75: for .bf16 use .f16 (numbers up to 65504) or .f32",),
    ),
    "LLVM, an intrinsic of newer targets": Log(
        "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32\n"
        "Program arguments: llc sum.ll -march=nvptx64 -mcpu sm_60\n",
        ("raise -mcpu and -mattr=+ptx to the versions that llvm.nvvm.shfl.sync.bfly.i32 requires",),
    ),
    "a host compiler of 32 bits": Log(
        "cuda_fp16.hpp(2044): error: asm operand type size(8) does not match type/size implied by constraint 'r'\n",
        ("compile with a 64-bit host compiler",),
    ),
    "clang, a half in inline assembly": Log(
        "k.cu:8:3: error: couldn't allocate output register for constraint 'h'\n",
        ('pass an unsigned short with "h"',),
    ),
    "clang, PTX compiled for the host": Log(
        "k.cu:8:40: error: invalid output constraint '=l' in asm\n",
        ("compile inline PTX for the device only",),
    ),
    "clang, a register's own name": Log(
        'warp.hpp:34:33: error: invalid % escape in inline assembly string\n   34 | asm("mov.u32 %0, %laneid;" :\n',
        ("write %% for the % in a register's name",),
    ),
    "Triton says only that it failed": Log(
        "  File \"compiler.py\", line 304, in make_ttgir\n    pm.run(mod)\nRuntimeError: PassManager::run failed\n",
        ("explain the lines above it in the log",),
    ),
    "functions that PTX does not have": Log(
        "LLVM ERROR: Cannot select: t6: f16 = fsin t5\nLLVM ERROR: no libcall available for fpow\n",
        ("call a function of libdevice instead", "call the function of libdevice in place of fpow"),
        ("PTX has no sin.f16",),
    ),
    "arrays that are too large": Log(
        "ptxas error   : Entry function '_Z1k' uses too much local data (0x100000 bytes, 0x80000 max)\n",
        ("declare fewer or smaller arrays in the kernel and the functions that it calls: 0x80000 bytes at most",),
    ),
    "a second ptxas of Triton": Log(
        "Internal Triton PTX codegen error\nptxas-blackwell fatal   : Value 'sm_121a' is not defined for option "
        "'gpu-name'\n",
        ("use ptxas of CUDA 12.9 or newer",),
        ("TRITON_PTXAS_BLACKWELL_PATH another ptxas-blackwell",),
    ),
    "numbers of others than the driver": Log(
        "HTTPError: 500 Server Error\nRequest failed with status code 500\nsubprocess exited with code 218\n", ()
    ),
    "a launch with too many threads": Log(
        "numba.cuda.cudadrv.driver.CudaAPIError: [701] Call to cuLaunchKernel results in an error\n"
        "RuntimeError: CUDA error: too many resources requested for launch\n",
        ("start the kernel with fewer threads in a block, or compile it for as many: __launch_bounds__(threads)",),
    ),
    "a kernel that the GPU has not": Log(
        "Program hit cudaErrorInvalidDeviceFunction (error 98) due to \"invalid device function\"\n"
        "Device 0: NVIDIA L4\n",
        ("compile for sm_89, the log's GPU",),
    ),
    "a source that the driver rejects": Log(
        "CUDA_ERROR_INVALID_SOURCE: device kernel image is invalid (300)\n", ("assemble the PTX with ptxas",)
    ),
    "NVRTC in parts": Log(
        "RuntimeError: nvrtc: error: failed to open libnvrtc-builtins.so.12.8.\n  Make sure that it is installed.\n",
        ("install libnvrtc-builtins of CUDA 12.8 beside libnvrtc",),
    ),
    "NVRTC says only that it failed": Log(
        "NVRTC_ERROR_COMPILATION (6)\ndefault_program(12): error: identifier \"__hadd2\" is undefined\n",
        ("include the header that has __hadd2",),
    ),
    "an NVRTC that is older than the GPU": Log(
        "Failed invoking compiler at 0x0: NVRTC_ERROR_INVALID_OPTION\n",
        ("give NVRTC only options and targets that it has",),
    ),
    "CuTe DSL on a DGX Spark": Log(
        "OpError: expects arch to be one of [Arch.sm_100a, Arch.sm_100f], but got sm_121a\n",
        ("use a kernel written for sm_121a; only if the GPU is one of Arch.sm_100a, Arch.sm_100f, set",),
    ),
    "CuTe on a T4": Log(
        "`0 && \"Attempting to use SM80_16x8x16_F32F16F16F32_TN without CUTE_ARCH_MMA_SM80_ENABLED\"` failed.\n",
        ("compile for sm_80 or newer, with a CUDA release that CUTLASS supports for it",),
    ),
    "Triton, blocks for a larger GPU": Log(
        "errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376. "
        "Reducing block sizes or `num_stages` may help.\n",
        ("use smaller blocks or fewer num_stages, until the kernel requires at most 101376 of shared memory",),
    ),
    "Triton without a ptxas": Log(
        "RuntimeError: Cannot find ptxas-blackwell\n", ("set TRITON_PTXAS_BLACKWELL_PATH to ptxas of a CUDA toolkit",)
    ),
    "Triton, blocks that are too small": Log(
        "AssertionError('Input shapes should have M >= 16, N >= 16 and K >= 32')\n",
        ("give tl.dot blocks of at least 16 x 32 and 32 x 16",),
    ),
    "a compiler that fails": Log(
        "nvcc error   : 'ptxas' died with status 0xC0000005 (ACCESS_VIOLATION)\n"
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n",
        ("use another CUDA release, or optimize less: -Xptxas -O1", "compile fewer files at once (MAX_JOBS=2"),
    ),
    "libdevice without LLVM's pass": Log(
        "ptxas fatal   : Unresolved extern function '__nvvm_reflect'\n", ("run LLVM's pass nvvm-reflect",)
    ),
    "MLIR for an old chip": Log(
        "k.mlir:9:8: error: 'nvvm.redux.sync' op is not supported on sm_75\n",
        ("name the GPU's own target as the chip, as in nvvm-attach-target=chip=sm_90",),
    ),
    "LLVM, rounding to an integer": Log(
        "LLVM ERROR: Cannot select: t9: bf16 = frint t5\nLLVM ERROR: Cannot select: t8: f16 = ffloor t5\n",
        ("compile for sm_90 or newer (-mcpu=sm_90", "use a newer LLVM"),
        ("PTX has cvt.rni.bf16.bf16 from sm_90",),
    ),
    "a builtin that clang does not have": Log(
        "k.cu:13:10: error: use of undeclared identifier '__nvvm_fma_rn_bf16x2'\n", ("use a newer clang",)
    ),
    "registers of two objects": Log(
        "nvlink error   : entry function '_Z1k' with max regcount of 32 calls function 'g' with regcount of 40\n",
        ("compile all objects with the same -maxrregcount, at least 40",),
    ),
    "a slow pipeline": Log(
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to wgmma "
        "pipeline crossing function boundary at a function call in the function 'k'\n",
        ("inline the functions that are called between wgmma.fence and wgmma.wait_group",),
        ("the results stay the same",),
    ),
    "registers that are not shared out": Log(
        "ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility\n",
        ("compile without -rdc=true and without -maxrregcount",),
    ),
    "a stack of unknown size": Log(
        "ptxas warning : Stack size for entry function '_Z1kPf' cannot be statically determined\n",
        ("set a stack that suffices",),
    ),
    "warnings alone": Log(
        "ptxas warning : Stack size for entry function '_Z1kPf' cannot be statically determined\n"
        "ptxas warning : Value of threads per SM for entry _Z1kPf is out of range. .minnctapersm will be ignored\n"
        "ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility\n",
        ("set a stack that suffices", "write smaller arguments in __launch_bounds__", "compile without -rdc=true"),
    ),
    "a warning beside an error": Log(
        "ptxas warning : Stack size for entry function '_Z1kPf' cannot be statically determined\n"
        "ptxas a.ptx, line 4; error   : Feature '.bf16' requires .target sm_80 or higher\n",
        ("compile for sm_80",),
    ),
    "a warning beside a failure that says nothing": Log(
        "ptxas warning : Stack size for entry function '_Z1kPf' cannot be statically determined\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\nNVRTC_ERROR_COMPILATION\n",
        ("explain the lines above it in the log", "set a stack that suffices"),
    ),
    "no GPU where it is built": Log(
        "nvcc warning : Cannot find valid GPU for '-arch=native', default arch is used\n", ("name the target",)
    ),
    "a number as a target": Log("ptxas fatal   : Value '90' is not defined for option 'gpu-name'\n", ("write sm_90",)),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_answered_by_what_mends_it(db: Database, name: str) -> None:
    log = LOGS[name]
    found = explanations(db, log.text.splitlines())
    assert [e.is_known for e in found] == [True] * len(log.changes)
    for e, change in zip(found, log.changes, strict=True):
        assert e.meaning.change.startswith(change)
    answer = "\n".join(as_text(found, whole=True))
    assert [said for said in log.also if said not in answer] == []


@pytest.mark.parametrize(
    ("line", "gpus", "targets"),
    [
        ("cuda capability sm_120 is there", ("sm_120",), ()),
        ("Compute Capability: 8.6", ("sm_86",), ()),
        ("on a device of compute capability (9, 0)", ("sm_90",), ()),
        ("|   0  Tesla T4            Off  | 00000000:00:04.0 Off |", ("sm_75",), ()),
        ("|   0  NVIDIA GeForce RTX 3090        On  |", ("sm_86",), ()),
        ("it requires compute capability 8.0", (), ()),
        ("compute capability 8.0 or higher", (), ()),
        ("is too old: compute capability >= 7.0", (), ()),
        ("NVIDIA-SMI 550.54.15   Driver Version: 550.54.15", (), ()),
        ("The current install supports CUDA capabilities sm_50 sm_60", (), ()),
        ("-gencode=arch=compute_80,code=sm_86 -gencode arch=compute_90a", (), ("sm_80", "sm_86", "sm_90a")),
        ("ptxas -arch sm_80", (), ("sm_80",)),
        ("ptxas --gpu-name=sm_75", (), ("sm_75",)),
        ("triton: ptxas --gpu-name=sm_90a", ("sm_90",), ("sm_90a",)),
        ("cmake -DCMAKE_CUDA_ARCHITECTURES=75;86", (), ("sm_75", "sm_86")),
        ('TORCH_CUDA_ARCH_LIST="7.5 8.6+PTX"', (), ("sm_75", "sm_86")),
        ("/tmp/tmpxft_0-8_test.compute_75.ptx", (), ("sm_75",)),
    ],
)  # fmt: skip
def test_targets_are_read_out_of_a_log(
    db: Database, line: str, gpus: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    found = surroundings(db, [line])
    assert (found.gpus, found.targets) == (gpus, targets)


class Judged(NamedTuple):
    """A source that a tool refuses, the beginning of the answer, and what whoever follows it writes or calls."""

    source: str
    call: str
    answer: str
    mended: str = ""
    again: str = ""


_ASM = "__global__ void k(long long *p, unsigned short *h, int *r, float *f, double *d) {{ {} }}\n"
_PTX = ".version 8.7\n.target sm_90a\n.address_size 64\n.entry k() {{ {} ret; }}\n"
_EXTERN = ".version 8.7\n.target sm_90\n.extern .func g();\n.entry k() { call.uni g; ret; }\n"
_SHARED = (
    ".version 8.7\n.target sm_90\n{}.shared .b8 big{};\n"
    ".entry k() {{ .reg .b32 x; mov.u32 x, big; st.shared.b32 [x], x; ret; }}\n"
)
_PARAMETERS = ".version {}\n.target sm_80\n.address_size 64\n.entry k(.param .align 4 .b8 p[{}]) {{ ret; }}\n"
_SHUFFLE = ".version 7.0\n.target sm_80\n.entry k() {{ .reg .b32 x; shfl{}.bfly.b32 x, x, 1, 31{}; ret; }}\n"
_HALF = "#include <cuda_fp16.h>\n__global__ void k(__half *h) {{ {} }}\n"
_NVCC = "nvcc -arch=sm_90 -c a.cu -o a.o"
_PTXAS = "ptxas a.ptx -o a.o"
JUDGED = {
    "a pointer": Judged(
        _ASM.format('asm("cvt.u32.u64 %0, %1;" : "=r"(r[0]) : "r"(p));'),
        _NVCC,
        'the operand has 8 bytes: write "l"',
        _ASM.format('asm("cvt.u32.u64 %0, %1;" : "=r"(r[0]) : "l"(p));'),
    ),
    "a double": Judged(
        _ASM.format('asm("cvt.rn.f32.f64 %0, %1;" : "=f"(f[0]) : "f"(d[0]));'),
        _NVCC,
        'the operand has 8 bytes: write "l" for an integer or a pointer, or "d" for a double',
        _ASM.format('asm("cvt.rn.f32.f64 %0, %1;" : "=f"(f[0]) : "d"(d[0]));'),
    ),
    "an int with h": Judged(
        _ASM.format('asm("neg.s32 %0, %1;" : "=h"(r[0]) : "r"(r[1]));'),
        _NVCC,
        'the operand has 4 bytes: write "r"',
        _ASM.format('asm("neg.s32 %0, %1;" : "=r"(r[0]) : "r"(r[1]));'),
    ),
    "a variable as a constant": Judged(
        _ASM.format('asm("add.s32 %0, %1, %2;" : "=r"(r[0]) : "r"(r[1]), "n"(r[2]));'),
        _NVCC,
        'pass a constant (a literal, constexpr or template argument) with "n", or a variable with',
        _ASM.format('asm("add.s32 %0, %1, %2;" : "=r"(r[0]) : "r"(r[1]), "r"(r[2]));'),
    ),
    "an operand too few": Judged(
        _ASM.format('asm("neg.s32 %0, %2;" : "=r"(r[0]) : "r"(r[1]));'),
        _NVCC,
        "number the operands from %0 on",
        _ASM.format('asm("neg.s32 %0, %1;" : "=r"(r[0]) : "r"(r[1]));'),
    ),
    "a structure": Judged(
        "struct H { unsigned short x; };\n"
        '__global__ void k(H *h) { asm("abs.f16 %0, %1;" : "=h"(h[0].x) : "h"(h[1])); }\n',
        _NVCC,
        "pass the bits as an integer: *reinterpret_cast<unsigned short*>(&x)",
        "struct H { unsigned short x; };\n"
        '__global__ void k(H *h) { asm("abs.f16 %0, %1;" : "=h"(h[0].x) : '
        '"h"(*reinterpret_cast<unsigned short*>(&h[1]))); }\n',
    ),
    "operators of half switched off": Judged(
        _HALF.format("h[0] = h[1] + h[2];"),
        f"{_NVCC} -D__CUDA_NO_HALF_OPERATORS__",
        "do not define __CUDA_NO_HALF_OPERATORS__",
        _HALF.format("h[0] = __hadd(h[1], h[2]);"),
    ),
    "a header left out": Judged(
        "__global__ void k(float *f) { f[0] = __half2float(__float2half(f[1])); }\n",
        _NVCC,
        "include the header that has __float2half: cuda_fp16.h, cuda_bf16.h, cuda_fp8.h or cuda_fp4.h",
        _HALF.format("h[0] = __float2half(1.0f);"),
    ),
    "two targets that do not fit": Judged(
        _ASM.format(""),
        "nvcc -gencode arch=compute_90a,code=sm_100 -c a.cu -o a.o",
        "name in code= the target of arch=",
        again="nvcc -gencode arch=compute_90a,code=sm_90a -c a.cu -o a.o",
    ),
    "a function of another file": Judged(
        "extern __device__ float g(float);\n__global__ void k(float *f) { f[0] = g(f[1]); }\n",
        _NVCC,
        "compile with -rdc=true (nvcc) or -c (ptxas)",
        again=f"{_NVCC} -rdc=true",
    ),
    "a function of another module": Judged(
        _EXTERN,
        f"{_PTXAS} -arch=sm_90",
        "compile with -rdc=true (nvcc) or -c (ptxas)",
        again=f"{_PTXAS} -arch=sm_90 -c",
    ),
    "no -arch": Judged(
        _PTX.format(""), _PTXAS, "name the file's target to ptxas, as in -arch=sm_90", again=f"{_PTXAS} -arch=sm_90a"
    ),
    "a plain -arch": Judged(
        _PTX.format(""), f"{_PTXAS} -arch=sm_90", "compile it with -arch=sm_90a", again=f"{_PTXAS} -arch=sm_90a"
    ),
    "a newer -arch": Judged(
        _PTX.format(""), f"{_PTXAS} -arch=sm_100", "compile it with -arch=sm_90a", again=f"{_PTXAS} -arch=sm_90a"
    ),
    "too many parameters": Judged(
        _PARAMETERS.format("8.0", 5000),
        f"{_PTXAS} -arch=sm_80",
        "write .version 8.1 (CUDA 12.1) or newer and compile for sm_70 or newer",
        _PARAMETERS.format("8.1", 32764),
    ),
    "far too many parameters": Judged(
        _PARAMETERS.format("8.1", 32768),
        f"{_PTXAS} -arch=sm_80",
        "pass large parameters by a pointer",
        _PARAMETERS.format("8.1", 8),
    ),
    "threads that need not run together": Judged(
        _SHUFFLE.format("", ""),
        f"{_PTXAS} -arch=sm_80",
        "write shfl.sync, with the mask of the threads that take part as the last operand: 0xffffffff for all 32",
        _SHUFFLE.format(".sync", ", 0xffffffff"),
    ),
    "too much shared memory": Judged(
        _SHARED.format("", "[300000]"),
        f"{_PTXAS} -arch=sm_90",
        "declare less shared memory, or make it dynamic (extern __shared__)",
        _SHARED.format(".extern ", "[]"),
    ),
    "a predicate": Judged(
        _ASM.format('bool b; asm("setp.lt.f32 %0, %1, %2;" : "=p"(b) : "f"(f[0]), "f"(f[1])); r[0] = b;'),
        _NVCC,
        'write the predicate as an integer with "=r": "{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }"',
        _ASM.format(
            'asm("{{ .reg .pred p; '
            'setp.lt.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }}" : "=r"(r[0]) : "f"(f[0]), "f"(f[1]));'
        ),
    ),
    "a result that is read": Judged(
        _ASM.format('asm("mov.b32 %0, 1;" : "r"(r[0]));'),
        _NVCC,
        'write "=r" for a register that is only written',
        _ASM.format('asm("mov.b32 %0, 1;" : "=r"(r[0]));'),
    ),
    "operands with names": Judged(
        _ASM.format('asm("mov.b32 %[d], 1;" : [d] "=r"(r[0]));'),
        _NVCC,
        "number the operands: %0 for the first",
        _ASM.format('asm("mov.b32 %0, 1;" : "=r"(r[0]));'),
    ),
    "a register of PTX as a clobber": Judged(
        _ASM.format('asm("mov.b32 %0, 1;" : "=r"(r[0]) : : "%r1");'),
        _NVCC,
        "remove %r1 from the clobbers",
        _ASM.format('asm("{{ .reg .b32 t; mov.b32 t, 1; mov.b32 %0, t; }}" : "=r"(r[0]) : : "memory");'),
    ),
    "memory as an operand": Judged(
        _ASM.format('asm("ld.b32 %0, %1;" : "=r"(r[0]) : "m"(f[0]));'),
        _NVCC,
        'use a letter of PTX, h, r, l, f, d, q or n, in place of this one: pass the address with "l"',
        _ASM.format('asm("ld.b32 %0, [%1];" : "=r"(r[0]) : "l"(f));'),
    ),
    "PTX that the host compiles": Judged(
        '__host__ __device__ void k(float *f) { asm("add.f32 %0, %0, %0;" : "+f"(f[0])); }\n',
        _NVCC,
        "compile inline PTX for the device only",
        '__device__ void k(float *f) { asm("add.f32 %0, %0, %0;" : "+f"(f[0])); }\n',
    ),
    "a register that is declared twice": Judged(
        _ASM.format('asm(".reg .b32 t; mov.b32 t, %0;" :: "r"(r[0])); asm(".reg .b16 t;");'),
        _NVCC,
        "declare it once, or in blocks of their own: in inline assembly, write braces around the text",
        _ASM.format(
            'asm("{{ .reg .b32 t; mov.b32 t, %0; }}" :: "r"(r[0])); asm("{{ .reg .b16 t; }}");'
        ),
    ),
    "a label that is written twice": Judged(
        _ASM.format('asm("L: bra L;"); asm("L: bra L;");'),
        _NVCC,
        "write it once, or in blocks of their own",
        _ASM.format('asm("{{ L: bra L; }}"); asm("{{ L: bra L; }}");'),
    ),
    "LLVM's operands": Judged(
        _ASM.format('asm("mov.b32 $0, 1;" : "=r"(r[0]));'),
        _NVCC,
        "in inline assembly of CUDA write %0 for $0",
        _ASM.format('asm("mov.b32 %0, 1;" : "=r"(r[0]));'),
    ),
    "PTX for two targets": Judged(
        _ASM.format(""),
        "nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -ptx a.cu -o a.o",
        "compile for one target only",
        again="nvcc -arch=sm_90 -ptx a.cu -o a.o",
    ),
    "an option of the host compiler": Judged(
        _ASM.format(""),
        f"{_NVCC} -march=native",
        "pass the option to the host compiler behind -Xcompiler, as in -Xcompiler=-march=native",
        again=f"{_NVCC} -Xcompiler=-march=native",
    ),
    "two numbers as one": Judged(
        _HALF.format("__half2 x = __half2half2(h[1]); float f = x; h[0] = f;"),
        _NVCC,
        "choose one of the two numbers: __low2float(x) or __high2float(x)",
        _HALF.format("__half2 x = __half2half2(h[1]); float f = __low2float(x); h[0] = f;"),
    ),
    "a shuffle of older releases": Judged(
        _ASM.format("r[0] = __shfl_xor(r[1], 1);"),
        _NVCC,
        "write __shfl_xor_sync, with the mask of the threads that take part as the first argument: 0xffffffff",
        _ASM.format("r[0] = __shfl_xor_sync(0xffffffff, r[1], 1);"),
    ),
    "a number as a guard": Judged(
        _PTX.format(".reg .b32 x; @x bra L; L:"),
        f"{_PTXAS} -arch=sm_90a",
        "write a register of type .pred behind @",
        _PTX.format(".reg .b32 x; .reg .pred p; setp.ne.s32 p, x, 0; @p bra L; L:"),
    ),
    "a cubin in place of PTX": Judged("\x7fELF\x02\x01\0", f"{_PTXAS} -arch=sm_90a", "pass PTX", _PTX.format("")),
}  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", JUDGED)
def test_whoever_follows_the_answer_is_understood_by_the_tool(
    db: Database, nvcc: Path, ptxas: Path, tmp_path: Path, name: str
) -> None:
    judged = JUDGED[name]

    def said(source: str, call: str) -> list[str]:
        tool, *options = call.split()
        (tmp_path / ("a.cu" if tool == "nvcc" else "a.ptx")).write_text(source, "utf-8")
        command = [str(nvcc if tool == "nvcc" else ptxas), *options]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ))
        return (run.stdout + run.stderr).splitlines() if run.returncode else []

    log = said(judged.source, judged.call)
    # Without the file, as others have the log.
    found = explanations(db, [line.replace("a.ptx", "elsewhere.ptx") for line in log])
    assert any(e.meaning.change.startswith(judged.answer) for e in found), (log, found)
    assert said(judged.mended or judged.source, judged.again or judged.call) == []
