/* Functions of one lane, and kernels: such functions applied to arrays.

   LANE(name, result, direction, parameters) heads a function with the type of its result, the direction in which the
   processor must round for it (anyDirection: it makes no difference), and its operands. A second result goes to a pointer behind them. KERNEL(name, symbol,
   parameters, arguments, statement) makes a kernel of it, `symbol_run(n, arrays)`, which does the statement, that calls
   the function for one or several lanes, for each i below n; loops.py writes it. The arrays are aligned; a result may be
   one of the operands but overlap none otherwise. The processor's rounding direction, its exception flags and whatever
   else the caller has set there come back as they were.

   DIRECTLY(name, result, parameters) heads a function that computes the same as the one of that name before it, in
   binary32 alone: on subnormal numbers some processors take a hundred times as long for it. EASED_KERNEL chooses between
   them, piece by piece: `ordinary` says of element i whether its operands are such that nothing becomes subnormal.

   DECIDING heads a function that may leave a lane undecided, and says so in `undecided`. What DECIDING_KERNEL makes of
   it is `symbol_decide(n, arrays, lanes)`, which returns how many those are and lists them in `lanes`, an array of n. */

#include <fenv.h>
#include <stddef.h>
#include <string.h>

#ifdef __clang__
#define INDEPENDENTLY _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENTLY _Pragma("GCC ivdep")
#else
#define INDEPENDENTLY
#endif

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#if defined(__x86_64__) && defined(__FMA__) && defined(__SSE4_1__)

/* All that is computed is computed by the unit that this register steers. */
#include <immintrin.h>

typedef unsigned Kept;

INLINED void steer(int direction, Kept *kept) {
    *kept = _mm_getcsr();
    unsigned bits = 0x1F80;
    if (direction == roundTowardZero)
        bits |= 0x6000;
    else if (direction == roundTowardNegative)
        bits |= 0x2000;
    else if (direction == roundTowardPositive)
        bits |= 0x4000;
    _mm_setcsr(bits);
}

INLINED void restore(const Kept *kept) { _mm_setcsr(*kept); }

#else

typedef fenv_t Kept;

INLINED void steer(int direction, Kept *kept) {
    fegetenv(kept);
    fesetenv(FE_DFL_ENV);
    if (direction == roundTowardZero)
        fesetround(FE_TOWARDZERO);
    else if (direction == roundTowardNegative)
        fesetround(FE_DOWNWARD);
    else if (direction == roundTowardPositive)
        fesetround(FE_UPWARD);
}

INLINED void restore(const Kept *kept) { fesetenv(kept); }

#endif

/* How many elements of an array stand before the first that begins a line of the cache: vectors that lie across two
   lines are read twice as slowly. Of a short array it is none. */
INLINED size_t before_line(const void *array, size_t size, size_t n) {
    return n < 4096 ? 0 : (-(uintptr_t)array & 63) / size;
}
#define FIRST_OF(first, ...) (first)

/* The loop is a function of its own, so that nothing of it can move out of the lines that steer it. */
#define KERNEL(name, symbol, parameters, arguments, ...) \
    static __attribute__((noinline)) void symbol##_each(size_t n, PARAMETERS parameters) { \
        size_t start = 0, end = before_line(FIRST_OF arguments, sizeof *FIRST_OF arguments, n); \
        for (;;) { \
            INDEPENDENTLY for (size_t i = start; i < end; i++) { __VA_ARGS__ } \
            if (end == n) break; \
            start = end; \
            end = n; \
        } \
    } \
    KERNEL_OF(name, symbol, parameters, arguments)
#define KERNEL_OF(name, symbol, parameters, arguments) \
    EXPORTED void symbol##_run(size_t n, PARAMETERS parameters) { \
        Kept kept; \
        steer(name##_direction, &kept); \
        symbol##_each(n, PARAMETERS arguments); \
        restore(&kept); \
    }

#if DIRECT
#define EASED_KERNEL(name, symbol, parameters, arguments, ordinary, directly, statement) \
    KERNEL(name, symbol, parameters, arguments, PARAMETERS statement)
#else
#define EASED_KERNEL(name, symbol, parameters, arguments, ordinary, directly, statement) \
    static __attribute__((noinline)) void symbol##_each(size_t n, PARAMETERS parameters) { \
        size_t start = 0, end = before_line(FIRST_OF arguments, sizeof *FIRST_OF arguments, n); \
        for (; start < n; start = end, end = n - start < EASED ? n : start + EASED) { \
            uint32_t others = 0; \
            size_t some = end - start < EASED / 8 ? end : start + EASED / 8; \
            INDEPENDENTLY for (size_t i = start; i < some; i++) others |= !(ordinary); \
            INDEPENDENTLY for (size_t i = others ? end : some; i < end; i++) others |= !(ordinary); \
            if (others) { \
                INDEPENDENTLY for (size_t i = start; i < end; i++) { PARAMETERS statement } \
            } else { \
                INDEPENDENTLY for (size_t i = start; i < end; i++) { PARAMETERS directly } \
            } \
        } \
    } \
    KERNEL_OF(name, symbol, parameters, arguments)
#endif
#define EASED 256

/* Is a binary32 zero or from 2**-63 to below 2**63 in size? Products and quotients of two such numbers are normal. */
INLINED _Bool is_ordinary(uint32_t x) {
    uint32_t magnitude = x << 1;
    return (magnitude - (UINT32_C(64) << 24) < UINT32_C(126) << 24) | (magnitude == 0);
}

