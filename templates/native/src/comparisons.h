/* Comparisons (5.11), minimum and maximum (9.6) for one format like those of IEEE 754: a part of operations.h, which
   describes FORMAT and the masks. */

/* Return x bounded by +0 and `most`. A NaN must be the canonical one, the largest of signed integers: it becomes +0, or
   stays where `most` is the NaN. */
INLINED BITS OF(clamped)(BITS x, BITS most) {
    BITS around = most != NAN_BITS;
    SIGNED key = (SIGNED)(BITS)(x + around), least = (SIGNED)around, high = (SIGNED)(BITS)(most + around);
    key = key > least ? key : least;
    return (BITS)((BITS)(key < high ? key : high) - around);
}

/* Minimum and maximum */

#if NATIVE
/* Equal numbers have the same bits, but for zeros. Of a NaN and a number the result is the second operand. */
INLINED BITS OF(above)(BITS x, BITS y) {
    NUMBER a = NUMBER_OF_BITS(x), b = NUMBER_OF_BITS(y);
    return SELECT(a > b, x, SELECT(a == b, x & y, y));
}
INLINED BITS OF(below)(BITS x, BITS y) {
    NUMBER a = NUMBER_OF_BITS(x), b = NUMBER_OF_BITS(y);
    return SELECT(a < b, x, SELECT(a == b, x | y, y));
}
INLINED BITS OF(of_numbers)(BITS x, BITS y, BITS chosen) {
    return SELECT(__builtin_isunordered(NUMBER_OF_BITS(x), NUMBER_OF_BITS(y)), NAN_BITS, chosen);
}
INLINED BITS OF(of_number)(BITS x, BITS y, BITS chosen) {
    BITS found = SELECT(OF(isNaN)(y), x, chosen);
    return SELECT(OF(isNaN)(found), NAN_BITS, found);
}
INLINED BITS OF(maximum)(BITS x, BITS y) { return OF(of_numbers)(x, y, OF(above)(x, y)); }
INLINED BITS OF(minimum)(BITS x, BITS y) { return OF(of_numbers)(x, y, OF(below)(x, y)); }
INLINED BITS OF(maximumNumber)(BITS x, BITS y) { return OF(of_number)(x, y, OF(above)(x, y)); }
INLINED BITS OF(minimumNumber)(BITS x, BITS y) { return OF(of_number)(x, y, OF(below)(x, y)); }
#else
/* Signed integers in the order of the values, -0 below +0; its own inverse. */
INLINED SIGNED OF(order)(BITS x) { return (SIGNED)(((SIGNED)x >> (WIDTH - 1)) & MAGNITUDE_MASK) ^ (SIGNED)x; }

/* `first` and `last` are orders of no number, one of which represents a NaN. */
#define FIRST ((SIGNED)SIGN_MASK)
#define LAST ((SIGNED)MAGNITUDE_MASK)

INLINED SIGNED OF(marked)(BITS x, SIGNED nan) { return (SIGNED)SELECT(OF(isNaN)(x), (BITS)nan, (BITS)OF(order)(x)); }
INLINED BITS OF(chosen)(SIGNED key, SIGNED nan) {
    return SELECT(key == nan, NAN_BITS, (BITS)OF(order)((BITS)key));
}
INLINED BITS OF(larger)(BITS x, BITS y, SIGNED nan) {
    SIGNED a = OF(marked)(x, nan), b = OF(marked)(y, nan);
    return OF(chosen)(a > b ? a : b, nan);
}
INLINED BITS OF(smaller)(BITS x, BITS y, SIGNED nan) {
    SIGNED a = OF(marked)(x, nan), b = OF(marked)(y, nan);
    return OF(chosen)(a < b ? a : b, nan);
}
INLINED BITS OF(maximum)(BITS x, BITS y) { return OF(larger)(x, y, LAST); }
INLINED BITS OF(minimum)(BITS x, BITS y) { return OF(smaller)(x, y, FIRST); }
INLINED BITS OF(maximumNumber)(BITS x, BITS y) { return OF(larger)(x, y, FIRST); }
INLINED BITS OF(minimumNumber)(BITS x, BITS y) { return OF(smaller)(x, y, LAST); }
#endif

#if NATIVE
/* between two nonzero numbers */
INLINED BITS OF(within)(BITS x, BITS low, BITS high) {
    NUMBER value = NUMBER_OF_BITS(x);
    BITS found = SELECT(value > NUMBER_OF_BITS(high), high, SELECT(value < NUMBER_OF_BITS(low), low, x));
    return SELECT(OF(isNaN)(x), NAN_BITS, found);
}
#endif

/* Comparisons: a NaN is unordered with everything. `relation` is the sum of the requested relations: 1 less, 2 equal, 4
   greater, 8 unordered, which means none of the others. */

INLINED _Bool OF(holds)(_Bool less, _Bool equal, _Bool greater, uint8_t relation) {
    /* Masks whose sign is the result: compilers keep a number that is 0 or 1 apart from the vectors of operands. */
    BITS unordered = (BITS)-(BITS)(relation >> 3 & 1), of_less = (BITS)-(BITS)(relation & 1) ^ unordered;
    BITS of_equal = (BITS)-(BITS)(relation >> 1 & 1) ^ unordered, of_greater = (BITS)-(BITS)(relation >> 2 & 1) ^ unordered;
    BITS found = SELECT(less, of_less, 0) | SELECT(equal, of_equal, 0) | SELECT(greater, of_greater, 0);
    return (SIGNED)(BITS)(found ^ unordered) < 0;
}
#if NATIVE
INLINED _Bool OF(compare)(BITS x, BITS y, uint8_t relation) {
    NUMBER a = NUMBER_OF_BITS(x), b = NUMBER_OF_BITS(y);
    return OF(holds)(a < b, a == b, a > b, relation);
}
#else
/* Signed integers in the order of the values, with both zeros equal. */
INLINED SIGNED OF(value_order)(BITS x) {
    SIGNED sign = (SIGNED)x >> (WIDTH - 1);
    return (SIGNED)(((SIGNED)OF(magnitude)(x) ^ sign) - sign);
}
INLINED _Bool OF(compare)(BITS x, BITS y, uint8_t relation) {
    SIGNED a = OF(value_order)(x), b = OF(value_order)(y);
    _Bool ordered = !(OF(isNaN)(x) | OF(isNaN)(y));
    return OF(holds)(ordered & (a < b), ordered & (a == b), ordered & (a > b), relation);
}
#endif
#undef FIRST
#undef LAST
