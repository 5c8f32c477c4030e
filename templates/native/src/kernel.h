/* Kernels: functions of one lane, applied to arrays as NumPy's ufuncs are.

   LANE(name, result, parameters) begins a function of one lane: `p` are the parameters of the kernel that calls it,
   followed by its operands. A second result goes to a pointer behind these. DIRECTLY begins one that computes the same
   in binary32 itself as the preceding one of that name: some processors take a hundred times as long for that with
   subnormal numbers. DECIDING begins a function that may leave its lane undecided, and reports that in `undecided`.

   KERNEL(symbol, count, sources, parameters, arguments, widths, statement) makes a loop, `symbol_loop`, of the
   statement, which runs for each i. It has `count` arrays, the first `sources` of which are operands; `widths` are the
   bytes of lanes. EASED_KERNEL also has a statement for elements of which nothing becomes subnormal, and `ordinary`
   detects them; DECIDING_KERNEL asks NumPy for undecided lanes. A result's array may be one of the operands but must
   not overlap one otherwise. The processor's rounding direction, its exception flags and other settings of the caller
   are restored. */

#include <fenv.h>
#include <stddef.h>
#include <string.h>

/* The parameters that distinguish kernels of one function: the processor's rounding direction, the number of adjacent
   lanes in an element, and what the function calls `numbers` and `tables`. */
typedef struct {
    int direction, lanes;
    uint64_t numbers[4];
    const float *tables[3];
} Parameters;

/* A kernel with this number of result registers, by the variant's name. */
typedef struct {
    const char *name;
    int results;
    void (*loop)(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *kernel);
    Parameters parameters;
} Kernel;

/* module.c has these. `resolve` has NumPy compute the results of `count` lanes: `at` are arrays of the operands and of
   the result, with elements of `widths` bytes. */
void resolve(const Kernel *kernel, int sources, char *const *at, const ptrdiff_t *widths, const size_t *lanes, size_t count);
/* whether the processor takes long for subnormal numbers */
extern int stumbles;

#ifdef __clang__
#define INDEPENDENTLY _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENTLY _Pragma("GCC ivdep")
#endif

#if defined(__x86_64__)

/* This register controls the unit that computes everything here. */
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

/* The number of elements of an array before the first at the start of a cache line: vectors that cross two lines are
   read at half speed. It is 0 for a short array. */
INLINED size_t before_line(const void *array, size_t size, size_t n) {
    return n < 4096 ? 0 : (-(uintptr_t)array & 63) / size;
}

/* Parts of arrays, one after another: contiguous elements are used in place, others are gathered. */

#define ARRAYS 8
#define GATHERED 512

typedef struct {
    char **arrays, *at[ARRAYS];
    const ptrdiff_t *steps;
    ptrdiff_t widths[ARRAYS];
    int count, sources;
    unsigned gathered;
    ptrdiff_t start, size, most, n;
    Kept kept;
    _Alignas(64) char room[ARRAYS][8 * GATHERED];
} Parts;

static __attribute__((noinline, unused)) void copy(
    char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t width, ptrdiff_t n) {
    /* With a constant size, a copy is one instruction. */
    if (width == 1)
        for (; n; n--, to += to_step, from += from_step) *to = *from;
    else if (width == 2)
        for (; n; n--, to += to_step, from += from_step) memcpy(to, from, 2);
    else if (width == 4)
        for (; n; n--, to += to_step, from += from_step) memcpy(to, from, 4);
    else
        for (; n; n--, to += to_step, from += from_step) memcpy(to, from, 8);
}

static __attribute__((noinline, unused)) void begin(
    Parts *p, char **arrays, ptrdiff_t n, const ptrdiff_t *steps, const ptrdiff_t *widths, int lanes, int count,
    int sources, ptrdiff_t most, int direction, int apart) {
    p->arrays = arrays, p->steps = steps, p->count = count, p->sources = sources;
    p->gathered = 0, p->start = 0, p->size = 0, p->most = most / lanes, p->n = n;
    for (int k = 0; k < count; k++) {
        p->widths[k] = widths[k] * lanes;
        if (steps[k] != p->widths[k] || (apart && k >= sources)) {
            p->gathered |= 1u << k;
            if (p->most > GATHERED) p->most = GATHERED;
        }
    }
    steer(direction, &p->kept);
}

