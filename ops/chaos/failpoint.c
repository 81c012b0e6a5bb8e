/* Loaded before libc: ends the process, or fails the call, at the n-th call of one kind.
   CHAOS_FAIL="rename:3:kill-before"; kinds: rename, link, fsync, write, unlink, open; ends: kill-before, kill-after, ENOSPC, EIO, EINTR.
   Calls are counted from the moment the file CHAOS_ARMED exists (or from the start without it). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char kind[16], end[16];
static long wanted = -1;
static const char *armed;
static atomic_long count;

__attribute__((constructor)) static void read_orders(void) {
    const char *text = getenv("CHAOS_FAIL");
    armed = getenv("CHAOS_ARMED");
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
    if (wanted < 0 || strcmp(called, kind) != 0) return 0;
    int saved = errno;
    int due = is_armed() && atomic_fetch_add(&count, 1) + 1 == wanted;
    errno = saved;
    if (!due) return 0;
    syscall(1 /* write */, 2, "chaos: now\n", 11);
    if (!strcmp(end, "kill-before")) kill(getpid(), SIGKILL);
    if (!strcmp(end, "kill-after")) return 2;
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
