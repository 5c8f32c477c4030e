"""The kernels of ptxemu in C: a module for each opcode, and one for matrices, which ptxemu finds by itself."""
