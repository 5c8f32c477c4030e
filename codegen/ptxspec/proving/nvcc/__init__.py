"""Functions of CUDA C++ and Triton, LLVM's intrinsics, and the PTX that compilers generate for each: compiled and
recorded."""
