"""PTX as text, which lint judges and the emulator runs: ptxemu has a copy of this folder.

scanning.py    text -> statements and directives
operands.py    what kind each operand is
constants.py   constant expressions, computed
registers.py   what the registers are that the text declares
matching.py    the operands of a statement against the signature of its variant
complaints.py  what is wrong with them, and where"""
