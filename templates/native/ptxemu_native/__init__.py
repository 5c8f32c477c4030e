"""The kernels of ptxemu in C: a module for each opcode, which ptxemu finds by itself."""
