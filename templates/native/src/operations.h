/* The function table of the semantics language for one format, as in ptxemu's modules: one lane of bits in and out.

   Included once per format, with FORMAT, EXPONENT_BITS, FRACTION_BITS and CANONICAL_NAN defined. An operation that
   rounds has the direction and `ftz` as arguments, both constants. For a native format it uses the processor's
   operation, and the processor must round in that direction (kernel.h); for a format with a carrier it must round to
   nearest. Formats with neither have no operations that round: the emitter needs none. */

#define JOIN_(x, y) x##_##y
#define JOIN(x, y) JOIN_(x, y)
#define OF(name) JOIN(name, FORMAT)

#define WIDTH (1 + EXPONENT_BITS + FRACTION_BITS)
#define PRECISION (FRACTION_BITS + 1)
#if WIDTH == 64
#define BITS uint64_t
#define SIGNED int64_t
#define SELECT select_64
#elif WIDTH == 32
#define BITS uint32_t
#define SIGNED int32_t
#define SELECT select_32
#elif WIDTH == 16
#define BITS uint16_t
#define SIGNED int16_t
#define SELECT select_16
#else
#define BITS uint8_t
#define SIGNED int8_t
#define SELECT select_8
#endif

#define SIGN_MASK ((BITS)((BITS)1 << (WIDTH - 1)))
#define MAGNITUDE_MASK ((BITS)(SIGN_MASK - 1))
#define QUIET_MASK ((BITS)((BITS)1 << (FRACTION_BITS - 1)))
#define SMALLEST_NORMAL ((BITS)((BITS)1 << FRACTION_BITS))
#define INFINITY_BITS ((BITS)(SIGN_MASK - SMALLEST_NORMAL))
#define NAN_BITS ((BITS)CANONICAL_NAN)

/* The processor computes in this format. */
#define NATIVE ((EXPONENT_BITS == 8 && FRACTION_BITS == 23) || (EXPONENT_BITS == 11 && FRACTION_BITS == 52))
#if NATIVE && WIDTH == 32
#define NUMBER float
#define NUMBER_OF_BITS float_of_bits
#define BITS_OF_NUMBER bits_of_float
#elif NATIVE
#define NUMBER double
#define NUMBER_OF_BITS double_of_bits
#define BITS_OF_NUMBER bits_of_double
#endif

/* Operations on the sign and on NaN (5.5.1, 6.2) */

INLINED BITS OF(magnitude)(BITS x) { return x & MAGNITUDE_MASK; }
INLINED BITS OF(negate)(BITS x) { return x ^ SIGN_MASK; }
INLINED BITS OF(copySign)(BITS x, BITS y) { return (x & MAGNITUDE_MASK) | (y & SIGN_MASK); }
INLINED BITS OF(quieten)(BITS x) { return x | QUIET_MASK; }

/* Classes (5.7.2) */

#if NATIVE
INLINED _Bool OF(isNaN)(BITS x) { return __builtin_isunordered(NUMBER_OF_BITS(x), NUMBER_OF_BITS(x)); }
#else
INLINED _Bool OF(isNaN)(BITS x) { return OF(magnitude)(x) > INFINITY_BITS; }
#endif
INLINED _Bool OF(isSignaling)(BITS x) { return OF(isNaN)(x) & ((x & QUIET_MASK) == 0); }
INLINED _Bool OF(isInfinite)(BITS x) { return OF(magnitude)(x) == INFINITY_BITS; }
INLINED _Bool OF(isFinite)(BITS x) { return OF(magnitude)(x) < INFINITY_BITS; }
INLINED _Bool OF(isZero)(BITS x) { return OF(magnitude)(x) == 0; }
/* Not magnitude - 1 < ...: gcc takes its -1 from a register in use, so that each lane waits for the one before. */
INLINED _Bool OF(isSubnormal)(BITS x) {
    return (BITS)(SMALLEST_NORMAL - 1 - OF(magnitude)(x)) < (BITS)(SMALLEST_NORMAL - 1);
}
INLINED _Bool OF(isNormal)(BITS x) {
    return (BITS)(OF(magnitude)(x) - SMALLEST_NORMAL) < (BITS)(INFINITY_BITS - SMALLEST_NORMAL);
}
INLINED _Bool OF(isSignMinus)(BITS x) { return x > MAGNITUDE_MASK; }

