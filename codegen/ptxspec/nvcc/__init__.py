"""Functions of CUDA C++ and the PTX that nvcc generates for each: found in its headers, compiled, and recorded."""
