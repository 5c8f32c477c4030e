/* The function table for one format that is not like those of IEEE 754: one lane of bits in and out, as in declared.py.

   Included once per format, with FORMAT and its declaration defined: EXPONENT_BITS, FRACTION_BITS, BIAS, NANS,
   CANONICAL_NAN, HAS_SIGN, HAS_ZERO, HAS_SUBNORMALS, HAS_INFINITY, and TOO_LARGE, which a number too large becomes,
   with or without its sign (SIGNED_TOO_LARGE). A number is a binary32, or a binary64 where an operation needs that:
   sums and products are exact there or rounded to odd. The processor must round to nearest. */

#define JOIN_(x, y) x##_##y
#define JOIN(x, y) JOIN_(x, y)
#define OF(name) JOIN(name, FORMAT)

#define WIDTH (HAS_SIGN + EXPONENT_BITS + FRACTION_BITS)
#if WIDTH > 16
#define BITS uint32_t
#define SELECT select_32
#elif WIDTH > 8
#define BITS uint16_t
#define SELECT select_16
#else
#define BITS uint8_t
#define SELECT select_8
#endif

#define MAGNITUDES (1u << (EXPONENT_BITS + FRACTION_BITS))
#define SIGN_MASK ((BITS)(HAS_SIGN * MAGNITUDES))
#define MAGNITUDE_MASK ((BITS)(MAGNITUDES - 1))
#define FIRST_NAN (MAGNITUDES - NANS)
#define LARGEST (FIRST_NAN - 1 - HAS_INFINITY)
#define EMIN (HAS_ZERO - BIAS)
#define LEAST_NORMAL ((uint32_t)HAS_ZERO << FRACTION_BITS)
#define DECLARATION \
    ((declaration){EXPONENT_BITS, FRACTION_BITS, BIAS, LARGEST, CANONICAL_NAN, HAS_SIGN, HAS_ZERO, HAS_SUBNORMALS, \
                   HAS_INFINITY, TOO_LARGE, SIGNED_TOO_LARGE})
#define SATURATED \
    ((declaration){EXPONENT_BITS, FRACTION_BITS, BIAS, LARGEST, CANONICAL_NAN, HAS_SIGN, HAS_ZERO, HAS_SUBNORMALS, \
                   0, LARGEST, 1})

/* The sign */

INLINED BITS OF(magnitude)(BITS x) { return x & MAGNITUDE_MASK; }
INLINED BITS OF(negate)(BITS x) { return x ^ SIGN_MASK; }
INLINED BITS OF(copySign)(BITS x, BITS y) { return (x & MAGNITUDE_MASK) | (y & SIGN_MASK); }

INLINED BITS OF(withoutSign)(BITS x) { return SELECT((x & SIGN_MASK) != 0, 0, x); }

/* Classes */

INLINED _Bool OF(isNaN)(BITS x) { return OF(magnitude)(x) >= FIRST_NAN; }
INLINED _Bool OF(isFinite)(BITS x) { return OF(magnitude)(x) <= LARGEST; }
INLINED _Bool OF(isInfinite)(BITS x) { return !OF(isNaN)(x) & !OF(isFinite)(x); }
INLINED _Bool OF(isZero)(BITS x) { return HAS_ZERO & (OF(magnitude)(x) < (HAS_SUBNORMALS ? 1 : LEAST_NORMAL)); }
INLINED _Bool OF(isSubnormal)(BITS x) { return (OF(magnitude)(x) < LEAST_NORMAL) & !OF(isZero)(x); }
INLINED _Bool OF(isNormal)(BITS x) { return (OF(magnitude)(x) >= LEAST_NORMAL) & OF(isFinite)(x); }
INLINED _Bool OF(isSignMinus)(BITS x) { return (x & SIGN_MASK) != 0; }

/* Conversions to numbers and back */

INLINED float OF(single)(BITS x) {
    uint32_t magnitude = OF(magnitude)(x), bits = magnitude << (23 - FRACTION_BITS);
    if (HAS_ZERO && !HAS_SUBNORMALS)
        bits = select_32(magnitude < LEAST_NORMAL, 0, bits + ((uint32_t)(127 - BIAS) << 23));
    else if (HAS_ZERO && EMIN > -126) {
        /* 2**(emin - fraction_bits), the unit of subnormal numbers */
        float unit = float_of_bits((uint32_t)(127 + EMIN - FRACTION_BITS) << 23);
        uint32_t subnormal = bits_of_float((float)(int32_t)magnitude * unit);
        bits = select_32(magnitude < LEAST_NORMAL, subnormal, bits + ((uint32_t)(127 - BIAS) << 23));
    } else if (!HAS_ZERO) {
        /* Where the least exponent is below binary32's, its numbers are subnormal there. */
        uint32_t least = ((1u << FRACTION_BITS) + magnitude) << (22 - FRACTION_BITS);
        bits += (uint32_t)(127 - BIAS) << 23;
        bits = select_32(bits >> 23 == 0, least, bits);
    }
    if (HAS_INFINITY)
        bits = select_32(magnitude == LARGEST + 1, 0x7f800000u, bits);
    if (NANS)
        bits = select_32(magnitude >= FIRST_NAN, 0x7fc00000u, bits);
    if (HAS_SIGN)
        bits |= (uint32_t)(x & SIGN_MASK) << (HAS_SIGN * (32 - WIDTH));
    return float_of_bits(bits);
}
INLINED double OF(number)(BITS x) { return OF(single)(x); }

