"""`eval --trace`: the steps of an instruction on given operands, with what happened in each."""
