"""Programs rewritten before any back end, into programs that give the same bits in fewer steps."""
