"""Recovering the special function unit from a recording: `ptxspec fit`.

recorded.py finds in a recording what a GPU computed, published.py what a published model does; arrays.py runs an
instruction's machine code on it up to the unit and beyond, observed.py says what results mean for sums, interpolator.py
recovers coefficients from these, tables.py makes a table where there are none; fitting.py tries one assumption after
the other, native.py is for whole sweeps, writing.py writes spec/units/. Nothing is taken from anybody's tables, and
nothing is written that does not reproduce every result.
"""
