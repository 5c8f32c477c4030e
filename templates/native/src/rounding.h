/* Functions for the operations of every format: rounding directions, reinterpreted bits, and the way from a carrier
   back to a narrow format, as in rounding.py. Everything is for one lane, without branches, so that compilers can
   vectorise it. */

#include <float.h>
#include <stdint.h>

/* Deviations from IEEE 754 that a compiler admits, in spite of meson.build's options. */
#if defined __FAST_MATH__ || __FINITE_MATH_ONLY__ || defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__ \
    || defined __NO_SIGNED_ZEROS__ || FLT_EVAL_METHOD != 0
#error options such as -ffast-math or -mfpmath=387 change what operations compute
#endif
_Static_assert(sizeof 1.0 == sizeof(double), "an option such as -fsingle-precision-constant changes constants");

/* Every function becomes part of the loop that calls it, however long that grows: above some length gcc would leave
   calls in it, and vectorise nothing. */
#define INLINED static inline __attribute__((always_inline))

/* `steered`: one of the last three directions, as set in the processor; `anyDirection`: it makes no difference. */
enum { roundTiesToEven, roundTiesToAway, roundTowardZero, roundTowardNegative, roundTowardPositive, steered, anyDirection };

INLINED float float_of_bits(uint32_t bits) {
    union { uint32_t bits; float value; } u = {bits};
    return u.value;
}

INLINED double double_of_bits(uint64_t bits) {
    union { uint64_t bits; double value; } u = {bits};
    return u.value;
}

INLINED uint32_t bits_of_float(float value) {
    union { float value; uint32_t bits; } u = {value};
    return u.bits;
}

INLINED uint64_t bits_of_double(double value) {
    union { double value; uint64_t bits; } u = {value};
    return u.bits;
}

/* x where the condition is true, else y, by the width of their kind. Written with masks, because compilers may turn a
   visible choice into a branch around the code that only one side needs. */

INLINED uint64_t select_64(_Bool condition, uint64_t x, uint64_t y) {
    return y ^ ((x ^ y) & -(uint64_t)condition);
}
INLINED uint32_t select_32(_Bool condition, uint32_t x, uint32_t y) {
    return y ^ ((x ^ y) & -(uint32_t)condition);
}
INLINED uint16_t select_16(_Bool condition, uint16_t x, uint16_t y) {
    return y ^ ((x ^ y) & (uint16_t)-condition);
}
INLINED uint8_t select_8(_Bool condition, uint8_t x, uint8_t y) { return y ^ ((x ^ y) & (uint8_t)-condition); }
/* Bits shifted by any number of places. C leaves shifts by the width or more undefined. */
#define SHIFTING(width) \
    INLINED uint##width##_t shiftLeftBy_##width(uint##width##_t x, uint32_t count) { \
        return count < width ? (uint##width##_t)(x << count) : 0; \
    } \
    INLINED uint##width##_t shiftRightBy_##width(uint##width##_t x, uint32_t count) { \
        return count < width ? (uint##width##_t)(x >> count) : 0; \
    }
SHIFTING(8)
SHIFTING(16)
SHIFTING(32)
SHIFTING(64)
/* Two predicates combined: 0 and, 1 or, 2 exclusive or. The operator is a constant. */
INLINED _Bool combine(_Bool p, _Bool c, int operator) { return operator == 0 ? p & c : operator == 1 ? p | c : p ^ c; }
INLINED _Bool select_1(_Bool condition, _Bool x, _Bool y) { return y ^ ((x ^ y) & condition); }

/* The error of a carrier's sum or remainder to nearest turns it into the exact one rounded to odd: truncated, with the
   last bit set. `error` has the sign of the exact value minus `value`; NaN and zero leave the value unchanged. */

INLINED float float_to_odd(float value, float error) {
    uint32_t inexact = (error < 0) | (error > 0);
    uint32_t away = (error < 0) == (value > 0);
    return float_of_bits((bits_of_float(value) - (away & inexact)) | inexact);
}

INLINED double double_to_odd(double value, double error) {
    uint64_t inexact = (error < 0) | (error > 0);
    uint64_t away = (error < 0) == (value > 0);
    return double_of_bits((bits_of_double(value) - (away & inexact)) | inexact);
}

/* x + y rounded to odd (Knuth's sum with its error, which is NaN where the sum is not finite). */

INLINED float float_sum_to_odd(float x, float y) {
    float sum = x + y, y_part = sum - x, x_part = sum - y_part;
    return float_to_odd(sum, (x - x_part) + (y - y_part));
}

INLINED double double_sum_to_odd(double x, double y) {
    double sum = x + y, y_part = sum - x, x_part = sum - y_part;
    return double_to_odd(sum, (x - x_part) + (y - y_part));
}

