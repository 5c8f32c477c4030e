"""The C extension of ptxemu: a module for each opcode and one for matrices. ptxemu uses it if it is installed."""
