"""Texts that a stranger wrote: PTX, programs, logs, spellings, pieces of PTX, operands."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import ptxemu
import pytest
from ptxspec.batch import Batch
from ptxspec.diagnostics import PtxspecError
from ptxspec.evaluate import parse_operand
from ptxspec.explain.log import as_text, explanations
from ptxspec.lint.languages import EXTRACT, PTX
from ptxspec.lint.rendering import FORMATS, plain
from ptxspec.literals import describe
from ptxspec.model import BOOL
from ptxspec.roots import Root, find

from helpers import ROOT
from helpers.linting import OPERANDS, UNTOUCHED, spoilt
from helpers.repository import database, specification
from helpers.sizes import spread

LANGUAGES = (PTX, *EXTRACT)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def lint(data: bytes) -> None:
    """The first line names the language."""
    language, _, text = _text(data).partition("\n")
    if language not in LANGUAGES:
        with pytest.raises(PtxspecError):
            database().lint("", language=language)
        return
    found = database().lint(text, language=language)
    lines = len(text.splitlines()) + 1
    for f in found:
        assert 1 <= f.line <= lines and f.column >= 1 and f.message and f.code, f
    for render in FORMATS.values():
        for part in render(iter(found), plain):
            part.encode()
    json.loads("".join(FORMATS["json"](iter(found), plain)))


def lint_seeds() -> list[bytes]:
    embedded = "add.foo.f32 %0, %1, %2; max.NaN.f64 %0, %1, %2;"
    ptx = "".join(p.read_text("utf-8") for p in sorted((ROOT / "spec/examples").glob("*.ptx")))
    header = ".version 7.0\n.target sm_75\n"
    programs = {
        "c++": f'float f(float x) {{ float r; asm volatile("{embedded}" : "=f"(r) : "f"(x), "n"(1.0f)); return r; }}',
        "python": f'm = f"""{header}{{x}} {embedded}"""\nasm(r"{embedded}", "=f,f,f", b"\\x00", *args)\n# add.f32\n',
        "rust": f'asm!("{embedded}", r#"add.f32 {{r}}, {{x}}"#, r = out(reg32) r, in(reg32) x, options(nostack));',
        "julia": f'@asmcall("{embedded}" * raw"""{header}""", "=f,f,f", Float32, Tuple{{Float32}}, x, $y)\n',
        "mlir": f'%0 = llvm.inline_asm "{embedded}\\0A", "=f,f" %a, %b\nnvvm.inline_ptx "{{$r0}}"(%a : f32)',
        "markdown": f"See `add.foo.f32 d, a, b;`.\n```ptx\n{header}{embedded}\n```\n~~~c++\nasm(\"\");\n~~~\n",
    }  # fmt: skip
    statements = spoilt(database(), 60, "fuzz")
    texts = [UNTOUCHED, ptx, *programs.values(), *("\n".join(statements[i : i + 6]) for i in range(0, 60, 6))]
    named = [(PTX, t) for t in texts] + list(programs.items())
    return [f"{language}\n{t}".encode() for language, t in named]


def explained(data: bytes) -> None:
    log = _text(data).splitlines(keepends=True)
    for direct in (False, True):
        explained = explanations(database(), log, direct)
        for e in explained:
            json.dumps(e.as_json())
            assert e.complaints and e.meaning.change
        "\n".join(as_text(explained, whole=True)).encode()


def explained_seeds() -> list[bytes]:
    logs = (
        "ptxas a.ptx, line 5; error   : Feature '.NaN' requires .target sm_80 or higher\n"
        "ptxas a.ptx, line 5; error   : Modifier '.NaN' requires PTX ISA .version 7.0 or later\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n",
        "ptxas /tmp/tmp.ptx, line 7; error   : Illegal modifier '.foo' for instruction 'cvt'\n"
        "ptxas t.ptx, line 9; error   : Arguments mismatch for instruction 'add'\n",
        "ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'maxx'\n"
        "nvrtc: error: invalid value for --gpu-architecture (-arch)\n",
        "ptxas fatal   : Unsupported .version 9.9; current version is '9.5'\nCUDA_ERROR_INVALID_PTX: 218\n",
        "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n",
        "Error: CUDA driver error: no kernel image is available for execution on the device (209)\n"
        "nvcc fatal   : Unsupported gpu architecture 'compute_130'\n",
        "<inline asm>:1:2: error: instruction not supported\nclang: error: cannot find CUDA installation\n"
        "triton.runtime.errors.PTXASError: `ptxas` failed with error code 255\nnvJitLink error: 4\n",
        "ptxas a.ptx, line 3; error   : Parsing error near '.f32': syntax error\n"
        "ptxas a.ptx, line 4; error   : Rounding modifier required for instruction 'add'\n",
    )
    return [log.encode() for log in logs]


def spelling(data: bytes) -> None:
    """A spelling, and behind blanks its number of operands and a target: what the database says, the emulator does."""
    words = _text(data).split(" ")
    name, count, target = words[0], words[1] if len(words) > 1 else "", words[2] if len(words) > 2 else None
    operands = int(count) if count.isascii() and count.isdecimal() and len(count) < 9 else None
    answer = database().query(name, operands)
    assert answer.exists or answer.reasons
    repr(answer), answer._repr_html_()
    try:
        kernel = ptxemu.compile(name, operands)
    except ptxemu.UnknownVariantError as e:
        str(e).encode()
        assert not answer.exists, (name, operands)
    else:
        assert answer.exists and database().variant(name, operands).spelling == kernel.variant.spelling
    try:
        database().query(name, operands, target)
    except PtxspecError:
        known = False
    else:
        known = True
    try:
        ptxemu.compile(name, operands, target)
    except LookupError:
        pass
    else:
        assert known and answer.exists
    if answer.exists:
        _executed(kernel, data)


def _executed(kernel: ptxemu.Kernel, data: bytes) -> None:
    """On operands that `data` chooses, most of them wrong."""
    chosen = [ODD[b % len(ODD)] for b in data[-kernel.operands :]] if kernel.operands else []
    try:
        kernel(*chosen)
    except (ptxemu.OperandError, ValueError) as e:
        assert type(e) is not ValueError or "broadcast" in str(e) or "operand" in str(e), e


ODD: tuple[object, ...] = (
    np.float32(1.5), np.zeros(3, np.float32), np.ones((2, 1), np.uint32), np.uint16(0x3C00), np.float64(-0.0), 1.5, 1,
    True, None, "1.0", b"1", np.zeros(0, np.float16), np.arange(6, dtype=np.uint64)[::2], [1.0, 2.0], 1j, 2**70,
    float("nan"), np.ma.masked_array([1.0], [True]), np.array(1.0, ">f4"), np.array([object()]), np.bool_(True),
    np.zeros((0, 3), np.uint32), np.zeros(4, "V4"), np.array("x"), np.float16(1), np.int32(-1), -1, -(2**31),
)  # fmt: skip


def spelling_seeds() -> list[bytes]:
    some = spread(database().variants, 60)
    right = [
        f"{v.spelling} {v.operands} {t}" for v, t in zip(some, spread(list(database().targets) * 2, 60), strict=True)
    ]
    return [s.encode() for s in (*right, "max", "max.", ".f32", "add..f32", "MAX.F32", "max.f32 99 sm_0", "")]


def piece(data: bytes) -> None:
    """Straight-line PTX: every register's value is one, or none."""
    try:
        f = ptxemu.function(_text(data))
    except ptxemu.StatementError as e:
        str(e).encode()
        assert e.refused and all(r.line >= 1 and r.column >= 1 for r in e.refused)
        return
    except ValueError as e:
        assert type(e) is ValueError and str(e), e
        return
    repr(f)
    types, given = f.types, []
    for name in f.inputs:
        t = specification().types[types[name]]
        given.append(np.bool_(True) if t.kind == BOOL else np.dtype(f"u{t.width // 8}").type(1))
    f(*given)
    f.trace(*given)


