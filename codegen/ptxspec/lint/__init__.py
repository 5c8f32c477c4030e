"""PTX judged as ptxas would, without ptxas: .ptx files, and the PTX in the strings of C++ and Python programs.

windows.py     a file of any length, piece by piece
constraints.py what the operands of inline assembly are
rules.py       what the database says of operands
judging.py     one instruction -> complaints, from the database
embedded.py    C++ and Python -> the PTX in their strings
linter.py      all of these together, with what ../ptx/ reads
findings.py    the diagnostics and their codes
rendering.py   text, JSON, SARIF"""
