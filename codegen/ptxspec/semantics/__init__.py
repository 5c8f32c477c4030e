"""The semantics language: parse -> check and specialise -> a straight-line program that every back end understands."""
