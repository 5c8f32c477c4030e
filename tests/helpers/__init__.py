"""Helpers of many tests: the repository's root, edited copies of it, operands, and stand-ins for GPUs and drivers."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
