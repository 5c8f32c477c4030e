"""The machine code that ptxas generates for variants: one machine instruction, or several."""
