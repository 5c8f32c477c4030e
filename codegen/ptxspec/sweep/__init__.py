"""Two sides held against each other on whole ranges of operands, in blocks that any process anywhere can count."""