/* Functions that do several steps at once */

/* x, and a zero of its sign where x is subnormal. */
INLINED BITS OF(flushed)(BITS x) { return SELECT(OF(isSubnormal)(x), x & SIGN_MASK, x); }
/* The operand's NaN, made quiet; of several operands the last one decides. `propagate` is for operations whose result
   may be a number despite a NaN: only if the value is a NaN too. */
INLINED BITS OF(passed_on)(BITS value, BITS x) { return SELECT(OF(isNaN)(x), OF(quieten)(x), value); }
INLINED BITS OF(propagate)(BITS value, BITS x) {
    return SELECT(OF(isNaN)(value) & OF(isNaN)(x), OF(quieten)(x), value);
}

#include "comparisons.h"

/* Operations that round (5.4) */

#if NATIVE

INLINED double OF(number)(BITS x) { return NUMBER_OF_BITS(x); }

/* `doubled` is the result of the same operation for twice the exact value. Just below 2**emin it is as precise as with
   an unbounded exponent, and so detects tiny results. If a doubled operand overflows it detects nothing, but then only
   zero is as small. */
INLINED BITS OF(finished)(NUMBER value, NUMBER doubled, int ftz) {
    BITS bits = BITS_OF_NUMBER(value);
    if (ftz) {
        _Bool tiny = OF(magnitude)(BITS_OF_NUMBER(doubled)) < 2 * SMALLEST_NORMAL;
        tiny &= OF(magnitude)(bits) <= SMALLEST_NORMAL;
        bits = SELECT(tiny, bits & SIGN_MASK, bits);
    }
    return SELECT(OF(isNaN)(bits), NAN_BITS, bits);
}
INLINED BITS OF(addition)(BITS x, BITS y, int mode, int ftz) {
    NUMBER a = NUMBER_OF_BITS(x), b = NUMBER_OF_BITS(y);
    NUMBER sum = a + b;
    return OF(finished)(sum, sum + sum, ftz);
}
INLINED BITS OF(subtraction)(BITS x, BITS y, int mode, int ftz) {
    return OF(addition)(x, y ^ SIGN_MASK, mode, ftz);
}
INLINED BITS OF(convert)(double number, int mode, int ftz) {
    return OF(finished)((NUMBER)number, (NUMBER)(number + number), ftz);
}

#if WIDTH == 32

/* In binary64, where nothing is subnormal: some processors take a hundred times as long for subnormal numbers, and tiny
   results are detected there. Products are exact, and a result rounded in one direction may be rounded again in that
   direction. To nearest, a sum is rounded to odd first. A quotient has enough bits (2p + 2; Figueroa 1995), even if it
   becomes subnormal: it is as far from the middle between two such numbers. Operands are doubled and results halved,
   because compilers would compute in binary32 if a result were converted to it at once. directly_... computes in
   binary32 itself. */
