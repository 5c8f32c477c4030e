#ifdef HAS_TANH
asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(a));
#endif
