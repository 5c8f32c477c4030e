"""A variant as it is written: in PTX, in inline assembly of CUDA and Triton, and as CUDA C++ that becomes it."""