INLINED BITS JOIN(directly, OF(multiplication))(BITS x, BITS y, int ftz) {
    return OF(finished)(NUMBER_OF_BITS(x) * NUMBER_OF_BITS(y), 0, 0);
}
INLINED BITS OF(multiplication)(BITS x, BITS y, int mode, int ftz) {
    double a = OF(number)(x), b = OF(number)(y);
    return OF(convert)((a + a) * b * 0.5, mode, ftz);
}
INLINED BITS JOIN(directly, OF(division))(BITS x, BITS y, int ftz) {
    return OF(finished)(NUMBER_OF_BITS(x) / NUMBER_OF_BITS(y), 0, 0);
}
INLINED BITS OF(division)(BITS x, BITS y, int mode, int ftz) {
    double a = OF(number)(x), b = OF(number)(y);
    return OF(convert)((a + a) / b * 0.5, mode, ftz);
}
INLINED BITS JOIN(directly, OF(squareRoot))(BITS x, int ftz) {
    return OF(finished)(__builtin_sqrtf(NUMBER_OF_BITS(x)), 0, 0);
}
INLINED BITS OF(squareRoot)(BITS x, int mode, int ftz) {
    /* A subnormal number is 2m * 2**-150 with an integer m. Roots are never tiny. */
    BITS size = OF(magnitude)(x);
    _Bool low = size < SMALLEST_NORMAL;
    BITS number = bits_of_float((float)(int32_t)(2 * size)) | (x & SIGN_MASK);
    float root = __builtin_sqrtf(float_of_bits(SELECT(low, number, x)));
    return OF(finished)(root * float_of_bits(SELECT(low, bits_of_float(0x1p-75f), bits_of_float(1))), 0, 0);
}
INLINED BITS OF(fusedMultiplyAdd)(BITS x, BITS y, BITS z, int mode, int ftz) {
    double product = OF(number)(x) * OF(number)(y), c = OF(number)(z);
    return OF(convert)(mode == roundTiesToEven ? double_sum_to_odd(product, c) : product + c, mode, ftz);
}
INLINED BITS JOIN(directly, OF(fusedMultiplyAdd))(BITS x, BITS y, BITS z, int ftz) {
    float a = NUMBER_OF_BITS(x), b = NUMBER_OF_BITS(y), c = NUMBER_OF_BITS(z);
    return OF(finished)(__builtin_fmaf(a, b, c), __builtin_fmaf(a + a, b, c + c), ftz);
}

#else

INLINED BITS OF(multiplication)(BITS x, BITS y, int mode, int ftz) {
    double a = OF(number)(x), b = OF(number)(y);
    return OF(finished)(a * b, (a + a) * b, ftz);
}
INLINED BITS OF(division)(BITS x, BITS y, int mode, int ftz) {
    double a = OF(number)(x), b = OF(number)(y);
    return OF(finished)(a / b, (a + a) / b, ftz);
}
INLINED BITS OF(squareRoot)(BITS x, int mode, int ftz) {
    double root = __builtin_sqrt(OF(number)(x));
    return OF(finished)(root, root + root, ftz);
}
INLINED BITS OF(fusedMultiplyAdd)(BITS x, BITS y, BITS z, int mode, int ftz) {
    double a = OF(number)(x), b = OF(number)(y), c = OF(number)(z);
    return OF(finished)(__builtin_fma(a, b, c), __builtin_fma(a + a, b, c + c), ftz);
}

#endif

#if WIDTH == 32
INLINED float OF(single)(BITS x) { return float_of_bits(x); }
INLINED BITS OF(from_single)(float value, int mode, int ftz) { return OF(finished)(value, value + value, ftz); }
#endif

#include "passing.h"

#elif EXPONENT_BITS <= 8 && WIDTH <= 16

/* With 2p + 2 bits a result to nearest may be rounded to nearest again (Figueroa 1995). */
#define NEAREST (mode == roundTiesToEven || mode == roundTiesToAway)
#define TWICE_IN_SINGLE (NEAREST && 24 >= 2 * PRECISION + 2)
#define TWICE_IN_DOUBLE (NEAREST && 53 >= 2 * PRECISION + 2)
/* Products and quotients neither overflow nor underflow in binary32. */
#define SINGLE (EXPONENT_BITS <= 5 && PRECISION <= 11)

INLINED float OF(single)(BITS x) { return widened(x, EXPONENT_BITS, FRACTION_BITS); }
INLINED double OF(number)(BITS x) { return OF(single)(x); }

