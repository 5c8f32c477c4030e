"""PTX judged as ptxas would, without ptxas: .ptx files, and the PTX in the strings of C++ and Python programs.

windows.py     a file of any length, piece by piece
scanning.py    PTX text -> instructions and directives
operands.py    what kind each operand is
constants.py   constant expressions, computed
registers.py   what the registers are that the text declares
constraints.py what the operands of inline assembly are
judging.py     one instruction -> complaints, from the database
matching.py    its operands against the signature of its variant
embedded.py    C++ and Python -> the PTX in their strings
linter.py      all of these together
findings.py    the diagnostics and their codes
rendering.py   text, JSON, SARIF"""
