"""Comparison of two ways to compute something on many operands: where they differ, by class of operands."""
