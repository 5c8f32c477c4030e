/* Operations whose NaN is an operand's, made quiet: that of the first operand that is one, else the canonical one.
   Included once per native format, by operations.h.

   If one operand is a NaN, or several are the same, a processor returns that, made quiet. So a NaN replaces the
   operands behind it: there is only one, whichever of several the processor and the compiler prefer. On x86-64, invalid
   operations return the canonical NaN if that is negative and has no payload. */

#if defined(__x86_64__)
#define PASSES (NAN_BITS == (BITS)(SIGN_MASK | INFINITY_BITS | QUIET_MASK))
#else
#define PASSES 0
#endif
/* The replacement for a fused operation that the processor lacks need not pass on a NaN. */
#if defined(__FMA__) && WIDTH == 64
#define PASSES_FUSED PASSES
#else
#define PASSES_FUSED 0
#endif

INLINED NUMBER OF(behind)(NUMBER a, NUMBER b) { return __builtin_isunordered(a, a) ? a : b; }

#define PASSING(name, sign) \
    INLINED BITS JOIN(passing, OF(name))(BITS x, BITS y, int mode, int ftz) { \
        NUMBER a = NUMBER_OF_BITS(x), b = OF(behind)(a, NUMBER_OF_BITS(y)); \
        if (PASSES) return BITS_OF_NUMBER(a sign b); \
        return OF(passed_on)(OF(passed_on)(OF(name)(x, y, mode, ftz), y), x); \
    }
PASSING(addition, +)
PASSING(subtraction, -)
PASSING(multiplication, *)
PASSING(division, /)
#undef PASSING

INLINED BITS JOIN(passing, OF(squareRoot))(BITS x, int mode, int ftz) {
    if (PASSES && WIDTH == 64) return BITS_OF_NUMBER((NUMBER)__builtin_sqrt(NUMBER_OF_BITS(x)));
    return OF(passed_on)(OF(squareRoot)(x, mode, ftz), x);
}
INLINED BITS JOIN(passing, OF(fusedMultiplyAdd))(BITS x, BITS y, BITS z, int mode, int ftz) {
    NUMBER a = NUMBER_OF_BITS(x), b = OF(behind)(a, NUMBER_OF_BITS(y)), c = OF(behind)(b, NUMBER_OF_BITS(z));
    if (PASSES_FUSED) return BITS_OF_NUMBER((NUMBER)__builtin_fma(a, b, c));
    return OF(passed_on)(OF(passed_on)(OF(passed_on)(OF(fusedMultiplyAdd)(x, y, z, mode, ftz), z), y), x);
}
#undef PASSES
#undef PASSES_FUSED
