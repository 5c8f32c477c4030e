"""Comparison of two sides on whole ranges of operands, in blocks that any process anywhere can count."""
