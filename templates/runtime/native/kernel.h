/* Functions of one lane, and kernels: such functions applied to arrays.

   LANE_1, LANE_2 and LANE_3 (by the number of operands) head a function with its name, the types of its operands and of
   its result, the direction in which the processor must round for it, and the names of its operands. EXPORT_LANE_1(name)
   and so on make a kernel of it, `name_run(n, a, ..., d)`: d[i] = name(a[i], ...) for i below n. The arrays are aligned; d
   may be one of the operands but overlap none otherwise. The processor's rounding direction, its exception flags and
   whatever else the caller has set there come back as they were.

   DECIDING_1 and so on head functions that may leave a lane undecided. Their kernel is
   `name_decide(n, a, ..., d, lanes)`, which returns how many those are and lists them in `lanes`, an array of n. */

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
#define KERNEL(name, result, direction, lane, operands, arrays) \
    static __attribute__((noinline)) void name##_each(size_t n, PARAMETERS operands, result *d) { \
        INDEPENDENTLY for (size_t i = 0; i < n; i++) d[i] = name lane; \
    } \
    EXPORTED void name##_run(size_t n, PARAMETERS operands, result *d) { \
        fenv_t kept; \
        steer(direction, &kept); \
        name##_each(n, PARAMETERS arrays, d); \
        fesetenv(&kept); \
    }

/* In pieces, so that the marks stay in the cache. */
#define DECIDING_KERNEL(name, result, direction, lane, operands, arrays) \
    static __attribute__((noinline)) size_t name##_each(size_t n, PARAMETERS operands, result *d, size_t *lanes) { \
        size_t found = 0; \
        for (size_t start = 0; start < n; start += BLOCK) { \
            size_t end = n - start < BLOCK ? n : start + BLOCK; \
            uint8_t marks[BLOCK], any = 0; \
            INDEPENDENTLY for (size_t i = start; i < end; i++) { \
                _Bool undecided = 0; \
                d[i] = name lane; \
                marks[i - start] = undecided; \
                any |= undecided; \
            } \
            for (size_t i = start; any && i < end; i++) \
                if (marks[i - start]) lanes[found++] = i; \
        } \
        return found; \
    } \
    EXPORTED size_t name##_decide(size_t n, PARAMETERS operands, result *d, size_t *lanes) { \
        fenv_t kept; \
        steer(direction, &kept); \
        size_t found = name##_each(n, PARAMETERS arrays, d, lanes); \
        fesetenv(&kept); \
        return found; \
    }
#define BLOCK 1024
#define PARAMETERS(...) __VA_ARGS__

#define KERNEL_1(name, operand, result, direction) \
    KERNEL(name, result, direction, (a[i]), (const operand *a), (a))
#define KERNEL_2(name, operand, result, direction) \
    KERNEL(name, result, direction, (a[i], b[i]), (const operand *a, const operand *b), (a, b))
#define KERNEL_3(name, operand, result, direction) \
    KERNEL(name, result, direction, (a[i], b[i], c[i]), (const operand *a, const operand *b, const operand *c), \
           (a, b, c))

#define DECIDING_KERNEL_1(name, operand, result, direction) \
    DECIDING_KERNEL(name, result, direction, (a[i], &undecided), (const operand *a), (a))
#define DECIDING_KERNEL_2(name, operand, result, direction) \
    DECIDING_KERNEL(name, result, direction, (a[i], b[i], &undecided), (const operand *a, const operand *b), (a, b))
#define DECIDING_KERNEL_3(name, operand, result, direction) \
    DECIDING_KERNEL(name, result, direction, (a[i], b[i], c[i], &undecided), \
                    (const operand *a, const operand *b, const operand *c), (a, b, c))

/* What a head keeps for the kernel, should one be made. */
#define KEPT(name, operand, result, direction) \
    typedef operand name##_operand; \
    typedef result name##_result; \
    enum { name##_direction = direction };
#define OF_HEAD(name) name, name##_operand, name##_result, name##_direction
#define MADE(kernel, ...) kernel(__VA_ARGS__)

#define LANE_1(name, operand, result, direction, a) \
    KEPT(name, operand, result, direction) static inline result name(operand a)
#define DECIDING_1(name, operand, result, direction, a) \
    KEPT(name, operand, result, direction) static inline result name(operand a, _Bool *undecided)
#define EXPORT_LANE_1(name) MADE(KERNEL_1, OF_HEAD(name))
#define EXPORT_DECIDING_1(name) MADE(DECIDING_KERNEL_1, OF_HEAD(name))
#define LANE_2(name, operand, result, direction, a, b) \
    KEPT(name, operand, result, direction) static inline result name(operand a, operand b)
#define DECIDING_2(name, operand, result, direction, a, b) \
    KEPT(name, operand, result, direction) static inline result name(operand a, operand b, _Bool *undecided)
#define EXPORT_LANE_2(name) MADE(KERNEL_2, OF_HEAD(name))
#define EXPORT_DECIDING_2(name) MADE(DECIDING_KERNEL_2, OF_HEAD(name))
#define LANE_3(name, operand, result, direction, a, b, c) \
    KEPT(name, operand, result, direction) static inline result name(operand a, operand b, operand c)
#define DECIDING_3(name, operand, result, direction, a, b, c) \
    KEPT(name, operand, result, direction) static inline result name(operand a, operand b, operand c, _Bool *undecided)
#define EXPORT_LANE_3(name) MADE(KERNEL_3, OF_HEAD(name))
#define EXPORT_DECIDING_3(name) MADE(DECIDING_KERNEL_3, OF_HEAD(name))
