"""Comparison of emulator and GPU, and recordings of a GPU's results."""