/* The integral value next to x in a direction, with the sign of x; the processor rounds to nearest. */
#define TO_INTEGRAL(number, suffix) \
    INLINED number number##_to_integral(number x, int mode) { \
        number whole = mode == roundTiesToEven ? __builtin_rint##suffix(x) \
            : mode == roundTowardNegative ? __builtin_floor##suffix(x) \
            : mode == roundTowardPositive ? __builtin_ceil##suffix(x) : __builtin_trunc##suffix(x); \
        if (mode == roundTiesToAway) \
            whole += __builtin_fabs##suffix(x - whole) >= (number)0.5 ? __builtin_copysign##suffix(1, x) : 0; \
        return __builtin_copysign##suffix(whole, x); \
    }
TO_INTEGRAL(double, )
TO_INTEGRAL(float, f)

/* An integral value below 2**64 in magnitude as an integer modulo 2**64: its significand, shifted. */
INLINED uint64_t integer_of(double whole) {
    uint64_t bits = bits_of_double(whole), significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    uint64_t exponent = bits >> 52 & 0x7ff, left = (exponent - 1075) & 63, right = (1075 - exponent) & 63;
    uint64_t size = select_64(exponent < 1075, significand >> right, significand << left);
    size = select_64(exponent == 0, 0, size);
    return select_64(bits >> 63, 0 - size, size);
}

/* Truncated to a format's last place, after adding random bits behind that place: one of the format's numbers, or one
   beyond the largest. The place of the last random bit is one of a binary32's: width + fraction_bits <= 23. If the
   format has all of binary32's exponents, the places of subnormal numbers are the same, too. */
INLINED float moved_by(uint32_t random, int width, float value, int emin, int fraction_bits) {
    uint32_t bits = bits_of_float(value), magnitude = bits & 0x7fffffffu;
    int below = 23 - fraction_bits - width;
    float kept = float_of_bits((magnitude + (random << below)) >> (below + width) << (below + width));
    if (emin > -126) {
        int exponent = (int)(magnitude >> 23), start = exponent > emin + 127 ? exponent : emin + 127;
        uint32_t significand = (magnitude & 0x7fffffu) | (uint32_t)(exponent > 0) << 23;
        int right = below + start - (exponent > 1 ? exponent : 1);
        uint32_t steps = (significand >> (right < 31 ? right : 31)) + random;
        kept = (float)(int32_t)(steps >> width) * float_of_bits((uint32_t)(start - fraction_bits) << 23);
    }
    kept = float_of_bits(select_32(magnitude < 0x7f800000u, bits_of_float(kept), magnitude));
    return __builtin_copysignf(kept, value);
}

/* The upper word of a binary64: a format with 20 fraction bits, whose last bit also gathers the lower word. */
INLINED uint32_t upper_word(double value) {
    uint64_t bits = bits_of_double(value);
    return (uint32_t)(bits >> 32) | ((uint32_t)bits != 0);
}

/* A number of at most 16 bits as a binary32, exactly. `exponent_bits` is at most 8. */
INLINED float widened(uint32_t x, int exponent_bits, int fraction_bits) {
    int cut = 23 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t magnitude = x & ((1u << (exponent_bits + fraction_bits)) - 1);
    uint32_t sign = (x ^ magnitude) << (31 - exponent_bits - fraction_bits);
    uint32_t bits = magnitude << cut;
    if (exponent_bits < 8) {
        uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
        /* 2**(emin - fraction_bits), the unit of subnormal numbers */
        float unit = float_of_bits((uint32_t)(127 + 1 - bias - fraction_bits) << 23);
        uint32_t subnormal = bits_of_float((float)(int32_t)magnitude * unit);
        bits = select_32(magnitude < 1u << fraction_bits, subnormal, bits + ((uint32_t)(127 - bias) << 23));
        bits |= select_32(magnitude < infinity, 0, 0x7f800000u);
    }
    return float_of_bits(bits | sign);
}

/* Rounds `word`, exact or rounded to odd, to a format of at most 16 bits. Returns its bits: NaNs canonical, and with
   `ftz` zero for results that are tiny after rounding with an unbounded exponent. The word is a sign, an exponent with
   the bias `word_bias` and `word_fraction` (20 or 23) fraction bits. */
