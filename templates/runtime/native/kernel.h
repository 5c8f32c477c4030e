/* Functions of one lane, and kernels: such functions applied to arrays.

   LANE(name, result, direction, parameters) heads a function with the type of its result, the direction in which the
   processor must round for it (anyDirection: it makes no difference), and its operands. A second result goes to a pointer behind them. KERNEL(name, symbol,
   parameters, arguments, statement) makes a kernel of it, `symbol_run(n, arrays)`, which does the statement, that calls
   the function for one or several lanes, for each i below n; loops.py writes it. The arrays are aligned; a result may be
   one of the operands but overlap none otherwise. The processor's rounding direction, its exception flags and whatever
   else the caller has set there come back as they were.

   DECIDING heads a function that may leave a lane undecided, and says so in `undecided`. What DECIDING_KERNEL makes of
   it is `symbol_decide(n, arrays, lanes)`, which returns how many those are and lists them in `lanes`, an array of n. */

#include <fenv.h>
#include <stddef.h>

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

INLINED void steer(int direction, fenv_t *kept) {
    fegetenv(kept);
    fesetenv(FE_DFL_ENV);
    if (direction == roundTowardZero)
        fesetround(FE_TOWARDZERO);
    else if (direction == roundTowardNegative)
        fesetround(FE_DOWNWARD);
    else if (direction == roundTowardPositive)
        fesetround(FE_UPWARD);
}

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
    EXPORTED void symbol##_run(size_t n, PARAMETERS parameters) { \
        fenv_t kept; \
        steer(name##_direction, &kept); \
        symbol##_each(n, PARAMETERS arguments); \
        fesetenv(&kept); \
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
        fenv_t kept; \
        steer(name##_direction, &kept); \
        size_t found = symbol##_each(n, PARAMETERS arguments, lanes); \
        fesetenv(&kept); \
        return found; \
    }
#define BLOCK 1024
#define PARAMETERS(...) __VA_ARGS__

/* What a head keeps for the kernel, should one be made, is the direction. */
#define LANE(name, result, direction, ...) \
    enum { name##_direction = direction }; \
    INLINED result name(__VA_ARGS__)
#define DECIDING(name, result, direction, ...) \
    enum { name##_direction = direction }; \
    INLINED result name(__VA_ARGS__, _Bool *undecided)
