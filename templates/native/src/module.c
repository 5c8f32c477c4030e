/* A module of the extension, for an opcode or another group of kernels, OPCODE: its kernels as NumPy's ufuncs. LEVELS
   is 2 if there is a second table of kernels, for processors with vectors of 256 bits and fused operations, and 3 if
   there is one for vectors of 512 bits. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/ndarrayobject.h>
#include <numpy/ufuncobject.h>

#include "rounding.h"
#include "kernel.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define JOINED_(x, y) x##y
#define JOINED(x, y) JOINED_(x, y)

extern const Kernel kernels_of_all[];
extern const char digest[];
static const Kernel *kernels = kernels_of_all;
int stumbles = 1;

#if LEVELS > 1
extern const Kernel kernels_of_v3[];
extern const Kernel kernels_of_v4[];

static void choose(void) {
    __builtin_cpu_init();
    /* Tests define FOR_ALL and STUMBLES. */
#ifndef FOR_ALL
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        kernels = kernels_of_v3;
#if LEVELS == 3
    if (kernels == kernels_of_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        kernels = kernels_of_v4;
#endif
#endif
#ifndef STUMBLES
    /* Without fused operations in hardware, the direct way is the slower one. */
    stumbles = kernels == kernels_of_all || !__builtin_cpu_is("amd");
#endif
}
#else
static void choose(void) {}
#endif

/* A function from the opcode, a kernel's name, the operands of lanes as bytes, and the bytes of each operand to the
   results as bytes. */
static PyObject *resolver;

static PyObject *asked(const Kernel *kernel, int sources, char *const *at, const ptrdiff_t *widths, const size_t *lanes, size_t count) {
    PyObject *operands = PyList_New(sources), *sizes = PyList_New(sources);
    for (int k = 0; operands && sizes && k < sources; k++) {
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * widths[k]);
        PyObject *size = PyLong_FromSsize_t(widths[k]);
        if (!bytes || !size) {
            Py_XDECREF(bytes);
            Py_XDECREF(size);
            Py_CLEAR(operands);
            break;
        }
        for (size_t i = 0; i < count; i++)
            memcpy(PyBytes_AS_STRING(bytes) + (ptrdiff_t)i * widths[k], at[k] + (ptrdiff_t)lanes[i] * widths[k], widths[k]);
        PyList_SET_ITEM(operands, k, bytes);
        PyList_SET_ITEM(sizes, k, size);
    }
    PyObject *found = NULL;
    if (operands && sizes)
        found = PyObject_CallFunction(resolver, "ssOO", TEXT(OPCODE), kernel->name, operands, sizes);
    Py_XDECREF(operands);
    Py_XDECREF(sizes);
    return found;
}

/* Errors are left to NumPy, which checks for them after the loop. */
void resolve(const Kernel *kernel, int sources, char *const *at, const ptrdiff_t *widths, const size_t *lanes, size_t count) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *found = PyErr_Occurred() ? NULL : asked(kernel, sources, at, widths, lanes, count);
    ptrdiff_t width = widths[sources];
    if (found && PyBytes_Check(found) && PyBytes_GET_SIZE(found) == (Py_ssize_t)count * width)
        for (size_t i = 0; i < count; i++)
            memcpy(at[sources] + (ptrdiff_t)lanes[i] * width, PyBytes_AS_STRING(found) + (ptrdiff_t)i * width, width);
    else if (found)
        PyErr_SetString(PyExc_TypeError, "what resolves lanes returned something else than their results");
    Py_XDECREF(found);
    PyGILState_Release(state);
}

static PyObject *resolve_with(PyObject *self, PyObject *function) {
    (void)self;
    Py_XSETREF(resolver, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* A ufunc uses the data that it was made of as long as it exists; the caller keeps the ufunc. With core dimensions it
   is a generalized one. */
static PyObject *ufunc(PyObject *self, PyObject *arguments) {
    const char *name, *types, *signature = NULL;
    Py_ssize_t length;
    int sources, results;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "siiy#|s", &name, &sources, &results, &types, &length, &signature))
        return NULL;
    const Kernel *kernel = kernels;
    while (kernel->name && (strcmp(kernel->name, name) || kernel->results != results))
        kernel++;
    if (!kernel->name)
        Py_RETURN_NONE;
    int count = (int)(length / (sources + results));
    PyUFuncGenericFunction *loops = PyMem_Calloc(count, sizeof *loops);
    void **data = PyMem_Calloc(count, sizeof *data);
    char *own = PyMem_Malloc(length);
    if (!loops || !data || !own)
        return PyErr_NoMemory();
    for (int i = 0; i < count; i++) {
        loops[i] = (PyUFuncGenericFunction)kernel->loop;
        data[i] = (void *)kernel;
    }
    memcpy(own, types, length);
    return PyUFunc_FromFuncAndDataAndSignature(
        loops, data, own, count, sources, results, PyUFunc_None, kernel->name, "", 0, signature);
}

static PyMethodDef methods[] = {
    {"ufunc", ufunc, METH_VARARGS, "Return the ufunc of a kernel, by name, sources, registers of results, types and core dimensions; None where there is none."},
    {"resolve_with", resolve_with, METH_O, "Take the function that computes what a kernel leaves undecided."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, TEXT(OPCODE), NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC JOINED(PyInit_, OPCODE)(void) {
    import_array();
    import_umath();
    choose();
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddStringConstant(made, "digest", digest) < 0)
        Py_CLEAR(made);
    return made;
}
