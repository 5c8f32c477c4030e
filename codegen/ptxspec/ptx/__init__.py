"""PTX as text, which lint checks and the emulator runs: ptxemu has a copy of this folder.

scanning.py    text -> statements and directives
operands.py    the kinds of operands
constants.py   constant expressions, evaluated
registers.py   the registers that a text declares
matching.py    the operands of a statement against the signature of its variant
complaints.py  errors in them, and their positions"""
