"""What is fed with anything at all, and how.

A target takes bytes and raises for a defect alone: for an exception that is not documented, for an exit code that is
none of a command's, for an answer that contradicts another one. targets.py lists them; edits.py spoils what is right;
engine.py runs one by coverage, with atheris, where that is installed."""
