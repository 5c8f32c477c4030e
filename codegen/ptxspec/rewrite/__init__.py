"""Programs rewritten for the back ends that write code: the same bits in fewer steps."""
