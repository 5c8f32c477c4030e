"""PTX judged as ptxas would, without ptxas: .ptx files, and the PTX in the strings of programs.

Judging
    reading.py       files as text, and where its characters stand
    traces.py        where a program may speak of PTX at all
    languages/       programs -> the PTX in their strings
    constraints.py   what the operands of inline assembly are
    rules.py         what the database says of operands
    judging.py       one instruction -> complaints, from the database
    filling.py       recipes with a statement's own registers
    linter.py        all of these together, with what ../ptx/ reads
    findings.py      the diagnostics and their codes

Whole repositories
    configuration.py [tool.ptxspec.lint] in pyproject.toml
    patterns.py      of paths
    discovery.py     which files
    ignores.py       comments that say what is not to be said
    guards.py        conditions of the preprocessor, decided for a target
    checking.py      one file after another, with an account of them
    many.py          on all cores
    statistics.py    the account
    rendering.py     text, JSON, GitHub's annotations; sarif.py: code scanning"""
