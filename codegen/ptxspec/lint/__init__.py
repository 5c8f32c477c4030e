"""PTX judged as ptxas would, without ptxas: .ptx files, and the PTX in the strings of programs.

Judging
    reading.py       files as text, and where its characters stand
    traces.py        where a program may speak of PTX at all
    languages/       programs -> the PTX in their strings
    constraints.py   what the operands of inline assembly are
    evidence.py      whether assembly is PTX
    rules.py         what the database says of operands
    declarations.py  what is wrong with declarations
    others.py        what is wrong with instructions outside of the database
    matrices.py      what is wrong with instructions that multiply matrices
    judging.py       one instruction -> complaints, from the database
    filling.py       recipes with a statement's own registers
    linter.py        all of these together, with what ../ptx/ reads
    findings.py      the diagnostics and their codes

Whole repositories
    configuration.py [lint] in ptxspec.toml, or [tool.ptxspec.lint] in pyproject.toml
    baseline.py      findings that are known
    changes.py       lines that have changed since a commit
    patterns.py      of paths
    discovery.py     which files
    comments.py      comments, and what they stand at
    ignores.py       those that say what is not to be said
    annotating.py    which are written into files; rewriting.py: files with other text
    macros.py        what headers define; macros.toml: for which target
    preprocessor.py  conditions of C's preprocessor
    branches.py      conditions of programs
    guards.py        all of them, decided for a target
    checking.py      one file after another, with an account of them
    many.py          on all cores
    statistics.py    the account
    rendering.py     text, JSON, GitHub's annotations; sarif.py: code scanning"""
