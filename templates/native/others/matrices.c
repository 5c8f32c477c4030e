/* What sums.py of ptxemu computes on stacks of matrices, as generalized ufuncs of NumPy.

   A number is one of binary64, and so is all that is made of it: products are exact, and what is kept of them are whole
   numbers of units, whose sums are below 2**53. The figures of a sum are operands. */

#include <stddef.h>

#include "rounding.h"
#include "kernel.h"

/* In the order in which sums.py gives them. C and the result have formats of IEEE 754. A result is rounded to the nearest,
   or cut and then so many bits shorter. */
typedef struct {
    int64_t terms, bits, zero, group, nearest, lost;
    int64_t exponent_bits_of_c, fraction_bits_of_c, exponent_bits, fraction_bits, nan;
} Figures;
enum { FIGURES = sizeof(Figures) / sizeof(int64_t) };

/* The columns that are computed together. Compilers make vectors of them. */
enum { COLUMNS = 8 };
/* The exponent of a product that is not there. */
enum { NOTHING = INT32_MIN / 2 };

/* A matrix in memory: where it begins, and how far it is to the next row and to the next column. */
typedef struct {
    char *start;
    ptrdiff_t down, across;
} Matrix;
#define AT(type, matrix, i, j) ((type *)((matrix).start + (i) * (matrix).down + (j) * (matrix).across))

/* The matrix of an operand: NumPy gives the steps from one matrix to the next of each operand, and behind them those
   inside of each. */
INLINED Matrix matrix(char **arrays, const ptrdiff_t *steps, int operands, int k, ptrdiff_t place) {
    return (Matrix){arrays[k] + place * steps[k], steps[operands + 2 * k], steps[operands + 2 * k + 1]};
}

INLINED double power_of_two(int64_t exponent) { return double_of_bits((uint64_t)(exponent + 1023) << 52); }

/* A number, and its exponent: of a subnormal one the least. */
INLINED double number(uint32_t x, int64_t exponent_bits, int64_t fraction_bits, int32_t *exponent) {
    uint32_t most = (1u << exponent_bits) - 1, field = x >> fraction_bits & most;
    uint32_t fraction = x & ((1u << fraction_bits) - 1);
    *exponent = (int32_t)(field > 1 ? field : 1) - (int32_t)(most >> 1);
    double size = (fraction | (uint32_t)(field > 0) << fraction_bits) * power_of_two(*exponent - fraction_bits);
    if (field == most)
        size = fraction ? __builtin_nan("") : __builtin_inf();
    return x >> (exponent_bits + fraction_bits) & 1 ? -size : size;
}

/* A sum in the format of the result. What becomes nothing is positive. */
INLINED uint32_t rounded(double sum, const Figures *f) {
    if (sum != sum)
        return (uint32_t)f->nan;
    uint32_t most = (1u << f->exponent_bits) - 1, sign = (uint32_t)(sum < 0) << (f->exponent_bits + f->fraction_bits);
    int64_t least = 1 - (int64_t)(most >> 1), infinity = (int64_t)most << f->fraction_bits, bits = infinity;
    double size = __builtin_fabs(sum);
    if (size < __builtin_inf()) {
        int64_t exponent = (int64_t)(bits_of_double(size) >> 52) - 1023;
        exponent = exponent > least ? exponent : least;
        double places = size * power_of_two(f->fraction_bits - exponent);
        bits = (int64_t)(f->nearest ? __builtin_rint(places) : places) + ((exponent - least) << f->fraction_bits);
        bits = bits < infinity ? bits : infinity;
    }
    return bits ? (sign | (uint32_t)bits) >> f->lost << f->lost : 0;
}

/* Columns of B, side by side. */
typedef struct {
    double value[COLUMNS];
    int32_t exponent[COLUMNS];
} Columns;

/* Add the products of a row, from `first` on, to `sums`, which have the exponents `top`. `group` is a constant where this
   is called for most sums. */
INLINED void add_products(
    Matrix a, Matrix exponents, ptrdiff_t row, ptrdiff_t first, ptrdiff_t end, const Columns *b, double *sums, int32_t *top,
    int64_t kept, ptrdiff_t group
) {
    double places[COLUMNS];
    for (ptrdiff_t k = first; k < end; k++) {
        int32_t exponent = *AT(const int32_t, exponents, row, k);
        for (int j = 0; j < COLUMNS; j++) {
            int32_t own = exponent + b[k].exponent[j];
            top[j] = top[j] > own ? top[j] : own;
        }
    }
    for (int j = 0; j < COLUMNS; j++) {
        places[j] = power_of_two(kept - top[j]);
        sums[j] = __builtin_trunc(sums[j] * places[j]);
    }
    for (ptrdiff_t k = first; k < end; k += group) {
        double term[COLUMNS] = {0};
        for (ptrdiff_t i = k; i < k + group && i < end; i++) {
            double x = *AT(const double, a, row, i);
            for (int j = 0; j < COLUMNS; j++)
                term[j] += x * b[i].value[j];
        }
        for (int j = 0; j < COLUMNS; j++)
            sums[j] += __builtin_trunc(term[j] * places[j]);
    }
    for (int j = 0; j < COLUMNS; j++)
        sums[j] *= power_of_two(top[j] - kept);
}