INLINED uint32_t narrowed(
    uint32_t word, int word_bias, int word_fraction, int exponent_bits, int fraction_bits, uint32_t nan, int mode,
    int ftz
) {
    int cut = word_fraction - fraction_bits, width = 1 + exponent_bits + fraction_bits;
    /* the exponent of 2**emin in the word */
    int lowest = word_bias - ((1 << (exponent_bits - 1)) - 1) + 1;
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    uint32_t word_infinity = 0x7fffffffu >> word_fraction << word_fraction;
    uint32_t magnitude = word & 0x7fffffffu, negative = word >> 31;
    uint32_t outward = (mode == roundTowardNegative) & negative;
    outward |= (mode == roundTowardPositive) & (negative ^ 1);
    int nearest = mode == roundTiesToEven || mode == roundTiesToAway;

    uint32_t significand = magnitude, start = 0;
    int shift = cut;
    if (lowest > 1) {
        int exponent = (int)(magnitude >> word_fraction);
        significand = (magnitude & ((1u << word_fraction) - 1)) | ((uint32_t)(exponent > 0) << word_fraction);
        int above = exponent - lowest;
        start = (uint32_t)(above > 0 ? above : 0) << fraction_bits;
        shift = above < 0 ? cut - above : cut;
        shift = shift < 31 ? shift : 31;
    }
    uint32_t rounded = significand;
    if (mode == roundTiesToEven)
        rounded += (1u << (shift - 1)) - 1 + ((significand >> shift) & 1);
    else if (mode == roundTiesToAway)
        rounded += 1u << (shift - 1);
    else if (mode != roundTowardZero)
        rounded += ((1u << shift) - 1) & -outward;
    rounded = (rounded >> shift) + start;

    uint32_t limit = infinity - !(nearest | outward);
    rounded = rounded < limit ? rounded : limit;
    rounded = select_32(magnitude == word_infinity, infinity, rounded);
    if (ftz) {
        /* 2**emin, or numbers that round up to it; below a word's own 2**emin the spacing is twice as large */
        int near = cut - (lowest == 1);
        uint32_t least = (uint32_t)lowest << word_fraction;
        if (nearest)
            least -= 1u << (near - 1);
        else if (mode != roundTowardZero)
            least -= ((1u << near) - 1) & -outward;
        rounded = select_32(magnitude < least, 0, rounded);
    }
    rounded |= negative << (width - 1);
    return select_32(magnitude > word_infinity, nan, rounded);
}

/* The declaration of a format that is not like those of IEEE 754, as Declared in declared.py. */
typedef struct {
    int exponent_bits, fraction_bits, bias;
    uint32_t largest, nan;
    int has_sign, has_zero, has_subnormals, has_infinity;
    /* what a number too large becomes, and whether that has its sign */
    uint32_t too_large;
    int signed_too_large;
} declaration;

/* As `narrowed`, for such a format. 2**emin must have an exponent of its own in the word. */
INLINED uint32_t encoded(uint32_t word, int word_bias, int word_fraction, declaration f, int mode, int ftz) {
    int cut = word_fraction - f.fraction_bits, lowest = word_bias + f.has_zero - f.bias;
    uint32_t word_infinity = 0x7fffffffu >> word_fraction << word_fraction;
    uint32_t magnitude = word & 0x7fffffffu, negative = f.has_sign ? word >> 31 : 0;
    uint32_t outward = (mode == roundTowardNegative) & negative;
    outward |= (mode == roundTowardPositive) & (negative ^ 1);
    outward |= mode == roundTiesToEven || mode == roundTiesToAway;
    uint32_t sign = negative << (f.exponent_bits + f.fraction_bits);
    _Bool low = magnitude < (uint32_t)lowest << word_fraction;

    uint32_t significand = magnitude, start = 0;
    int shift = cut;
    if (lowest > 1 || !f.has_subnormals) {
        int exponent = (int)(magnitude >> word_fraction);
        significand = (magnitude & ((1u << word_fraction) - 1)) | ((uint32_t)(exponent > 0) << word_fraction);
        int above = (exponent > 1 ? exponent : 1) - lowest;
        start = (uint32_t)(above > 0 ? above : 0) << f.fraction_bits;
        shift = above < 0 ? cut - above : cut;
        shift += low & !f.has_subnormals ? f.fraction_bits : 0;
        shift = shift < 31 ? shift : 31;
    }
    uint32_t rounded = significand;
    if (mode == roundTiesToEven)
        rounded += (1u << (shift - 1)) - 1 + ((significand >> shift) & 1);
    else if (mode == roundTiesToAway)
        rounded += 1u << (shift - 1);
    else if (mode != roundTowardZero)
        rounded += ((1u << shift) - 1) & -outward;
    rounded >>= shift;
    if (!f.has_subnormals)
        rounded <<= low ? f.fraction_bits : 0;
    rounded += start;
    if (!f.has_zero)
        rounded = low ? 0 : rounded - (1u << f.fraction_bits);
    else if (ftz) {
        /* 2**emin, or numbers that round up to it; below a word's own 2**emin the spacing is twice as large */
        int near = cut - (lowest == 1);
        uint32_t least = (uint32_t)lowest << word_fraction;
        if (mode == roundTiesToEven || mode == roundTiesToAway)
            least -= 1u << (near - 1);
        else if (mode != roundTowardZero)
            least -= ((1u << near) - 1) & -outward;
        rounded = select_32(magnitude < least, 0, rounded);
    }

    uint32_t beyond = f.too_large | (f.signed_too_large ? sign : 0);
    uint32_t exactly = f.has_infinity ? (f.largest + 1) | sign : beyond;
    uint32_t result = rounded | sign;
    if (f.has_infinity && f.signed_too_large && f.too_large == f.largest + 1) {
        uint32_t limit = f.largest + outward;
        result = (rounded < limit ? rounded : limit) | sign;
    } else {
        uint32_t cut_off = select_32(outward, beyond, f.largest | sign);
        result = select_32(rounded > f.largest, cut_off, result);
    }
    result = select_32(magnitude == word_infinity, exactly, result);
    return select_32(magnitude > word_infinity, f.nan, result);
}