def kernel(data: bytes) -> None:
    """A module with kernels, each run on a few numbers."""
    try:
        k = ptxemu.kernel(_text(data) + "{}")  # no path
        k(2, 3, *[np.zeros(4, np.uint32)] * len(k.parameters))
    except ptxemu.StatementError as e:
        assert e.refused and all(r.line >= 1 and r.column >= 1 for r in e.refused)
    except (ValueError, ptxemu.OperandError, ptxemu.AddressError) as e:
        assert str(e), e


def kernel_seeds() -> list[bytes]:
    own = (ROOT / "spec/examples/kernels/scale.ptx").read_bytes()
    body = "ld.param.u64 %d, [p]; ld.global.v2.u8 {%h, _}, [%d+2]; st.global.cs.u16 [%d], %h; @%c ret; "
    text = (
        ".version 8.0 .target sm_90 .visible .entry k(.param .u64 p, .param .align 4 .b8 s[8]) .maxntid 3 { .reg .b64 "
    )
    text += f"%d; .reg .b16 %h; .reg .pred %c; .reg .b32 %r<3>; mov.u32 %r0, %tid.x; setp.eq.u32 %c, %r0, 1; {body} }}"
    tables = (
        ".const .align 4 .b8 a[8] = {1, 255, 3}; .global .u64 b = generic(a); .global .f32 c[2] = {0f3F800000, -1.5}; "
    )
    body = ".local .align 8 .b8 l[16]; .reg .b64 %d<3>; .reg .v2 .b32 %v; mov.u64 %d0, l; cvta.local.u64 %d1, %d0; "
    body += "ld.global.u64 %d2, [b]; ld.const.v2.b32 %v, [%d2]; st.local.v2.b32 [%d0+8], %v; ld.u32 %v.x, [%d1+8]; "
    body += "mov.u64 %d0, c+4; ld.global.u32 %v.y, [%d0+-4]; ld.param.u64 %d1, [p]; st.global.u32 [%d1], %v.g; ret; "
    kept = f".version 8.0 .target sm_90 {tables} .entry k(.param .u64 p) {{ {body} }}"
    return [own, text.encode(), text.replace("[%d+2]", "[%d]").encode(), kept.encode()]


