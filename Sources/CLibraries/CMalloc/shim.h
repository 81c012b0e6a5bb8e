// glibc's knobs of its allocator, which Swift's module of glibc leaves out. Only Sources/Program/Commands imports this module.
#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
static inline int ph_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count); }
static inline int ph_give_back(void) { return malloc_trim(0); }
#else
static inline int ph_limit_arenas(int count) { return count > 0; }
static inline int ph_give_back(void) { return 0; }
#endif
