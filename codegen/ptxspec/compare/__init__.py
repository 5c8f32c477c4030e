"""Two ways to compute something, held against each other on many operands: where they differ, by class of operands."""