def piece_seeds() -> list[bytes]:
    examples = [p.read_bytes() for p in sorted((ROOT / "spec/examples").glob("*.ptx"))]
    own = (
        "mul.f32 t, a, a;  fma.rn.f32 d, b, b, t;",
        ".reg .f32 %f<9>; .reg .pred p; setp.lt.f32 p, %f0, 0f3F800000; @p add.f32 a, b, c; @!p neg.f32 %f1, 1;",
        "{ .reg .b32 lo, hi; mov.b64 {lo, hi}, x; shl.b32 lo, lo, 3; mov.b64 y, {hi, lo}; }",
        'asm volatile("{.reg .pred %%p; setp.lt.s32 %%p, %1, 9;\\n" "@%%p bra L%=; add.s32 %0, %1, %2+1; L%=: }" : '
        '"=r"(d) : "r"((int)x[1]), "n"(0x10) : "memory");',
        'asm(R"(mul.f32 %[a], %[a], %[b]; cvt.u32.u8 %1, %1;)" : [a] "+f"(y), "=r"(z) : [b] "f"(y), "1"(k));',
        "mov.u32 d, %tid.x; @p bra A; add.u32 d, d, 1; bra B; A: mul.lo.u32 d, d, 3; B: not.b32 d, d;",
        "cvt.rn.f16x2.f32 h, a, b; add.f16x2 r, h, h; ret;",
        "setp.gt.and.f32 p|q, a, b, !c; selp.f32 d, 1.0, -2.5e3, p; // end",
    )
    return examples + [s.encode() for s in own]


def operand(data: bytes) -> None:
    """An operand of every type; and lines of operands, as --batch takes them."""
    text = _text(data)
    for t in specification().types.values():
        try:
            bits = parse_operand(text, t)
        except PtxspecError as e:
            str(e).encode()
            continue
        assert 0 <= bits < 1 << t.width
        for lane in t.unpack(bits):
            assert describe(lane, t.kind)
    for batch in _batches():
        try:
            for given, made in batch.lines(text.split("\n"), "f"):
                assert given and made
        except PtxspecError as e:
            str(e).encode()


def _batches() -> Iterator[Batch]:
    for name in ("setp.lt.f32", "cvt.rn.f16x2.f32"):
        if name not in _KNOWN:
            _KNOWN[name] = Batch(_root(), name, None, None)
        yield _KNOWN[name]


_KNOWN: dict[str, Batch] = {}


def _root() -> Root:
    return find(ROOT)


def operand_seeds() -> list[bytes]:
    lines = (
        "1.5", "-0.0", "inf", "-nan", "0x1.8p-3", "0x3fc00000", "1e-40", "1e99999", "true", "0x3c00", "1,2",
        "0x1p0,-1e3",
        "1.5 2.5 3.5\n0x3fc00000 nan -inf\n\n 1 2 3", "1 2", "0x3f800000 0x3f800000", "0x3c004000 1,-1", "0x", "0x.p",
    )  # fmt: skip
    return [s.encode() for s in lines]


WORDS = (
    "add", "max", "cvt", "setp", ".f32", ".f16x2", ".bf16", ".rn", ".ftz", ".NaN", ".sat", ".rz", ".satfinite",
    ".e4m3x2",
    ".version 8.0\n", ".target sm_90\n", ".reg .f32 ", ".reg .pred p;", "%f<9>", "asm(", 'asm volatile("', '"""', "'''",
    'R"(', "```ptx\n", "~~~", "//", "/*", "*/", "@p ", "@!p ", "{", "}", "%0", "$0", "{{", "\\n", "\\x", "\\u{1}", "#",
    "asm!(", "llvm.inline_asm", "=f", "ptxspec: ignore", "noqa", "error   : ", "ptxas ", ", line 5; ", "sm_80",
    "requires",
    "0x", "0f3F800000", "0d", "p-3", "1e999999999", "inf", "nan", ",", ";", ":", "<", "|", "_", "[", "]", "(",
    "\0", "\r\n",
    "\u2028", "\u202e", "é", "١", "²", *OPERANDS[:12],
)  # fmt: skip
