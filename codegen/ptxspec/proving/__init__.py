"""The evidence for the rest: the assembler, GPUs, machine code, compilers, comparisons. Nothing below knows it."""