#if EXPONENT_BITS == 8 && WIDTH == 16
/* The encoding of a number that the format has. */
INLINED BITS OF(exactly)(float value) {
    return SELECT(__builtin_isunordered(value, value), NAN_BITS, (BITS)(bits_of_float(value) >> 16));
}
#endif
INLINED BITS OF(from_single)(float value, int mode, int ftz) {
    uint32_t word = bits_of_float(value);
    return (BITS)narrowed(word, 127, 23, EXPONENT_BITS, FRACTION_BITS, NAN_BITS, mode, ftz);
}
INLINED BITS OF(convert)(double number, int mode, int ftz) {
    uint32_t word = upper_word(number);
    return (BITS)narrowed(word, 1023, 20, EXPONENT_BITS, FRACTION_BITS, NAN_BITS, mode, ftz);
}
INLINED BITS OF(convertStochastic)(float value, uint32_t random, int width) {
    return OF(from_single)(moved_by(random, width, value, 2 - (1 << (EXPONENT_BITS - 1)), FRACTION_BITS), roundTiesToEven, 0);
}
/* A sum of zero is -0 under roundTowardNegative unless both summands are +0 (6.3). */
INLINED BITS OF(signed_zero)(BITS result, _Bool zero, BITS signs, int mode) {
    return mode == roundTowardNegative ? SELECT(zero, signs & SIGN_MASK, result) : result;
}
INLINED BITS OF(addition)(BITS x, BITS y, int mode, int ftz) {
    if (TWICE_IN_SINGLE)
        return OF(from_single)(OF(single)(x) + OF(single)(y), mode, ftz);
    if (SINGLE) {
        float sum = float_sum_to_odd(OF(single)(x), OF(single)(y));
        return OF(signed_zero)(OF(from_single)(sum, mode, ftz), sum == 0, x | y, mode);
    }
    double sum = double_sum_to_odd(OF(number)(x), OF(number)(y));
    return OF(signed_zero)(OF(convert)(sum, mode, ftz), sum == 0, x | y, mode);
}
INLINED BITS OF(sum)(double x, double y, int mode, int ftz) {
    double sum = double_sum_to_odd(x, y);
    BITS signs = __builtin_signbit(x) | __builtin_signbit(y) ? SIGN_MASK : 0;
    return OF(signed_zero)(OF(convert)(sum, mode, ftz), sum == 0, signs, mode);
}
INLINED BITS OF(subtraction)(BITS x, BITS y, int mode, int ftz) {
    return OF(addition)(x, y ^ SIGN_MASK, mode, ftz);
}
INLINED BITS OF(multiplication)(BITS x, BITS y, int mode, int ftz) {
    if (SINGLE)
        return OF(from_single)(OF(single)(x) * OF(single)(y), mode, ftz);
    return OF(convert)(OF(number)(x) * OF(number)(y), mode, ftz);
}
INLINED BITS OF(division)(BITS x, BITS y, int mode, int ftz) {
    if (SINGLE) {
        float a = OF(single)(x), b = OF(single)(y), quotient = a / b;
        if (!TWICE_IN_SINGLE)
            quotient = float_to_odd(quotient, __builtin_fmaf(-quotient, b, a) * __builtin_copysignf(1, b));
        return OF(from_single)(quotient, mode, ftz);
    }
    double a = OF(number)(x), b = OF(number)(y), quotient = a / b;
    if (!TWICE_IN_DOUBLE)
        quotient = double_to_odd(quotient, __builtin_fma(-quotient, b, a) * __builtin_copysign(1, b));
    return OF(convert)(quotient, mode, ftz);
}
INLINED BITS OF(squareRoot)(BITS x, int mode, int ftz) {
    if (TWICE_IN_SINGLE)
        return OF(from_single)(__builtin_sqrtf(OF(single)(x)), mode, ftz);
    if (SINGLE) {
        float a = OF(single)(x), root = __builtin_sqrtf(a);
        return OF(from_single)(float_to_odd(root, __builtin_fmaf(-root, root, a)), mode, ftz);
    }
    double a = OF(number)(x), root = __builtin_sqrt(a);
    return OF(convert)(double_to_odd(root, __builtin_fma(-root, root, a)), mode, ftz);
}
INLINED BITS OF(fusedMultiplyAdd)(BITS x, BITS y, BITS z, int mode, int ftz) {
    BITS signs = (x ^ y) | z;
    if (SINGLE) {
        float sum = float_sum_to_odd(OF(single)(x) * OF(single)(y), OF(single)(z));
        return OF(signed_zero)(OF(from_single)(sum, mode, ftz), sum == 0, signs, mode);
    }
    double sum = double_sum_to_odd(OF(number)(x) * OF(number)(y), OF(number)(z));
    return OF(signed_zero)(OF(convert)(sum, mode, ftz), sum == 0, signs, mode);
}

