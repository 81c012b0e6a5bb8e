// unpacking zstd. Only Sources/Foundations/TileBodies imports this module.
//
// Where the library does not exist, as on Apple's mobile systems, PH_HAS_ZSTD is 0 and such bodies are refused.
#if !defined(PH_PORTABLE) && __has_include(<zstd.h>)
#include <zstd.h>
#include <zstd_errors.h>
static const int PH_HAS_ZSTD = 1;
#else
#include <stddef.h>
static const int PH_HAS_ZSTD = 0;
typedef enum { ZSTD_error_GENERIC = 1, ZSTD_error_dstSize_tooSmall = 70 } ZSTD_ErrorCode;
static inline size_t ZSTD_decompress(void *out, size_t space, const void *in, size_t count) {
    (void)out, (void)space, (void)in, (void)count;
    return (size_t)-1;
}
static inline unsigned ZSTD_isError(size_t code) { return code == (size_t)-1; }
static inline ZSTD_ErrorCode ZSTD_getErrorCode(size_t code) {
    (void)code;
    return ZSTD_error_GENERIC;
}
#endif
