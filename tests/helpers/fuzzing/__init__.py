"""The targets that are fed with arbitrary bytes, and what feeds them.

A target takes bytes and raises for a defect alone: an exception that is not documented, an exit code that no command
has, or an answer that contradicts another one. targets.py lists the targets; edits.py spoils valid input; engine.py
runs a target guided by coverage, with atheris, where that is installed."""
