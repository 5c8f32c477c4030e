/* The special function unit on one operand of binary32, as in ../unit.py; ../units.py describes the fields, which are
   arguments here. They are constants in all calls, so that nothing remains of steps that a unit does not have.

   Sums are exact in binary64: units for which that is not certain have no C. */

#include <math.h>

/* If one unit's result is another's operand, functions that are not INLINED are too long for vectors. */

typedef struct {
    int32_t place, scale;
    uint32_t sign;
} Reduced;

/* How an argument is reduced */

INLINED Reduced reduced_by_significand(uint32_t x, int bits, int octaves, int odd) {
    int32_t above = (int32_t)(x & 0x7fffffffu) - (127 << 23);
    Reduced r = {above >> (23 - bits) & ((1 << (bits + octaves)) - 1), above >> (23 + octaves), odd ? x & 0x80000000u : 0};
    return r;
}

INLINED Reduced reduced_by_octaves(uint32_t x, int bits, int first, int last, int odd) {
    int32_t above = (int32_t)(x & 0x7fffffffu) - (127 << 23), exponent = above >> 23;
    int32_t octave = (exponent < first ? first : exponent > last ? last : exponent) - first;
    Reduced r = {octave << bits | (above >> (23 - bits) & ((1 << bits) - 1)), exponent, odd ? x & 0x80000000u : 0};
    return r;
}

/* A finite number: others have results of their own. */
INLINED double unit_finite(uint32_t magnitude) {
    return float_of_bits(select_32(magnitude < 0x7f800000u, magnitude, 0x7f7fffffu));
}

/* `negative` is 0 for floor, 1 for negate, 2 for complement; `bits` is at most 23. */
INLINED Reduced reduced_by_fixed_point(uint32_t x, int bits, int negative) {
    double unit = (double)(1 << bits), size = unit_finite(x & 0x7fffffffu);
    /* Numbers further from zero are beyond every exponent. */
    size = size < 255 ? size * unit : 255 * unit;
    int32_t fixed = (int32_t)size, ones = (1 << bits) - 1, minus = -(int32_t)(x >> 31);
    int32_t less = negative == 0 ? fixed != size : negative == 2 ? (fixed & ones) != 0 : 0;
    fixed = (fixed ^ minus) - minus + (minus & -less);
    Reduced r = {fixed & ones, fixed >> bits, 0};
    return r;
}

INLINED Reduced reduced_by_turns(uint32_t x, double factor, int kept, int bits, int phase, int complement, int odd) {
    uint32_t size = x & 0x7fffffffu;
    double turns = unit_finite(size) * factor;
    if (kept) {
        uint32_t binade = size & 0x7f800000u;
        double last = unit_finite(select_32(binade == 0, 0x00800000u, binade)) / (double)(UINT64_C(1) << kept);
        turns = floor(turns / last) * last;
    }
    int32_t fixed = (int32_t)((turns - floor(turns)) * (double)(1 << bits)), ones = (1 << (bits - 2)) - 1;
    int32_t quarter = (fixed >> (bits - 2)) + phase, place = fixed & ones;
    int32_t mirrored = complement ? ones - place : ones + 1 - place;
    uint32_t sign = (uint32_t)(quarter & 2) << 30;
    place = (int32_t)select_32(quarter & 1, (uint32_t)mirrored, (uint32_t)place);
    Reduced r = {place, 0, sign ^ (odd ? x & 0x80000000u : 0)};
    return r;
}

/* The sum */

/* The loss of bit i from omitting columns: bit i times itself is in column 2 i; bit i times a lower bit j is in column
   i + j + 1. */
#define LOST(i) \
    if ((i) >= (drop + 1) / 2 && (i) < drop - 1 && (i) < local) \
        lost += (uint32_t)((int32_t)(x << (31 - (i))) >> 31) & x << ((i) + 1) & below;
#define LOST4(i) LOST(i) LOST((i) + 1) LOST((i) + 2) LOST((i) + 3)

INLINED double unit_square(uint32_t x, int local, int unseen, int drop, int columns) {
    x = x >> unseen << unseen;
    uint32_t lost = 0, below = (uint32_t)(((uint64_t)1 << drop) - 1);
    if (columns) {
        /* The lower half of those bits is lost completely. */
        uint32_t low = x & ((1u << (drop + 1) / 2) - 1);
        lost = low * low;
        /* Unrolled by hand: no compiler unrolls it and vectorises the code around it. */
        LOST4(0) LOST4(4) LOST4(8) LOST4(12) LOST4(16) LOST4(20) LOST(24) LOST(25)
    }
    /* Half as wide is twice as fast. */
    if (2 * local <= 32 && drop < 32 && 2 * local - drop < 32)
        return (int32_t)((x * x - lost) >> drop);
    return (double)(int64_t)(((uint64_t)x * x - lost) >> drop);
}

/* A segment's coefficients are in one word, as look-ups take longest: C0 in the upper half, C2 in the last `narrow`
   bits, C1 between them. `unit`, `first` and `second` are their units. */
INLINED double unit_sum(
    int32_t place, int local, int last, int unseen, int drop, int columns, const uint64_t *words, int narrow,
    double bias, double unit, double first, double second
) {
    int32_t segment = place >> local;
    /* A place that is a whole quarter is at the end of the last segment. */
    segment = segment < last ? segment : last;
    uint32_t x = (uint32_t)(place - (segment << local)), low = (uint32_t)words[segment];
    double c0 = (int32_t)(uint32_t)(words[segment] >> 32);
    double c1 = (int32_t)low >> narrow, c2 = (int32_t)(low << (32 - narrow)) >> (32 - narrow);
    return c0 * unit + bias + c1 * ((int32_t)x * first) + c2 * (unit_square(x, local, unseen, drop, columns) * second);
}

/* A place with a sum of its own. */
INLINED double unit_own(int here, double own, double total) {
    return double_of_bits(select_64(here, bits_of_double(own), bits_of_double(total)));
}

/* The result: the sum has `out` bits more than `point` after the point. */
INLINED uint32_t unit_result(
    double total, int32_t scale, double unit, int toward_zero, int positive, int point, int precision
) {
    double value = toward_zero ? trunc(total * unit) : floor(total * unit);
    uint64_t bits = bits_of_double(value);
    uint32_t sign = positive ? 0 : (uint32_t)(value < 0) << 31, fraction = (uint32_t)(bits >> 29) & 0x7fffffu;
    int32_t biased = (int32_t)(bits >> 52 & 0x7ff) - 1023 + 127 - point + scale;
    uint32_t magnitude = (uint32_t)biased << 23 | (fraction >> (24 - precision) << (24 - precision));
    magnitude = select_32(biased > 254, 0x7f800000u, magnitude);
    return sign | select_32(positive ? biased < 1 : (biased < 1) | (value == 0), 0, magnitude);
}

INLINED uint32_t unit_special(
    uint32_t x, uint32_t result, uint32_t zero, uint32_t negative_zero, uint32_t infinity, uint32_t negative_infinity,
    uint32_t nan
) {
    uint32_t magnitude = x & 0x7fffffffu;
    result = select_32(magnitude < 0x00800000u, select_32(x >> 31, negative_zero, zero), result);
    result = select_32(magnitude >= 0x7f800000u, select_32(x >> 31, negative_infinity, infinity), result);
    return select_32(magnitude > 0x7f800000u, nan, result);
}
