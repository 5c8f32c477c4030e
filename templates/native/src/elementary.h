/* Elementary functions as intervals of binary64 that contain the exact value, as in elementary.py: an operation rounds
   both ends, and a lane whose ends round to different bits is left undecided. Operands are values of formats with at
   most 24 bits of precision and 8 of exponent. The processor must round to nearest.

   The approximations are sums of a series, with errors of some units in the last place of binary64: each step adds at
   most half a unit, and the omitted terms are below 2**-52. MARGIN is larger than the total error by a factor of eight.
   Both ends are exact for zeros, infinities and NaNs. */

#define MARGIN 0x1p-47
#define PI 0x1.921fb54442d18p+1
#define INFINITE double_of_bits(UINT64_C(0x7ff0000000000000))
#define NOT_A_NUMBER double_of_bits(UINT64_C(0x7ff8000000000000))

typedef struct { double low, high; } interval;

/* x y + z, rounded once where the processor has the operation: it is quicker, and no less exact. */
#if defined __FMA__ || defined __ARM_FEATURE_FMA
INLINED double sum_of(double x, double y, double z) { return __builtin_fma(x, y, z); }
#else
INLINED double sum_of(double x, double y, double z) { return x * y + z; }
#endif

INLINED double select_double(_Bool condition, double x, double y) {
    return double_of_bits(select_64(condition, bits_of_double(x), bits_of_double(y)));
}

/* Added and subtracted, it rounds to the nearest integer, for magnitudes below 2**51. The lowest bits of the sum's
   pattern are that integer. */
#define TO_INTEGER 0x1.8p52
INLINED double power_of_two(double n) { return double_of_bits((bits_of_double(n + TO_INTEGER) + 1023) << 52); }

INLINED interval around(double value, double margin) {
    interval found = {value - margin, value + margin};
    return found;
}
INLINED interval where(_Bool special, double exactly, interval otherwise) {
    interval found = {select_double(special, exactly, otherwise.low), select_double(special, exactly, otherwise.high)};
    return found;
}

/* exp(x) - 1 for |x| up to half of ln 2 */
INLINED double small_expm1(double x) {
    double sum = 1.0 / 6227020800;
    sum = sum_of(sum, x, 1.0 / 479001600);
    sum = sum_of(sum, x, 1.0 / 39916800);
    sum = sum_of(sum, x, 1.0 / 3628800);
    sum = sum_of(sum, x, 1.0 / 362880);
    sum = sum_of(sum, x, 1.0 / 40320);
    sum = sum_of(sum, x, 1.0 / 5040);
    sum = sum_of(sum, x, 1.0 / 720);
    sum = sum_of(sum, x, 1.0 / 120);
    sum = sum_of(sum, x, 1.0 / 24);
    sum = sum_of(sum, x, 1.0 / 6);
    sum = sum_of(sum, x, 0.5);
    return x + sum * x * x;
}

#define LN2 0x1.62e42fefa39efp-1
/* ln 2 as two numbers, the first with 33 bits, so that its products with small integers are exact */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33

INLINED interval between_exp2(double x) {
    /* Results that over- or underflow do so at +-256 too. */
    double size = select_double(x > 256, 256, select_double(x < -256, -256, x));
    double whole = (size + TO_INTEGER) - TO_INTEGER;
    double value = (1 + small_expm1((size - whole) * LN2)) * power_of_two(whole);
    interval found = where(x == 0, 1, around(value, value * MARGIN));
    found = where(x == INFINITE, INFINITE, found);
    found = where(x == -INFINITE, 0, found);
    return where(x != x, NOT_A_NUMBER, found);
}

