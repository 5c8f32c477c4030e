"""Property tests, without a time limit for each example: a machine that has other work to do is no failure."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies

__all__ = ["HealthCheck", "Phase", "given", "seed", "settings", "strategies"]

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