INLINED BITS OF(convert)(double number, int mode, int ftz) {
    return (BITS)encoded(upper_word(number), 1023, 20, DECLARATION, mode, ftz);
}
INLINED BITS OF(from_single)(float value, int mode, int ftz) {
    /* The word must have different exponents for all nonzero numbers. */
    if (EMIN < -126)
        return OF(convert)(value, mode, ftz);
    return (BITS)encoded(bits_of_float(value), 127, 23, DECLARATION, mode, ftz);
}

/* Numbers too large, and infinities, become the largest number with their sign. */
INLINED BITS OF(saturated)(float value, int mode) {
    if (EMIN < -126)
        return (BITS)encoded(upper_word(value), 1023, 20, SATURATED, mode, 0);
    return (BITS)encoded(bits_of_float(value), 127, 23, SATURATED, mode, 0);
}

INLINED BITS OF(convertStochastic)(float value, uint32_t random, int width) {
    return OF(from_single)(moved_by(random, width, value, EMIN, FRACTION_BITS), roundTiesToEven, 0);
}

/* Operations that round (5.4.1) */

/* A sum of zero is -0 under roundTowardNegative unless both summands are +0 (6.3). */
INLINED BITS OF(sum)(double x, double y, int mode, int ftz) {
    double sum = double_sum_to_odd(x, y);
    _Bool negative = (sum == 0) & (__builtin_signbit(x) | __builtin_signbit(y));
    BITS bits = OF(convert)(sum, mode, ftz);
    return mode == roundTowardNegative ? SELECT(negative, SIGN_MASK, bits) : bits;
}
INLINED BITS OF(addition)(BITS x, BITS y, int mode, int ftz) {
    return OF(sum)(OF(number)(x), OF(number)(y), mode, ftz);
}
INLINED BITS OF(subtraction)(BITS x, BITS y, int mode, int ftz) {
    return OF(sum)(OF(number)(x), -OF(number)(y), mode, ftz);
}
INLINED BITS OF(multiplication)(BITS x, BITS y, int mode, int ftz) {
    return OF(convert)(OF(number)(x) * OF(number)(y), mode, ftz);
}
INLINED BITS OF(division)(BITS x, BITS y, int mode, int ftz) {
    double a = OF(number)(x), b = OF(number)(y), quotient = a / b;
    return OF(convert)(double_to_odd(quotient, __builtin_fma(-quotient, b, a) * __builtin_copysign(1, b)), mode, ftz);
}
INLINED BITS OF(squareRoot)(BITS x, int mode, int ftz) {
    double a = OF(number)(x), root = __builtin_sqrt(a);
    return OF(convert)(double_to_odd(root, __builtin_fma(-root, root, a)), mode, ftz);
}
INLINED BITS OF(fusedMultiplyAdd)(BITS x, BITS y, BITS z, int mode, int ftz) {
    return OF(sum)(OF(number)(x) * OF(number)(y), OF(number)(z), mode, ftz);
}

/* Comparisons (5.11), minimum and maximum (9.6) */

/* `relation` is as in comparisons.h. */
INLINED _Bool OF(compare)(BITS x, BITS y, uint8_t relation) {
    float a = OF(single)(x), b = OF(single)(y);
    uint32_t found = select_32(a < b, 1, 0) | select_32(a == b, 2, 0) | select_32(a > b, 4, 0);
    return ((found | select_32(__builtin_isunordered(a, b), 8, 0)) & relation) != 0;
}

/* Integers in the order of the values, -0 below +0. Without subnormal numbers zeros have several encodings. */
INLINED int32_t OF(order)(BITS x) {
    int32_t magnitude = (int32_t)OF(magnitude)(x);
    return OF(isSignMinus)(x) ? -1 - magnitude : magnitude;
}
INLINED BITS OF(extreme)(BITS x, BITS y, _Bool largest, _Bool number) {
    _Bool above = OF(order)(x) > OF(order)(y);
    if (HAS_ZERO && !HAS_SUBNORMALS) {
        float a = OF(single)(x), b = OF(single)(y);
        /* The signs order two zeros. */
        above = (a > b) | ((a == b) & !OF(isSignMinus)(x) & OF(isSignMinus)(y));
    }
    BITS result = SELECT(above == largest, x, y);
    _Bool x_nan = OF(isNaN)(x), y_nan = OF(isNaN)(y), nan = x_nan | y_nan;
    if (number) {
        result = SELECT(x_nan, y, SELECT(y_nan, x, result));
        nan = x_nan & y_nan;
    }
    return SELECT(nan, CANONICAL_NAN, result);
}
INLINED BITS OF(maximum)(BITS x, BITS y) { return OF(extreme)(x, y, 1, 0); }
INLINED BITS OF(minimum)(BITS x, BITS y) { return OF(extreme)(x, y, 0, 0); }
INLINED BITS OF(maximumNumber)(BITS x, BITS y) { return OF(extreme)(x, y, 1, 1); }
INLINED BITS OF(minimumNumber)(BITS x, BITS y) { return OF(extreme)(x, y, 0, 1); }

#undef JOIN_
#undef JOIN
#undef OF
#undef WIDTH
#undef BITS
#undef SELECT
#undef MAGNITUDES
#undef SIGN_MASK
#undef MAGNITUDE_MASK
#undef FIRST_NAN
#undef LARGEST
#undef EMIN
#undef LEAST_NORMAL
#undef DECLARATION
#undef SATURATED
#undef FORMAT
#undef EXPONENT_BITS
#undef FRACTION_BITS
#undef BIAS
#undef NANS
#undef CANONICAL_NAN
#undef HAS_SIGN
#undef HAS_ZERO
#undef HAS_SUBNORMALS
#undef HAS_INFINITY
#undef TOO_LARGE
#undef SIGNED_TOO_LARGE
