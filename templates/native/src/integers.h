/* Integers and fixed-point numbers of one type: one lane of bits in and out, as in integers.py.

   Included once per type, with FORMAT, WIDTH (8, 16, 32 or 64), HAS_SIGN and POINT, the places behind the point,
   defined. A number out of range becomes the nearest one in range, and a NaN 0. */

#define JOIN_(x, y) x##_##y
#define JOIN(x, y) JOIN_(x, y)
#define OF(name) JOIN(name, FORMAT)
#define SIZED_(sign, width) sign##width##_t
#define SIZED(sign, width) SIZED_(sign, width)

#define BITS SIZED(uint, WIDTH)
#define SIGNED SIZED(int, WIDTH)
#if HAS_SIGN
#define INTEGER SIGNED
#else
#define INTEGER BITS
#endif
#define SIGN_MASK ((BITS)((BITS)HAS_SIGN << (WIDTH - 1)))
#define MOST ((BITS)(SIGN_MASK - 1))
/* 2**(WIDTH - HAS_SIGN): the first number above the range. */
#define ABOVE (2.0 * ((BITS)1 << (WIDTH - HAS_SIGN - 1)))

/* `relation` is as in comparisons.h. */
INLINED _Bool OF(compare)(BITS x, BITS y, uint8_t relation) {
    INTEGER a = (INTEGER)x, b = (INTEGER)y;
    BITS less = (BITS)-(BITS)(a < b) & (BITS)-(BITS)(relation & 1);
    BITS equal = (BITS)-(BITS)(a == b) & (BITS)-(BITS)(relation >> 1 & 1);
    BITS greater = (BITS)-(BITS)(a > b) & (BITS)-(BITS)(relation >> 2 & 1);
    return (SIGNED)(BITS)(less | equal | greater) < 0;
}

/* Processors trap where there is no quotient, or it is out of range. */
INLINED BITS OF(divideIntegers)(BITS x, BITS y) {
    _Bool negates = HAS_SIGN && (BITS)(y + 1) == 0;
    INTEGER by = (INTEGER)(y == 0 || negates ? 1 : y);
    BITS quotient = (BITS)((INTEGER)x / by);
    return y == 0 ? 0 : negates ? (BITS)(0u - x) : quotient;
}

/* Few processors convert vectors to 64-bit integers. */
#ifdef __AVX512DQ__
#define SHIFTED 0
#else
#define SHIFTED (WIDTH == 64)
#endif

/* Integers from a float: rounded first, clamped to the range, and converted where C defines that. */
#define CONVERTING(name, number, suffix) \
    INLINED BITS OF(name)(number value, int mode, int ftz) { \
        value *= (number)(1 << POINT); \
        number whole = number##_to_integral(value, mode); \
        _Bool above = whole >= (number)ABOVE, below = whole < (HAS_SIGN ? -(number)ABOVE : 0); \
        whole = above | below | (whole != whole) ? 0 : whole; \
        BITS bits; \
        if (WIDTH < 32) \
            bits = (BITS)(int32_t)whole; \
        else if (SHIFTED) \
            bits = (BITS)integer_of(whole); \
        else if (HAS_SIGN) \
            bits = (BITS)(SIGNED)whole; \
        else { \
            /* Processors cast to signed integers. */ \
            number half = (number)(ABOVE / 2); \
            BITS upper = whole >= half; \
            bits = (BITS)(SIGNED)(whole - (upper ? half : 0)) ^ (BITS)(upper << (WIDTH - 1)); \
        } \
        return above ? MOST : below ? SIGN_MASK : bits; \
    }
CONVERTING(convert, double, )
CONVERTING(from_single, float, f)

/* From other integers in the same units */
INLINED BITS OF(congruent)(uint64_t x) { return (BITS)x; }
INLINED BITS OF(from_signed)(int64_t x) {
    if (!HAS_SIGN)
        return x < 0 ? 0 : WIDTH < 64 && x > (int64_t)(MOST & INT64_MAX) ? MOST : (BITS)x;
    if (WIDTH == 64)
        return (BITS)x;
    return x > (int64_t)(MOST & INT64_MAX) ? MOST : x < -(int64_t)(MOST & INT64_MAX) - 1 ? SIGN_MASK : (BITS)x;
}
INLINED BITS OF(from_unsigned)(uint64_t x) { return x > MOST ? MOST : (BITS)x; }

#if WIDTH < 64

#if __GNUC__ == 12 && !defined(__clang__)
/* GCC bug 106322, in version 12: in vectors it computes the upper half of a product of two int16_t as of two uint16_t.
   In this form it does not recognise int16_t. */
INLINED int64_t OF(whole)(BITS x) { return (int64_t)((uint64_t)(x ^ SIGN_MASK) - SIGN_MASK); }
#else
INLINED int64_t OF(whole)(BITS x) { return (INTEGER)x; }
#endif
INLINED double OF(number)(BITS x) { return (double)(INTEGER)x / (1 << POINT); }
#if WIDTH < 32
INLINED float OF(single)(BITS x) { return (float)(int32_t)(INTEGER)x / (1 << POINT); }
#else
/* Rounded to odd, with at least the 16 bits that a narrower format needs: a long number's lowest bits become one. */
INLINED float OF(odd)(BITS x) {
    BITS size = HAS_SIGN && (SIGNED)x < 0 ? 0 - x : x;
    _Bool is_long = size >> 24 != 0;
    BITS kept = select_32(is_long, size >> 8 | ((size & 0xff) != 0), size);
    /* times 256, by which it was divided */
    BITS bits = bits_of_float((float)(int32_t)kept) + select_32(is_long, 8u << 23, 0);
    return float_of_bits(HAS_SIGN ? bits | (x & SIGN_MASK) : bits) / (1 << POINT);
}
#endif

#else

INLINED INTEGER OF(whole)(BITS x) { return (INTEGER)x; }
/* Rounded once, in the processor's direction: the upper half and the lower half are exact. */
INLINED double OF(steered)(BITS x) {
    uint64_t upper = (x >> 32) ^ (HAS_SIGN ? 0x80000000u : 0);
    double high = double_of_bits(upper | UINT64_C(0x4530000000000000)) - (HAS_SIGN ? 0x1p84 + 0x1p63 : 0x1p84);
    double low = double_of_bits((x & 0xffffffffu) | UINT64_C(0x4330000000000000)) - 0x1p52;
    /* A zero may be -0 here. */
    return double_of_bits(select_64(x == 0, 0, bits_of_double(high + low)));
}
/* Rounded to odd, with at least the 42 bits that a narrower format needs: a long number's lowest bits become one. */
INLINED double OF(number)(BITS x) {
    BITS size = HAS_SIGN && (SIGNED)x < 0 ? 0 - x : x;
    BITS sticky = (BITS)((size & 0x7ff) != 0) << 11;
    size = select_64(size >> 53 != 0, (size & ~UINT64_C(0x7ff)) | sticky, size);
    return OF(steered)(HAS_SIGN && (SIGNED)x < 0 ? 0 - size : size);
}

#endif

#undef JOIN_
#undef JOIN
#undef OF
#undef SIZED_
#undef SIZED
#undef BITS
#undef SIGNED
#undef INTEGER
#undef SIGN_MASK
#undef MOST
#undef ABOVE
#undef CONVERTING
#undef SHIFTED
#undef FORMAT
#undef WIDTH
#undef HAS_SIGN
#undef POINT