/* A part of a larger loop, which whoever calls it steers; and an end of a piece of such a loop. */
#define PART(symbol, parameters, ...) \
    static __attribute__((noinline)) void symbol##_each(size_t n, PARAMETERS parameters) { \
        INDEPENDENTLY for (size_t i = 0; i < n; i++) { __VA_ARGS__ } \
    }

/* In pieces, so that the marks stay in the cache. */
#define DECIDING_KERNEL(name, symbol, parameters, arguments, ...) \
    static __attribute__((noinline)) size_t symbol##_each(size_t n, PARAMETERS parameters, size_t *lanes) { \
        size_t found = 0; \
        for (size_t start = 0; start < n; start += BLOCK) { \
            size_t end = n - start < BLOCK ? n : start + BLOCK; \
            uint8_t marks[BLOCK], any = 0; \
            INDEPENDENTLY for (size_t i = start; i < end; i++) { \
                _Bool undecided = 0; \
                __VA_ARGS__ \
                marks[i - start] = undecided; \
                any |= undecided; \
            } \
            for (size_t i = start; any && i < end; i++) \
                if (marks[i - start]) lanes[found++] = i; \
        } \
        return found; \
    } \
    EXPORTED size_t symbol##_decide(size_t n, PARAMETERS parameters, size_t *lanes) { \
        Kept kept; \
        steer(name##_direction, &kept); \
        size_t found = symbol##_each(n, PARAMETERS arguments, lanes); \
        restore(&kept); \
        return found; \
    }
#define BLOCK 1024
#define PARAMETERS(...) __VA_ARGS__

/* Of elements that do not stand side by side so many are gathered at a time. */
#define GATHERED 256

INLINED _Bool are_side_by_side(int count, const ptrdiff_t *steps, const ptrdiff_t *widths) {
    for (int k = 0; k < count; k++)
        if (steps[k] != widths[k]) return 0;
    return 1;
}

static __attribute__((noinline, unused)) void copy(
    char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t width, ptrdiff_t n) {
    /* Of a size that the compiler knows a copy is one instruction. */
    if (width == 1)
        for (; n; n--, to += to_step, from += from_step) *to = *from;
    else if (width == 2)
        for (; n; n--, to += to_step, from += from_step) memcpy(to, from, 2);
    else if (width == 4)
        for (; n; n--, to += to_step, from += from_step) memcpy(to, from, 4);
    else
        for (; n; n--, to += to_step, from += from_step) memcpy(to, from, 8);
}

/* The same kernels as NumPy's ufuncs have them: `symbol_loop(arrays, sizes, steps)` of arrays whose elements stand so
   many bytes apart. The first `sources` of `count` arrays are operands, an element of each has a width, and `at` points
   to what is done at a time. */
#define LOOP(name, symbol, count, sources, lanes, arguments, ...) \
    EXPORTED void symbol##_loop(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *unused) { \
        AT_A_TIME(count, sources, PTRDIFF_MAX, __VA_ARGS__) \
        Kept kept; \
        (void)unused; \
        steer(name##_direction, &kept); \
        EACH_TIME(count, sources, symbol##_each(size * lanes, PARAMETERS arguments);) \
        restore(&kept); \
    }

/* `symbol_undecided` grows by the number of lanes that are left undecided: where it stays as it was there are none. */
#define DECIDING_LOOP(name, symbol, count, sources, lanes, arguments, ...) \
    EXPORTED size_t symbol##_undecided; \
    EXPORTED void symbol##_loop(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *unused) { \
        AT_A_TIME(count, sources, BLOCK, __VA_ARGS__) \
        size_t undecided[BLOCK], found = 0; \
        Kept kept; \
        (void)unused; \
        steer(name##_direction, &kept); \
        EACH_TIME(count, sources, found += symbol##_each(size, PARAMETERS arguments, undecided);) \
        restore(&kept); \
        /* Others may be at it, too. */ \
        if (found) __atomic_fetch_add(&symbol##_undecided, found, __ATOMIC_RELAXED); \
    }

#define AT_A_TIME(count, sources, most, ...) \
    static const ptrdiff_t widths[] = {__VA_ARGS__}; \
    _Alignas(8) char room[count][8 * GATHERED]; \
    char *at[count]; \
    _Bool whole = are_side_by_side(count, steps, widths); \
    ptrdiff_t n = sizes[0], most_at_a_time = whole ? most : GATHERED;

#define EACH_TIME(count, sources, ...) \
    for (ptrdiff_t start = 0, size; start < n; start += size) { \
        size = n - start < most_at_a_time ? n - start : most_at_a_time; \
        for (int k = 0; k < count; k++) { \
            at[k] = whole ? arrays[k] + start * widths[k] : room[k]; \
            if (!whole && k < sources) \
                copy(room[k], widths[k], arrays[k] + start * steps[k], steps[k], widths[k], size); \
        } \
        __VA_ARGS__ \
        for (int k = sources; !whole && k < count; k++) \
            copy(arrays[k] + start * steps[k], steps[k], room[k], widths[k], widths[k], size); \
    }

/* What a head keeps for the kernel, should one be made, is the direction. */
#define LANE(name, result, direction, ...) \
    enum { name##_direction = direction }; \
    INLINED result name(__VA_ARGS__)
#define DIRECTLY(name, result, ...) INLINED result name##_directly(__VA_ARGS__)
#define DECIDING(name, result, direction, ...) \
    enum { name##_direction = direction }; \
    INLINED result name(__VA_ARGS__, _Bool *undecided)
