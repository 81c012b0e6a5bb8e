// glibc's knobs of its allocator, which Swift's module of glibc leaves out. Only Sources/Commands imports this module.
#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
static inline int ph_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count); }
#else
static inline int ph_limit_arenas(int count) { return count > 0; }
#endif
