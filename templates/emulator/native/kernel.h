/* A kernel: a function of one lane, applied to arrays.

   KERNEL_1, KERNEL_2 and KERNEL_3 (by the number of operands) export `name_run(n, a, ..., d)`: d[i] = name(a[i], ...)
   for i below n. The arrays are aligned; d may be one of the operands but overlap none otherwise. The processor's
   rounding direction, its exception flags and whatever else the caller has set there come back as they were. */

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

static inline void steer(int direction, fenv_t *kept) {
    fegetenv(kept);
    fesetenv(FE_DFL_ENV);
    if (direction == roundTowardZero)
        fesetround(FE_TOWARDZERO);
    else if (direction == roundTowardNegative)
        fesetround(FE_DOWNWARD);
    else if (direction == roundTowardPositive)
        fesetround(FE_UPWARD);
}

/* The loop is a function of its own, so that nothing of it can move out of the lines that steer it. */
#define KERNEL(name, result, direction, lane, operands, arrays)                    \
    static __attribute__((noinline)) void name##_each(size_t n, PARAMETERS operands, result *d) { \
        INDEPENDENTLY for (size_t i = 0; i < n; i++) d[i] = name lane;             \
    }                                                                               \
    EXPORTED void name##_run(size_t n, PARAMETERS operands, result *d) {            \
        fenv_t kept;                                                                \
        steer(direction, &kept);                                                    \
        name##_each(n, PARAMETERS arrays, d);                                       \
        fesetenv(&kept);                                                            \
    }
#define PARAMETERS(...) __VA_ARGS__

#define KERNEL_1(name, operand, result, direction) \
    KERNEL(name, result, direction, (a[i]), (const operand *a), (a))
#define KERNEL_2(name, operand, result, direction) \
    KERNEL(name, result, direction, (a[i], b[i]), (const operand *a, const operand *b), (a, b))
#define KERNEL_3(name, operand, result, direction) \
    KERNEL(name, result, direction, (a[i], b[i], c[i]), (const operand *a, const operand *b, const operand *c), \
           (a, b, c))
