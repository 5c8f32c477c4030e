"""Additions to a command's --help: examples, and help for arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from .. import terminal

ABOUT = "ptxspec says where each arithmetic instruction of NVIDIA's PTX is available, and what it computes."
# The commands, grouped by purpose, in the order in which somebody meets them.
GROUPS: dict[str, tuple[str, ...]] = {
    "Look up instructions": ("query", "list", "show", "manual", "diff", "targets", "versions"),
    "Compute and compare results": ("eval", "compare", "sweep", "vectors"),
    "Check your code": ("lint", "server", "explain"),
    "Maintain the specification": ("validate", "generate", "verify", "machine-code", "calls", "conformance"),
    "Set up your shell": ("completion",),
}
EXAMPLES: dict[str, tuple[str, ...]] = {
    "": (
        "ptxspec query add.bf16 --target A100",
        "ptxspec lint kernel.cu --target sm_80",
        "ptxspec eval fma.rn.ftz.f32 0x00800000 0x3f000000 0 --trace",
        "ptxspec COMMAND --help",
    ),
    "generate": ("ptxspec generate", "ptxspec generate --check"),
    "validate": ("ptxspec validate", "ptxspec validate spec/instructions/max.yaml"),
    "list": (
        "ptxspec list --target H100 --type bf16x2",
        "ptxspec list setp.cmp.bf16 --target H100",
        "ptxspec list --opcode cvt --format csv > cvt.csv",
        "ptxspec list --where 'type=bf16 and target=H100 and not target=A100'",
    ),
    "query": (
        "ptxspec query max.NaN.f64",
        "ptxspec query add.bf16 --target A100",
        "ptxspec query __hmul2 --target A100",
        "ptxspec query max.f32 --operands 3 --ptx 8.7 --format json",
        "ptxspec list --opcode tanh --format csv | cut -d, -f1 | tail -n +2 | ptxspec query - --target A100",
    ),
    "show": ("ptxspec show fma", "ptxspec show fma.rn.ftz.f32", "ptxspec show max.f32 --operands 3"),
    "manual": (
        "ptxspec manual",
        "ptxspec manual fma.rn.bf16",
        "ptxspec manual --serve --port 8080",
        "ptxspec manual --text",
    ),
    "eval": (
        "ptxspec eval add.rn.f32 0.1 -0x1.8p-3",
        "ptxspec eval fma.rn.ftz.f32 0x00800000 0x3f000000 0 --trace",
        "ptxspec eval mul.f16x2 0.1,0.2 3,4 --format json",
        "ptxspec eval setp.ltu.and.f32 nan 1 true",
        "ptxspec eval --file spec/examples/exp2.ptx x=1.5 --trace",
        "ptxspec eval fma.rn.f32 --batch operands.txt > results.txt",
        "ptxspec eval - --format jsonl < lines.txt",
    ),
    "compare": (
        "ptxspec compare max.f32 fmaxf",
        "ptxspec compare add.bf16 'mov.b16 %one, 0x3f80; fma.rn.bf16 %d, %a, %one, %b;'",
        "ptxspec compare ex2.approx.f32 numpy.exp2 --format json",
    ),
    "sweep": (
        "ptxspec sweep add.f16 --against add.rn.f16 --exhaustive",
        "ptxspec sweep sqrt.rn.f32 --against mpfr --exhaustive --state sqrt.json",
        "ptxspec sweep ex2.approx.f32 --against tests/recordings/NAME",
        "ptxspec sweep mul.bf16 --against mpfr --exhaustive --scheduler tcp://10.0.0.1:8786",
    ),
    "lint": (
        "ptxspec lint",
        "ptxspec lint src kernel.ptx --target sm_80 --exclude third_party",
        "ptxspec lint src/*.cu --target sm_80 --ptx 8.0 --format sarif > lint.sarif",
        "ptxspec lint - --language c++ < kernel.cu",
        "ptxspec lint . --stats",
    ),
    "server": ("ptxspec server",),
    "explain": ("nvcc -c kernel.cu 2>&1 | ptxspec explain", "ptxspec explain < build.log --all"),
    "diff": ("ptxspec diff --ptx 8.5..8.8", "ptxspec diff --target A100..H100", "ptxspec diff --target sm_90..sm_100"),
    "targets": ("ptxspec targets", "ptxspec targets H100 'RTX 4090'"),
    "versions": ("ptxspec versions",),
    "verify": ("ptxspec verify", "ptxspec verify --ptxas /usr/local/cuda/bin/ptxas"),
    "machine-code": (
        "ptxspec machine-code add.rn.f32x2",
        "ptxspec machine-code div.rn.f32 --target H100",
        "ptxspec machine-code --record",
    ),
    "calls": ("ptxspec calls", "ptxspec calls --record"),
    "conformance": (
        "ptxspec conformance",
        "ptxspec conformance --record tests/recordings/NAME",
        "ptxspec conformance --replay tests/recordings/NAME",
    ),
    "vectors": (
        "ptxspec vectors fma.rn.ftz.f32 --format npz > fma.npz",
        "ptxspec vectors max.f32 --operands 3 --grid --format json > max.json",
        "ptxspec vectors cvt.rn.f16.f32 --limit 20",
        "ptxspec vectors mul.rn.ftz.f32 --rows 1000000 --format csv > mul.csv",
    ),
    "completion": (
        'eval "$(ptxspec completion bash)"',
        'eval "$(ptxspec completion zsh)"',
        "ptxspec completion fish > ~/.config/fish/completions/ptxspec.fish",
    ),
}

# The help of arguments for which a command gives none.
ARGUMENTS = {
    "variant": "a variant, such as fma.rn.ftz.f32; its modifiers can be in any order",
    "name": "an opcode, such as fma, or a variant, such as fma.rn.ftz.f32",
    "opcode": "an opcode, such as cvt",
    "format": "the output format; json is for scripts",
}


def overview(commands: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the lines that `ptxspec` without a command prints: the commands by purpose, and two examples."""
    import textwrap  # most runs do not need it

    column = max(map(len, commands)) + 4
    yield from textwrap.wrap(ABOUT, width)
    for title, names in GROUPS.items():
        yield from ("", terminal.painted(title, "bold"))
        for name in names:
            first, *more = textwrap.wrap(commands[name], width - column)
            yield from (f"  {name:{column - 2}}{first}", *(" " * column + line for line in more))
    yield from ("", terminal.painted("Examples", "bold"), *(f"  {e}" for e in EXAMPLES[""][:2]), "")
    yield from textwrap.wrap("Run `ptxspec COMMAND --help` for a command's options and more examples.", width)


class Formatter(argparse.HelpFormatter):
    """A help formatter that keeps the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            part if part.startswith("examples:") else super(Formatter, self)._fill_text(part, width, indent)
            for part in text.split("\n\n")
        )


def complete(parser: argparse.ArgumentParser, command: str) -> None:
    """Add examples to a command's help, and the help of arguments that several commands share."""
    for action in parser._actions:
        if action.help is None:
            action.help = ARGUMENTS.get(action.dest)
    if command in EXAMPLES:
        shown = "\n".join(["examples:", *(f"  {e}" for e in EXAMPLES[command])])
        parser.epilog = f"{shown}\n\n{parser.epilog}" if parser.epilog else shown
