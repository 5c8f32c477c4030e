"""The machine code that ptxas makes of variants: one instruction of the machine, or several."""
