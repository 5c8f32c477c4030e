"""PTX checked as ptxas would check it, without ptxas: .ptx files, and the PTX in the strings of programs.

Checks
    reading.py       files as text, and positions in them
    traces.py        places where a program may contain PTX at all
    languages/       programs -> the PTX in their strings
    constraints.py   constraints of the operands of inline assembly
    evidence.py      evidence that assembly is PTX
    rules.py         the database's rules for operands
    declarations.py  errors in declarations
    others.py        errors in instructions outside of the database
    matrices.py      errors in instructions that multiply matrices
    judging.py       one instruction -> complaints, from the database
    filling.py       recipes with a statement's own registers
    linter.py        all of these together, with the readers of ../ptx/
    findings.py      the diagnostics and their codes

Whole repositories
    configuration.py [lint] in ptxspec.toml, or [tool.ptxspec.lint] in pyproject.toml
    baseline.py      known findings
    changes.py       lines that have changed since a commit
    patterns.py      patterns of paths
    discovery.py     the files to check
    comments.py      comments, and the code that they are about
    ignores.py       comments that suppress findings
    annotating.py    writes these into files; rewriting.py: files with new text
    macros.py        macros of headers; macros.toml: their values by target
    preprocessor.py  conditions of C's preprocessor
    branches.py      conditions of programs
    guards.py        all conditions, decided for a target
    checking.py      files one by one, with an account of them
    many.py          files on all cores
    statistics.py    the account
    rendering.py     text, JSON, GitHub's annotations; sarif.py: code scanning"""
