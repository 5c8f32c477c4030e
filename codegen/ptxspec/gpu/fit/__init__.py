"""Recovering the special function unit from a recording: `ptxspec fit`.

recorded.py finds in a recording what a GPU computed, arrays.py runs an instruction's machine code on it up to the unit
and beyond, interpolator.py recovers coefficients from the unit's results, fitting.py tries one unit after the other and
writes spec/units/. Nothing is taken from anybody's tables, and nothing is written that does not reproduce every result.
"""
