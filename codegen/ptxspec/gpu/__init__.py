"""Emulator and GPU held against each other, and recordings of what a GPU returned."""
