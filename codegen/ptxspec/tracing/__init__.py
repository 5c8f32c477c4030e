"""`eval --trace`: the steps of an instruction on given operands, with the events in each."""
