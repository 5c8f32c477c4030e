"""The semantics language: parse -> check and specialise -> a straight-line program that all back ends understand."""
