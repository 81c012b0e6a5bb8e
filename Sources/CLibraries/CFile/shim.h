// Calls that Swift's module of glibc leaves out. Only Sources/Foundations/Files imports this module.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>
#include <sys/xattr.h>
#if defined(__APPLE__)
static inline ssize_t ph_get_mark(const char *path, const char *name, void *value, size_t size) {
    return getxattr(path, name, value, size, 0, 0);
}
static inline int ph_set_mark(const char *path, const char *name, const void *value, size_t size) {
    return setxattr(path, name, value, size, 0, 0);
}
#else
static inline ssize_t ph_get_mark(const char *path, const char *name, void *value, size_t size) {
    return getxattr(path, name, value, size);
}
static inline int ph_set_mark(const char *path, const char *name, const void *value, size_t size) {
    return setxattr(path, name, value, size, 0);
}
#endif
#if defined(__linux__)
extern int sync_file_range(int file, __off64_t offset, __off64_t count, unsigned int flags);
// 2 is SYNC_FILE_RANGE_WRITE: begin to write what is dirty, and wait for nothing.
static inline int ph_start_writeback(int file, long long offset, long long count) {
    return sync_file_range(file, offset, count, 2);
}
#else
static inline int ph_start_writeback(int file, long long offset, long long count) {
    return file < 0 || offset < 0 || count < 0 ? -1 : 0;
}
#endif
// Returns when the bytes are on the medium. fsync of Apple's systems leaves them in the drive's cache.
static inline int ph_flush(int file) {
#if defined(__APPLE__)
    return fcntl(file, F_FULLFSYNC) != -1 ? 0 : fsync(file);
#else
    return fdatasync(file);
#endif
}
// Flushes the file system that an open file or folder is on.
#if defined(__linux__)
extern int syncfs(int file);
static inline int ph_flush_all(int file) { return syncfs(file); }
#else
static inline int ph_flush_all(int file) {
    sync();
    return ph_flush(file);
}
#endif
// Exchanges two names in one step; ENOSYS where the system has no such call.
#if defined(__linux__)
#include <errno.h>
#include <sys/syscall.h>
static inline int ph_exchange(const char *one, const char *other) {
#if defined(SYS_renameat2)
    // 2 is RENAME_EXCHANGE.
    return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2);
#else
    errno = ENOSYS;
    return -1;
#endif
}
#elif defined(__APPLE__)
#include <stdio.h>
static inline int ph_exchange(const char *one, const char *other) { return renamex_np(one, other, RENAME_SWAP); }
#endif
// Reads bytes that the system has in memory: -1 with EAGAIN where it would wait for a medium, with EOPNOTSUPP where the file system
// cannot tell, with ENOSYS on systems without such a call. 0 and less bytes than asked for are possible.
#include <errno.h>
#if defined(__linux__)
#include <sys/uio.h>
extern ssize_t preadv64v2(int file, const struct iovec *parts, int count, __off64_t offset, int flags);
static inline ssize_t ph_read_cached(int file, void *bytes, size_t size, long long offset) {
    struct iovec part = {bytes, size};
    // 8 is RWF_NOWAIT.
    return preadv64v2(file, &part, 1, offset, 8);
}
#else
static inline ssize_t ph_read_cached(int file, void *bytes, size_t size, long long offset) {
    (void)file, (void)bytes, (void)size, (void)offset;
    errno = ENOSYS;
    return -1;
}
#endif
