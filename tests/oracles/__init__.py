"""Judges that nobody here wrote, and what it takes to ask them: MPFR, ptxas and NVIDIA's compilers."""