/* Sum the products of a row with columns, and their elements of C, step by step. */
INLINED void sum_row(
    Matrix a, Matrix exponents, ptrdiff_t row, ptrdiff_t end, const Columns *b, uint32_t *bits, const Figures *f
) {
    int64_t exponent_bits = f->exponent_bits_of_c, fraction_bits = f->fraction_bits_of_c;
    for (ptrdiff_t first = 0; first < end; first += f->terms) {
        ptrdiff_t next = end - first < f->terms ? end : first + f->terms;
        double sums[COLUMNS];
        int32_t top[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) {
            sums[j] = number(bits[j], exponent_bits, fraction_bits, &top[j]);
            top[j] = sums[j] == 0 || top[j] < f->zero ? (int32_t)f->zero : top[j];
        }
        if (f->group == 1)
            add_products(a, exponents, row, first, next, b, sums, top, f->bits, 1);
        else
            add_products(a, exponents, row, first, next, b, sums, top, f->bits, f->group);
        for (int j = 0; j < COLUMNS; j++)
            bits[j] = rounded(sums[j], f);
        exponent_bits = f->exponent_bits, fraction_bits = f->fraction_bits;
    }
}

/* The operands of `sums`, in this order: the values of A and their exponents, those of B, the bits of C, the figures in a
   row, and the result's bits. */
enum { A, A_EXPONENTS, B, B_EXPONENTS, C, THEIR_FIGURES, RESULT, OF_SUMS };

static void sum_matrices(const Matrix *x, ptrdiff_t m, ptrdiff_t end, ptrdiff_t n) {
    Figures f;
    for (ptrdiff_t i = 0; i < FIGURES; i++)
        ((int64_t *)&f)[i] = *AT(const int64_t, x[THEIR_FIGURES], 0, i);
    Columns b[end];
    for (ptrdiff_t first = 0; first < n; first += COLUMNS) {
        const ptrdiff_t width = n - first < COLUMNS ? n - first : COLUMNS;
        for (ptrdiff_t k = 0; k < end; k++)
            for (ptrdiff_t j = 0; j < COLUMNS; j++) {
                b[k].value[j] = j < width ? *AT(const double, x[B], k, first + j) : 0;
                b[k].exponent[j] = j < width ? *AT(const int32_t, x[B_EXPONENTS], k, first + j) : NOTHING;
            }
        for (ptrdiff_t i = 0; i < m; i++) {
            uint32_t bits[COLUMNS] = {0};
            for (ptrdiff_t j = 0; j < width; j++)
                bits[j] = *AT(const uint32_t, x[C], i, first + j);
            sum_row(x[A], x[A_EXPONENTS], i, end, b, bits, &f);
            for (ptrdiff_t j = 0; j < width; j++)
                *AT(uint32_t, x[RESULT], i, first + j) = bits[j];
        }
    }
}

/* (m,k),(m,k),(k,n),(k,n),(m,n),(o,f)->(m,n) */
static void sums_loop(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *kernel) {
    (void)kernel;
    Kept kept;
    steer(roundTiesToEven, &kept);
    for (ptrdiff_t place = 0; place < sizes[0]; place++) {
        Matrix operands[OF_SUMS];
        for (int k = 0; k < OF_SUMS; k++)
            operands[k] = matrix(arrays, steps, OF_SUMS, k, place);
        sum_matrices(operands, sizes[1], sizes[2], sizes[3]);
    }
    restore(&kept);
}

/* (m,k),(k,n),(m,n)->(m,n): a fused multiply-add for each product, in their order. */
static void chain_loop(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *kernel) {
    (void)kernel;
    Kept kept;
    steer(roundTiesToEven, &kept);
    for (ptrdiff_t place = 0; place < sizes[0]; place++) {
        Matrix x[4];
        for (int k = 0; k < 4; k++)
            x[k] = matrix(arrays, steps, 4, k, place);
        for (ptrdiff_t i = 0; i < sizes[1]; i++)
            for (ptrdiff_t j = 0; j < sizes[3]; j++) {
                double sum = *AT(const double, x[2], i, j);
                for (ptrdiff_t k = 0; k < sizes[2]; k++)
                    sum = __builtin_fma(*AT(const double, x[0], i, k), *AT(const double, x[1], k, j), sum);
                *AT(double, x[3], i, j) = sum;
            }
    }
    restore(&kept);
}

const Kernel KERNELS[] = {
    {"sums", 1, sums_loop, {0}},
    {"chain", 1, chain_loop, {0}},
    {0},
};