#undef NEAREST
#undef TWICE_IN_SINGLE
#undef TWICE_IN_DOUBLE
#undef SINGLE

#endif

INLINED BITS OF(roundToIntegral)(BITS x, int mode, int ftz) {
#if WIDTH == 64
    return OF(convert)(double_to_integral(OF(number)(x), mode), roundTiesToEven, ftz);
#else
    return OF(from_single)(float_to_integral(OF(single)(x), mode), roundTiesToEven, ftz);
#endif
}

/* A NaN of a format with other fields, as its sign and the leading bits of its fraction. */
INLINED BITS OF(convertNaN)(uint64_t x, int exponent_bits, int fraction_bits) {
    uint64_t fraction = x & ((UINT64_C(1) << fraction_bits) - 1);
    fraction = fraction_bits < FRACTION_BITS ? fraction << ((FRACTION_BITS - fraction_bits) & 63)
                                             : fraction >> ((fraction_bits - FRACTION_BITS) & 63);
    return (BITS)(fraction | INFINITY_BITS | (x >> (exponent_bits + fraction_bits) << (WIDTH - 1)));
}

/* Elementary functions (9.2) of binary32: rounded from intervals, whose ends must agree */

#if EXPONENT_BITS == 8 && FRACTION_BITS == 23

INLINED BITS OF(rounded)(interval found, int mode, int ftz, _Bool *undecided) {
    BITS low = OF(convert)(found.low, mode, ftz);
    *undecided |= low != OF(convert)(found.high, mode, ftz);
    return low;
}
#define ELEMENTARY(name) \
    INLINED BITS OF(name)(BITS x, int mode, int ftz, _Bool *undecided) { \
        return OF(rounded)(between_##name(OF(number)(x)), mode, ftz, undecided); \
    }
ELEMENTARY(exp2)
ELEMENTARY(log2)
ELEMENTARY(sin)
ELEMENTARY(cos)
ELEMENTARY(tanh)
ELEMENTARY(rSqrt)
#undef ELEMENTARY

#endif

#if EXPONENT_BITS == 11 && FRACTION_BITS == 52

/* One over the root of a number s from 1 up to 4 is y plus about half of y times 1 - s y y, with a relative error below
   2**-100. Multiplying by the power of four again is exact. */
INLINED BITS OF(rSqrt)(BITS x, int mode, int ftz, _Bool *undecided) {
    BITS size = OF(magnitude)(x), raised = bits_of_double(double_of_bits(size) * 0x1p54);
    _Bool low = size < SMALLEST_NORMAL;
    raised = SELECT(low, raised, size);
    BITS half = ((raised >> 52) + 1) >> 1;
    double s = double_of_bits(raised - (half << 53) + (UINT64_C(1024) << 52));
    double y = 1 / __builtin_sqrt(s), square = y * y, rest = __builtin_fma(y, y, -square);
    double more = 0.5 * y * __builtin_fma(-s, rest, __builtin_fma(-s, square, 1));
    double least = y + (more - 0x1p-95), most = y + (more + 0x1p-95);
    _Bool special = (size == 0) | (x >= INFINITY_BITS);
    *undecided |= (least != most) & !special;
    BITS result = bits_of_double(least) - (half << 52) + (SELECT(low, 512 + 27, 512) << 52);
    result = SELECT(x == INFINITY_BITS, 0, SELECT(x > INFINITY_BITS, NAN_BITS, result));
    return SELECT(size == 0, INFINITY_BITS | x, result);
}

#endif

#undef JOIN_
#undef JOIN
#undef OF
#undef WIDTH
#undef PRECISION
#undef BITS
#undef SIGNED
#undef SELECT
#undef SIGN_MASK
#undef MAGNITUDE_MASK
#undef QUIET_MASK
#undef SMALLEST_NORMAL
#undef INFINITY_BITS
#undef NATIVE
#undef NUMBER
#undef NUMBER_OF_BITS
#undef BITS_OF_NUMBER
#undef FORMAT
#undef EXPONENT_BITS
#undef FRACTION_BITS
#undef CANONICAL_NAN
