/* Loaded before libc: ends the process, or fails the call, at the n-th call of one kind.
   CHAOS_FAIL="rename:3:kill-before"; kinds: the names below, and any for all of them together;
   ends: kill-before, kill-after, stop (SIGSTOP before the call), ENOSPC, EIO, EINTR.
   Calls are counted from the moment the file CHAOS_ARMED exists (or from the start without it).
   CHAOS_COUNT=FILE: the counts are kept in that file, one uint64 for each kind in the order below, the last one for any. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kinds[] = {"rename", "link",      "fsync", "write",           "unlink", "mkdir",
                                    "rmdir",  "ftruncate", "flock", "copy_file_range", "any"};
#define KINDS (sizeof kinds / sizeof *kinds)

static char kind[16], end[16];
static long wanted = -1;
static const char *armed;
static atomic_ulong here[KINDS], *counts = here;

__attribute__((constructor)) static void read_orders(void) {
    const char *text = getenv("CHAOS_FAIL"), *kept = getenv("CHAOS_COUNT");
    armed = getenv("CHAOS_ARMED");
    int file = kept ? open(kept, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (file >= 0) {
        void *memory = syscall(77 /* ftruncate */, file, sizeof here) == 0 ? mmap(0, sizeof here, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
        if (memory != MAP_FAILED) counts = memory;
        close(file);
    }
    if (!text) return;
    const char *first = strchr(text, ':'), *second = first ? strchr(first + 1, ':') : 0;
    if (!second || first - text >= (long)sizeof kind || strlen(second + 1) >= sizeof end) return;
    memcpy(kind, text, first - text);
    strcpy(end, second + 1);
    wanted = atol(first + 1);
}

static int is_armed(void) {
    struct stat ignored;
    static atomic_int seen;
    if (!armed || seen) return 1;
    if (syscall(262 /* newfstatat */, AT_FDCWD, armed, &ignored, 0) != 0) return 0;
    return seen = 1;
}

/* 0: go on; 1: fail with errno set; 2: kill after the call. */
static int order(const char *called) {
    if (wanted < 0 && counts == here) return 0;
    int saved = errno, due = 0;
    if (is_armed()) {
        for (size_t number = 0; number < KINDS; number++) {
            if (strcmp(kinds[number], called) != 0 && number != KINDS - 1) continue;
            long now = (long)atomic_fetch_add(&counts[number], 1) + 1;
            due |= now == wanted && !strcmp(kinds[number], kind);
        }
    }
    errno = saved;
    if (!due) return 0;
    syscall(1 /* write */, 2, "chaos: now\n", 11);
    if (!strcmp(end, "kill-before")) kill(getpid(), SIGKILL);
    if (!strcmp(end, "kill-after")) return 2;
    if (!strcmp(end, "stop")) {
        kill(getpid(), SIGSTOP);
        return 0;
    }
    errno = !strcmp(end, "ENOSPC") ? ENOSPC : !strcmp(end, "EINTR") ? EINTR : EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AROUND(called, type, name, arguments, values)      \
    type name arguments {                                  \
        int what = order(called);                          \
        if (what == 1) return -1;                          \
        type result = REAL(name) values;                   \
        if (what == 2) kill(getpid(), SIGKILL);            \
        return result;                                     \
    }

AROUND("rename", int, rename, (const char *a, const char *b), (a, b))
AROUND("link", int, link, (const char *a, const char *b), (a, b))
AROUND("fsync", int, fsync, (int fd), (fd))
AROUND("fsync", int, fdatasync, (int fd), (fd))
AROUND("unlink", int, unlink, (const char *a), (a))
AROUND("unlink", int, unlinkat, (int at, const char *a, int f), (at, a, f))
AROUND("mkdir", int, mkdir, (const char *a, mode_t m), (a, m))
AROUND("rmdir", int, rmdir, (const char *a), (a))
AROUND("ftruncate", int, ftruncate, (int fd, off_t n), (fd, n))
AROUND("ftruncate", int, ftruncate64, (int fd, off64_t n), (fd, n))
AROUND("flock", int, flock, (int fd, int how), (fd, how))
AROUND("copy_file_range", ssize_t, copy_file_range, (int a, off64_t *i, int b, off64_t *o, size_t n, unsigned f), (a, i, b, o, n, f))
AROUND("write", ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
AROUND("write", ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))

/* Not pipes, sockets and logs: only files that are kept. */
ssize_t write(int fd, const void *bytes, size_t length) {
    struct stat about;
    int what = fd > 2 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? order("write") : 0;
    if (what == 1) return -1;
    ssize_t result = REAL(write)(fd, bytes, length);
    if (what == 2) kill(getpid(), SIGKILL);
    return result;
}