/* Store the results of the last part, and load the next one. Returns 0 if there is none. */
static __attribute__((noinline, unused)) int next(Parts *p) {
    for (int k = p->sources; k < p->count; k++)
        if (p->gathered >> k & 1)
            copy(p->arrays[k] + p->start * p->steps[k], p->steps[k], p->room[k], p->widths[k], p->widths[k], p->size);
    p->start += p->size;
    if (p->start >= p->n) {
        restore(&p->kept);
        return 0;
    }
    ptrdiff_t before = p->size;
    p->size = p->n - p->start < p->most ? p->n - p->start : p->most;
    for (int k = 0; k < p->count; k++) {
        char *here = p->arrays[k] + p->start * p->steps[k];
        p->at[k] = p->gathered >> k & 1 ? p->room[k] : here;
        /* A scalar operand has been copied already. */
        if (p->gathered >> k & 1 && k < p->sources && !(p->steps[k] == 0 && before >= p->size))
            copy(p->room[k], p->widths[k], here, p->steps[k], p->widths[k], p->size);
    }
    return 1;
}

#define PARAMETERS(...) __VA_ARGS__

#define LOOP(symbol, count, sources, most, apart, widths_, ...) \
    _Static_assert(count <= ARRAYS, "a kernel has too many arrays"); \
    static void symbol##_loop(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data) { \
        static const ptrdiff_t widths[] = {PARAMETERS widths_}; \
        const Kernel *kernel = data; \
        const Parameters p = kernel->parameters; \
        const int lanes = p.lanes; \
        Parts parts; \
        begin(&parts, arrays, sizes[0], steps, widths, lanes, count, sources, most, p.direction, apart); \
        while (next(&parts)) { \
            char **at = parts.at; \
            ptrdiff_t size = parts.size * lanes; \
            __VA_ARGS__ \
        } \
    }

/* The loop is a function of its own, so that no part of it can move out of the lines between `steer` and `restore`. */
#define KERNEL(symbol, count, sources, parameters, arguments, widths_, ...) \
    static __attribute__((noinline)) void symbol##_each(size_t n, Parameters p, PARAMETERS parameters) { \
        size_t start = 0, end = before_line(r0, sizeof *r0, n); \
        for (;;) { \
            INDEPENDENTLY for (size_t i = start; i < end; i++) { __VA_ARGS__ } \
            if (end == n) break; \
            start = end; \
            end = n; \
        } \
    } \
    LOOP(symbol, count, sources, PTRDIFF_MAX, 0, widths_, symbol##_each(size, p, PARAMETERS arguments);)

#define EASED 256
#define EASED_KERNEL(symbol, count, sources, parameters, arguments, widths_, ordinary, directly, ...) \
    static __attribute__((noinline)) void symbol##_each(size_t n, Parameters p, PARAMETERS parameters) { \
        size_t start = 0, end = before_line(r0, sizeof *r0, n), most = stumbles ? EASED : n; \
        for (; start < n; start = end, end = n - start < most ? n : start + most) { \
            uint32_t others = 0; \
            if (stumbles) { \
                INDEPENDENTLY for (size_t i = start; i < end; i++) others |= !(ordinary); \
            } \
            if (others) { \
                INDEPENDENTLY for (size_t i = start; i < end; i++) { __VA_ARGS__ } \
            } else { \
                INDEPENDENTLY for (size_t i = start; i < end; i++) { directly } \
            } \
        } \
    } \
    LOOP(symbol, count, sources, PTRDIFF_MAX, 0, widths_, symbol##_each(size, p, PARAMETERS arguments);)

/* Return whether a binary32 is zero or from 2**-63 to below 2**63 in size. Products and quotients of two such numbers
   are normal. */
INLINED _Bool is_ordinary(uint32_t x) {
    uint32_t magnitude = x << 1;
    return (magnitude - (UINT32_C(64) << 24) < UINT32_C(126) << 24) | (magnitude == 0);
}

/* Results are kept apart until they are complete: NumPy may still need the operand that a result replaces. */
#define BLOCK GATHERED
#define DECIDING_KERNEL(symbol, count, sources, parameters, arguments, widths_, ...) \
    static __attribute__((noinline)) size_t symbol##_each(size_t n, Parameters p, size_t *undecided_lanes, PARAMETERS parameters) { \
        uint8_t marks[BLOCK], *mark = marks; \
        size_t found = 0; \
        INDEPENDENTLY for (size_t i = 0; i < n; i++) { \
            _Bool undecided = 0; \
            __VA_ARGS__ \
            marks[i] = undecided; \
        } \
        while ((mark = memchr(mark, 1, (size_t)(marks + n - mark)))) undecided_lanes[found++] = (size_t)(mark++ - marks); \
        return found; \
    } \
    LOOP(symbol, count, sources, BLOCK, 1, widths_, \
        size_t undecided[BLOCK]; \
        size_t found = symbol##_each(size, p, undecided, PARAMETERS arguments); \
        if (found) resolve(kernel, sources, at, widths, undecided, found);)

#define LANE(name, result, ...) INLINED result name(Parameters p, __VA_ARGS__)
#define DIRECTLY(name, result, ...) INLINED result name##_directly(Parameters p, __VA_ARGS__)
#define DECIDING(name, result, ...) INLINED result name(Parameters p, __VA_ARGS__, _Bool *undecided)
