/* Counts the steps of a process, and breaks it off at one: what a system can be asked to change in files, call by call.

   Preloaded, so that it stands before the C library, whoever calls it. It does nothing in a process, or in one forked
   of it, until that calls breaking_at(). What is written to the standard streams, and what others run, does not count. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, KILL, INTERRUPT, FULL, READ_ONLY };

static int how, at, steps;
static pid_t who;

void breaking_at(int mode, int step) { how = mode, at = step, steps = 0, who = getpid(); }

int breaking_steps(void) { return steps; }

/* What is started is not to be broken off as well. */
__attribute__((constructor)) static void alone(void) { unsetenv("LD_PRELOAD"); }

/* Is this call to fail? `adds`: it takes room. `half` does half of what is asked. */
static int fails(int adds, void (*half)(void *), void *of) {
    if (who != getpid()) return 0;
    int here = ++steps == at, after = steps >= at;
    if (how == KILL && here) {
        if (half) half(of);
        kill(who, SIGKILL);
        for (;;) pause();
    }
    if (how == INTERRUPT && here) kill(who, SIGINT);
    if (how == FULL && after && adds) {
        if (half && here) half(of);
        errno = ENOSPC;
        return 1;
    }
    if (how == READ_ONLY && after) {
        errno = EROFS;
        return 1;
    }
    return 0;
}

#define ORIGINAL(name)                                                           \
    ({                                                                           \
        if (!original) original = (typeof(original))dlsym(RTLD_NEXT, #name);     \
        original;                                                                \
    })

struct piece { int file; const void *data; size_t size; };

static void write_half(void *of) {
    static typeof(&write) original;
    struct piece *p = of;
    if (p->size > 1) (void)!ORIGINAL(write)(p->file, p->data, p->size / 2);
}

ssize_t write(int file, const void *data, size_t size) {
    static typeof(&write) original;
    struct piece p = {file, data, size};
    struct stat found;
    /* Pipes are talk, and no steps. */
    if (file > 2 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && fails(1, write_half, &p)) return -1;
    return ORIGINAL(write)(file, data, size);
}

#define OPEN(name, declared, given)                                              \
    int name declared {                                                          \
        static typeof(&name) original;                                           \
        mode_t mode = 0;                                                         \
        if (flags & O_CREAT) {                                                   \
            va_list rest;                                                        \
            va_start(rest, flags);                                               \
            mode = va_arg(rest, mode_t);                                         \
            va_end(rest);                                                        \
        }                                                                        \
        if (flags & (O_CREAT | O_TRUNC) && fails(1, NULL, NULL)) return -1;      \
        return ORIGINAL(name) given;                                             \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

#define STEP(name, adds, declared, given)                                        \
    int name declared {                                                          \
        static typeof(&name) original;                                           \
        return fails(adds, NULL, NULL) ? -1 : ORIGINAL(name) given;              \
    }

STEP(mkdir, 1, (const char *path, mode_t mode), (path, mode))
STEP(mkdirat, 1, (int folder, const char *path, mode_t mode), (folder, path, mode))
STEP(rmdir, 0, (const char *path), (path))
STEP(unlink, 0, (const char *path), (path))
STEP(unlinkat, 0, (int folder, const char *path, int flags), (folder, path, flags))
STEP(rename, 0, (const char *from, const char *to), (from, to))
STEP(renameat, 0, (int a, const char *from, int b, const char *to), (a, from, b, to))
STEP(renameat2, 0, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
STEP(truncate, 0, (const char *path, off_t size), (path, size))
STEP(truncate64, 0, (const char *path, off_t size), (path, size))
STEP(ftruncate, 0, (int file, off_t size), (file, size))
STEP(ftruncate64, 0, (int file, off_t size), (file, size))
STEP(fsync, 0, (int file), (file))
STEP(symlink, 1, (const char *of, const char *path), (of, path))