INLINED interval between_log2(double x) {
    /* x is 2**whole times a number between the roots of 1/2 and 2. */
    uint64_t above = bits_of_double(x) - UINT64_C(0x3fe6a09e667f3bcd);
    double whole = double_of_bits((above + (UINT64_C(1023) << 52)) >> 52 | UINT64_C(0x4330000000000000)) - 0x1p52 - 1023;
    double part = double_of_bits((above & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
    double t = (part - 1) / (part + 1), square = t * t;
    double sum = 1.0 / 21;
    sum = sum_of(sum, square, 1.0 / 19);
    sum = sum_of(sum, square, 1.0 / 17);
    sum = sum_of(sum, square, 1.0 / 15);
    sum = sum_of(sum, square, 1.0 / 13);
    sum = sum_of(sum, square, 1.0 / 11);
    sum = sum_of(sum, square, 1.0 / 9);
    sum = sum_of(sum, square, 1.0 / 7);
    sum = sum_of(sum, square, 1.0 / 5);
    sum = sum_of(sum, square, 1.0 / 3);
    double value = whole + 2 * (t + t * square * sum) * (1 / LN2);
    interval found = where(x == INFINITE, INFINITE, around(value, value * MARGIN));
    found = where(x == 0, -INFINITE, found);
    return where(!(x >= 0), NOT_A_NUMBER, found);
}

/* tanh is (e - 1) / (e + 1) with e = exp(2 |x|). e is 2**n exp(2 h) for some |h| below ln 2 / 4, and exp(2 h) is
   (q + p) / (q - p) for a quotient p / q equal to tanh(h), so that one division is enough. The quotient is the sixth
   convergent of Lambert's continued fraction, with a relative error of at most 2**-60. Zero, infinity and NaN give the
   right results. */
INLINED interval between_tanh(double x) {
    double size = __builtin_fabs(x);
    size = select_double(size > 20, 20, size);
    double whole = (size * (2 / LN2) + TO_INTEGER) - TO_INTEGER;
    double rest = (size - whole * (LN2_HIGH / 2)) - whole * (LN2_LOW / 2), square = rest * rest;
    double p = rest * sum_of(square, sum_of(square, 21, 1260), 10395);
    double q = sum_of(square, sum_of(square, square + 210, 4725), 10395);
    double power = power_of_two(whole), less = power - 1, more = power + 1;
    double value = __builtin_copysign(sum_of(less, q, more * p) / sum_of(more, q, less * p), x);
    interval found = {value * (1 - MARGIN), value * (1 + MARGIN)};
    return found;
}

INLINED interval between_rSqrt(double x) {
    double value = 1 / __builtin_sqrt(x);
    interval found = where(x == INFINITE, 0, around(value, value * MARGIN));
    found = where(x == 0, 1 / x, found);
    return where(!(x >= 0), NOT_A_NUMBER, found);
}

/* |x| in turns of 2**-64, without whole turns, for finite x of at least 1: the significand, an integer of 24 bits, times
   the size of its unit. */
INLINED uint64_t turns(float size) {
    uint32_t bits = bits_of_float(size);
    /* 64 bits like the table's elements: only then does gcc gather */
    int64_t exponent = ((bits >> 23) - 127) & 127;
    uint64_t significand = (bits & 0x7fffff) | 0x800000;
    return significand * TURNS_HIGH[exponent] + (significand * TURNS_LOW[exponent] >> 32);
}

/* |x| in half turns, without whole turns: between -1 and 1 */
INLINED double half_turns(double size) {
    uint64_t turned = turns((float)size);
    /* Few processors convert vectors of 64-bit integers to floats: the upper half and the lower half are exact. */
    double upper = double_of_bits((turned >> 32 ^ 0x80000000u) | UINT64_C(0x4530000000000000)) - (0x1p84 + 0x1p63);
    double lower = double_of_bits((turned & 0xffffffffu) | UINT64_C(0x4330000000000000)) - 0x1p52;
    double reduced = (upper + lower) * 0x1p-63;
    return select_double(size < 1, size * (1 / PI), reduced);
}

/* for an angle up to a quarter of a turn, in radians */
INLINED double small_sin(double angle) {
    double square = angle * angle;
    double sum = -1.0 / 25852016738884976640000.0;
    sum = sum_of(sum, square, 1.0 / 51090942171709440000.0);
    sum = sum_of(sum, square, -1.0 / 121645100408832000);
    sum = sum_of(sum, square, 1.0 / 355687428096000);
    sum = sum_of(sum, square, -1.0 / 1307674368000);
    sum = sum_of(sum, square, 1.0 / 6227020800);
    sum = sum_of(sum, square, -1.0 / 39916800);
    sum = sum_of(sum, square, 1.0 / 362880);
    sum = sum_of(sum, square, -1.0 / 5040);
    sum = sum_of(sum, square, 1.0 / 120);
    sum = sum_of(sum, square, -1.0 / 6);
    return angle + sum * square * angle;
}

/* From 1 on, small results come from cancellation, and their error is that of the angle. */
INLINED interval between_sin(double x) {
    double size = select_double(x < 0, -x, x);
    double turned = half_turns(size);
    double part = select_double(turned < 0, -turned, turned);
    part = PI * select_double(part > 0.5, 1 - part, part);
    double value = small_sin(select_double(size < 1, size, part));
    value = select_double((x < 0) != (turned < 0), -value, value);
    interval found = around(value, select_double(size < 1, size, 1) * MARGIN);
    found = where(x == 0, x, found);
    return where(!(size < INFINITE), NOT_A_NUMBER, found);
}

INLINED interval between_cos(double x) {
    double size = select_double(x < 0, -x, x);
    double turned = half_turns(size);
    double part = select_double(turned < 0, -turned, turned);
    interval found = where(x == 0, 1, around(small_sin(PI * (0.5 - part)), MARGIN));
    return where(!(size < INFINITE), NOT_A_NUMBER, found);
}

#undef MARGIN
#undef PI
#undef LN2
#undef LN2_HIGH
#undef LN2_LOW
#undef INFINITE
#undef NOT_A_NUMBER
#undef TO_INTEGER
