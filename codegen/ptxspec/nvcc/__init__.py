"""Functions of CUDA C++ and the PTX that nvcc makes of each: found in its headers, compiled, and written down."""
