"""`ptxspec lint` on code within conditions: what is not compiled or run for the target is not judged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from helpers.sizes import each_size
from oracles.nvcc import compiled, holding
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.lint.guards import guards

ASM = 'asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(a));'
TARGETS = ("sm_80", "sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_120")

# What stands around the statement, which is on a line of its own; each is false for sm_80 and true for sm_90a.
GUARDED = {
    "a comparison": "#if __CUDA_ARCH__ >= 900\n{}\n#endif",
    "defined and a comparison": "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)\n{}\n#endif",
    "a sum": "#if __CUDA_ARCH__+0 >= 900\n{}\n#endif",
    "one in another": "#ifdef __CUDA_ARCH__\n# if __CUDA_ARCH__ >= 900\n{}\n# endif\n#endif",
    "not": "#if !(__CUDA_ARCH__ < 900)\n{}\n#endif",
    "else": "#if __CUDA_ARCH__ < 900\n#else\n{}\n#endif",
    "elif": "#if __CUDA_ARCH__ < 800\n#elif __CUDA_ARCH__ >= 900\n{}\n#else\n#endif",
    "behind what holds": "#if __CUDA_ARCH__ < 900\n#elif 1\n{}\n#endif",
    "an architecture's own": "#if defined(__CUDA_ARCH_FEAT_SM90_ALL)\n{}\n#endif",
    "a macro of the file": "#define HAS_TANH (__CUDA_ARCH__ >= 900)\n#if HAS_TANH\n{}\n#endif",
    "a macro of either branch": (
        "#if __CUDA_ARCH__ >= 900\n#define HAS 1\n#else\n#define HAS 0\n#endif\n#if HAS\n{}\n#endif"
    ),
    "a macro for other targets": "#if __CUDA_ARCH__ >= 900\n#define HAS\n#endif\n#ifdef HAS\n{}\n#endif",
    "lines that go on": "#if defined(__CUDA_ARCH__) && \\\n    __CUDA_ARCH__ >= 900\n{}\n#endif",
    "comments": "#if /* from */ __CUDA_ARCH__ >= 900 // on\n{}\n#endif",
    "comments before": "/* at\n */ #define ON (__CUDA_ARCH__ >= 900)\n/* if */ /* it is */ #if ON\n{}\n/* */ #endif",
    "words for operators": "#if defined(__CUDA_ARCH__) and not (__CUDA_ARCH__ < 900 or 0)\n{}\n#endif",
    "within a header": "#ifndef A_H\n#define A_H\n#define ON (__CUDA_ARCH__ >= 900)\n#if ON\n{}\n#endif\n#endif",
}
# What the file does not decide.
OPEN = (
    "#if __GNUC__ < 12\n{}\n#endif",
    "#ifdef HAS_TANH\n{}\n#endif",
    "#ifndef HAS_TANH\n#define HAS_TANH 0\n#endif\n#if HAS_TANH\n{}\n#endif",
    "#if 0\n#define HAS_TANH\n#endif\n#ifdef HAS_TANH\n{}\n#endif",
    "#if __has_include(<cuda.h>)\n{}\n#endif",
    "#if __CUDA_ARCH__ >=\n{}\n#endif",
    "#ifdef HAS_TANH\n#else\n{}\n#endif",
    "template <int ARCH> void f() {{ if constexpr (ARCH >= 90) {{\n{}\n}} }}",
    "void f() {{ if (__CUDA_ARCH__ >= 900) {{\n{}\n}} }}",
    "NV_IF_TARGET(SOME_TARGET, ({}))",
)
# What is not a valid condition of code, or of no target.
NONE = (
    "/*\n#if 0\n*/\n{}\n/*\n#endif\n*/",
    "// #if 0 \\\n#if 0\n{}\n",
    "int x; /* on\n*/ #if 0\n{}\n",
    'const char *s = R"(\n#if 0\n)";\n{}',
    "template <int N> void f() {{ if constexpr (N > 3) {{\n{}\n}} }}",
    "void f(int a) {{ if (a > 3) {{\n{}\n}} }}",
)


def found(db: Database, text: str, target: str | None) -> list[str]:
    return [f.code for f in db.lint(text, target=target, language="c++", file="a.cu")]


@pytest.mark.parametrize("name", GUARDED)
def test_what_is_not_compiled_for_the_target_is_not_judged(db: Database, name: str) -> None:
    text = GUARDED[name].format(ASM)
    assert found(db, text, "sm_80") == []
    assert found(db, text.replace("__CUDA_ARCH__ < 900", "__CUDA_ARCH__ < 700").replace("900", "700"), "sm_80") == (
        ["target-too-old"] if "FEAT" not in text else []
    )


@pytest.mark.parametrize("text", OPEN)
def test_what_is_not_known_to_be_left_out_is_a_warning(db: Database, text: str) -> None:
    (f,) = db.lint(text.format(ASM), target="sm_80", language="c++")
    assert (f.code, f.severity) == ("unknown-guard", "warning")
    assert f.message.startswith(
        "tanh.approx.bf16x2 (1 operand) requires sm_90 or newer; sm_80 is older, unless the condition '"
    )
    # What is wrong for every target is so under any condition.
    assert found(db, text.format(ASM.replace("tanh.approx", "tanh.aprox")), "sm_80") == ["missing-modifier"]
    assert found(db, f"// ptxspec: ignore-file[target-too-old]\n{text.format(ASM)}", "sm_80") == []
    assert found(db, f"// ptxspec: ignore-file[unknown-guard]\n{text.format(ASM)}", "sm_80") == []


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_condition_on_the_target_is_judged(db: Database, text: str) -> None:
    assert found(db, text.format(ASM), "sm_80")[:1] == ["target-too-old"]


CALL = 'inline_asm("tanh.approx.bf16x2 $0, $1;", "=r,r")'
# Each is for sm_90 and newer.
PYTHON = {
    "a tuple": "if torch.cuda.get_device_capability() >= (9, 0):\n    {}",
    "an element": "if torch.cuda.get_device_capability(0)[0] >= 9 and True:\n    {}",
    "what is assigned": "cap = torch.cuda.get_device_capability()\nmajor = cap[0]\nif not major < 9:\n    {}",
    "a number of two digits": "if capability[0] * 10 + capability[1] >= 90:\n    {}",
    "a name of it": "if self.arch >= 90:\n    {}",
    "of three digits": "x = {} if cuda_arch >= 900 else None",
    "one of several": "if get_device_capability()[0] in (9, 10, 12):\n    {}",
    "elif": "if capability[0] < 8:\n    pass\nelif capability[0] == 8:\n    pass\nelse:\n    {}",
    "behind a branch that leaves": "def f():\n    if props.compute_capability.major < 9:\n        return None\n    {}",
    "a part of it": "if utils.get_arch().major >= 9 and ptx_version >= 80:\n    {}",
    "a function of the target": "sm = _target_sm(target)\nif sm is not None and sm >= 90:\n    {}",
    "a test that is skipped": '@pytest.mark.skipif(capability < (9, 0), reason="no")\ndef test_f():\n    {}',
}


@pytest.mark.parametrize("name", PYTHON)
def test_conditions_of_python_on_the_device_are_decided(db: Database, name: str) -> None:
    text = PYTHON[name].format(CALL)
    assert [f.code for f in db.lint(text, target="sm_80", language="python")] == []
    wrong = text.replace("tanh.approx", "tanh.aprox")
    assert [f.code for f in db.lint(wrong, target="sm_80", language="python")] == []
    assert [f.code for f in db.lint(wrong, target="sm_90", language="python")] == ["missing-modifier"]


@pytest.mark.parametrize(
    "text", ["if x >= 90:\n    {}", "if arch:\n    pass\nelse:\n    {}", "if searching(x):\n    {}", "x = {}"]
)
def test_other_conditions_of_python_are_none(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text.format(CALL), target="sm_80", language="python")] == ["target-too-old"]


@pytest.mark.parametrize(
    "text",
    [
        "if a.capability() > b:\n    {}",
        "if not is_blackwell():\n    pass\nelse:\n    {}",
        "def f():\n    if not has_sm90_features():\n        return 0\n    {}",
        "x = {} if arch in SUPPORTED else None",
    ],
)
def test_a_condition_of_python_on_the_device_that_is_not_understood_makes_a_warning(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text.format(CALL), target="sm_80", language="python")] == ["unknown-guard"]
    assert [f.code for f in db.lint(text.format(CALL.replace("tanh", "sin")), target="sm_80", language="python")] == [
        "illegal-type"
    ]


def test_programs_in_strings_and_blocks_have_conditions_too(db: Database) -> None:
    program = f"\n#if __CUDA_ARCH__ >= 900\n{ASM}\n#else\n{ASM.replace('tanh', 'tanhh')}\n#endif\n"
    for language, text in (
        ("python", f'x = r"""{program}"""'),
        ("c++", f'auto x = R"({program})";'),
        ("markdown", f"> ```cuda{program.replace(chr(10), chr(10) + '> ')}```\n"),
    ):
        for target, line in (("sm_80", 5), ("sm_90", 0)):
            lines = [f.line for f in db.lint(text, target=target, language=language)]
            assert lines == [line] * bool(line), (language, target)


def test_without_a_target_only_what_nobody_compiles_is_left_out(db: Database) -> None:
    wrong = ASM.replace("bf16x2", "bf16x3")
    assert found(db, f"#if 0\n{wrong}\n#endif", None) == []
    assert found(db, f"#if __CUDA_ARCH__ >= 900\n{wrong}\n#endif", None) != []


def test_what_is_ignored_there_is_not_called_needless(db: Database) -> None:
    text = f"#if __CUDA_ARCH__ >= 900\n{ASM.replace('tanh', 'ex2')}  // ptxspec: ignore[target-too-old]\n#endif"
    assert found(db, text.replace(".bf16x2", ".ftz.bf16x2"), "sm_80") == []


# The macro's value in the configuration, and the targets that have it.
DEFINES = {
    ">= sm_89": {"sm_89", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_103a", "sm_120a"},
    ">=sm_90a": {"sm_90a"},
    ">= sm_100f": {"sm_100f", "sm_100a", "sm_103a"},
    True: {"sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_103a", "sm_120a"},
    False: set[str](),
}


@pytest.mark.parametrize("value", DEFINES)
def test_macros_of_other_files_are_told_by_the_configuration(db: Database, value: str | int) -> None:
    every = DEFINES[True]
    own = {t: guards(db, "#if HAS\nx\n#endif", "c++", t, (("HAS", value),)) for t in every}
    assert {t for t, g in own.items() if g and g.compiled(2)} == DEFINES[value]
    assert all(g and g.compiled(2) is not None for g in own.values())


def test_the_account_tells_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.ptxspec.lint.defines]\nHAS_TANH = ">= sm_90"\n')
    (tmp_path / "a.cu").write_text(f"#if HAS_TANH\n{ASM}\n#endif")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", "--target", "sm_80", "a.cu"]) == 0
    assert "1 in code that is not compiled\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "#if 1\n" * 3000, "#endif\n#else\n#elif 1\n" * 1000, "#if " + "(" * 5000 + "\n", "#if " + "!" * 5000 + "1\n",
        "#if " + "1+" * 50_000 + "1\n", "#define A A\n#if A\n", "#define A B\n#define B A\n#if A\n",
        "#if 1 << 99999999999\n", "#if 1 / 0\n", "/*" * 100_000, '"' * 100_001, "#define\n#undef\n#if\n#ifdef\n",
    ],
)  # fmt: skip
def test_any_text_is_gone_through(db: Database, text: str) -> None:
    found = guards(db, text, "c++", "sm_80")
    assert found and found.compiled(text.count("\n") + 1) in (True, False, None)


# Against nvcc


def random_condition(rng: random.Random, depth: int) -> str:
    if not depth or rng.random() < 0.15:
        return rng.choice(
            [
                "__CUDA_ARCH__", "900", "0x384", "1000", "0", "1", "defined(__CUDA_ARCH__)", "AT_LEAST_90", "ZERO + 1",
                "defined __CUDA_ARCH_FEAT_SM90_ALL", "defined(__CUDA_ARCH_SPECIFIC__)", "__CUDA_ARCH_SPECIFIC__",
                "__CUDA_ARCH_FAMILY_SPECIFIC__", "defined(__CUDA_ARCH_FEAT_SM103_ALL)", "NOTHING",
            ]
        )  # fmt: skip
    a, b, c = (f"({random_condition(rng, depth - 1)})" for _ in range(3))
    operator = rng.choice(
        ["<", ">", "<=", ">=", "==", "!=", "&&", "&&", "||", "||", "+", "-", "*", "&", "|", "^", "and", "or", "xor"]
    )
    return rng.choice([f"{a} {operator} {b}", f"!{a}", f"{a} {operator} {b} {operator} {c}", f"{a} ? {b} : {c}"])


@each_size
def test_conditions_are_decided_as_by_nvcc(db: Database, nvcc: Path, tmp_path: Path, whole: bool) -> None:
    rng = random.Random(33)
    conditions = [random_condition(rng, 3) for _ in range(2000 if whole else 60)]
    head = "/* 9 */ #define AT_LEAST_90 (__CUDA_ARCH__ >= 900) // on\n#define ZERO 0\n#undef NOTHING\n"
    text = head + "".join(f"#if {c}\nx\n#endif\n" for c in conditions)
    first = head.count("\n") + 2
    for target in TARGETS if whole else ("sm_80", "sm_90a"):
        holds = holding(nvcc, tmp_path, head, conditions, target)
        own = guards(db, text, "c++", target)
        assert own and [own.compiled(first + 3 * i) for i in range(len(conditions))] == [
            i in holds for i in range(len(conditions))
        ], target


# The lines that start with @ are asm statements.
CHOSEN = """\
#include <nv/target>
constexpr int ARCH = __CUDA_ARCH__ / 10;
template <int N> __global__ void of() {
  if constexpr (ARCH >= 90) {
    @
  } else if constexpr (ARCH == 80) {
    @
  } else {
    @
  }
}
template __global__ void of<1>();
__global__ void targets() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (
    @
  ))
  NV_IF_ELSE_TARGET(NV_IS_EXACTLY_SM_80, (
    @
  ), (
    @
  ))
  NV_DISPATCH_TARGET(NV_HAS_FEATURE_SM_100a, (
    @
  ), NV_PROVIDES_SM_90, (
    @
  ), NV_IS_DEVICE, (
    @
  ))
  NV_IF_TARGET(NV_IS_HOST, (
    @
  ))
}
"""


@each_size
def test_branches_are_chosen_as_by_nvcc(db: Database, nvcc: Path, tmp_path: Path, whole: bool) -> None:
    lines = [f'asm("// at {i}");' if line.strip() == "@" else line for i, line in enumerate(CHOSEN.split("\n"), 1)]
    numbers = [i for i, line in enumerate(lines, 1) if line.startswith("asm")]
    for target in ("sm_80", "sm_90", "sm_100a", "sm_120") if whole else ("sm_90",):
        ptx = compiled(nvcc, tmp_path, "\n".join(lines), target)
        own = guards(db, "\n".join(lines), "c++", target)
        assert own and [own.compiled(i) for i in numbers] == [f"// at {i}\n" in ptx for i in numbers], target
