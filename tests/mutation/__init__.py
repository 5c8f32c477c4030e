"""Mutants of the specification, each of which the project's own checks must catch.

mutants.py makes them, exchanges.py says what is exchanged for what, world.py reads a specification with one of them in
it, killers.py has the checks, and equivalent.txt the mutants that mean the same, each with the reason."""
