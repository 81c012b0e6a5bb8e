// Packing and unpacking zstd. Only Sources/Foundations/TileBodies imports this module.
//
// Where the library does not exist, as on Apple's mobile systems, PH_HAS_ZSTD is 0 and such bodies are refused.
#include <stddef.h>
#if !defined(PH_PORTABLE) && __has_include(<zstd.h>)
#include <zstd.h>
#include <zstd_errors.h>
static const int PH_HAS_ZSTD = 1;

// Packs bytes that may copy from a prefix. 0: it failed, or takes more than `space` bytes.
static inline size_t ph_zstd_pack(ZSTD_CCtx *packer, void *out, size_t space, const void *in, size_t count,
                                  const void *prefix, size_t prefix_count) {
    // The window reaches from the last byte to the first one of the prefix. zstd makes its tables smaller for less.
    int window = 10;
    while (((size_t)1 << window) < count + prefix_count && window < 27) window++;
    const struct {
        ZSTD_cParameter name;
        int value;
    } settings[] = {
        {ZSTD_c_compressionLevel, 12}, {ZSTD_c_windowLog, window}, {ZSTD_c_enableLongDistanceMatching, 1}, {ZSTD_c_checksumFlag, 0},
    };
    if (ZSTD_isError(ZSTD_CCtx_reset(packer, ZSTD_reset_session_and_parameters))) return 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (ZSTD_isError(ZSTD_CCtx_setParameter(packer, settings[i].name, settings[i].value))) return 0;
    if (ZSTD_isError(ZSTD_CCtx_refPrefix(packer, prefix, prefix_count))) return 0;
    size_t made = ZSTD_compress2(packer, out, space, in, count);
    return ZSTD_isError(made) ? 0 : made;
}

// Unpacks what ph_zstd_pack has made; whether it makes exactly `count` bytes. Needs no memory besides that of the arguments.
static inline int ph_zstd_unpack(ZSTD_DCtx *unpacker, void *out, size_t count, const void *in, size_t in_count,
                                 const void *prefix, size_t prefix_count) {
    if (ZSTD_isError(ZSTD_DCtx_reset(unpacker, ZSTD_reset_session_and_parameters))) return 0;
    if (ZSTD_isError(ZSTD_DCtx_refPrefix(unpacker, prefix, prefix_count))) return 0;
    size_t made = ZSTD_decompressDCtx(unpacker, out, count, in, in_count);
    return !ZSTD_isError(made) && made == count;
}
#else
static const int PH_HAS_ZSTD = 0;
typedef enum { ZSTD_error_GENERIC = 1, ZSTD_error_dstSize_tooSmall = 70 } ZSTD_ErrorCode;
typedef struct ZSTD_CCtx_s ZSTD_CCtx;
typedef struct ZSTD_DCtx_s ZSTD_DCtx;
static inline size_t ZSTD_decompress(void *out, size_t space, const void *in, size_t count) {
    (void)out, (void)space, (void)in, (void)count;
    return (size_t)-1;
}
static inline unsigned ZSTD_isError(size_t code) { return code == (size_t)-1; }
static inline ZSTD_ErrorCode ZSTD_getErrorCode(size_t code) {
    (void)code;
    return ZSTD_error_GENERIC;
}
static inline ZSTD_CCtx *ZSTD_createCCtx(void) { return NULL; }
static inline size_t ZSTD_freeCCtx(ZSTD_CCtx *packer) {
    (void)packer;
    return 0;
}
static inline ZSTD_DCtx *ZSTD_createDCtx(void) { return NULL; }
static inline size_t ZSTD_freeDCtx(ZSTD_DCtx *unpacker) {
    (void)unpacker;
    return 0;
}
static inline size_t ph_zstd_pack(ZSTD_CCtx *packer, void *out, size_t space, const void *in, size_t count,
                                  const void *prefix, size_t prefix_count) {
    (void)packer, (void)out, (void)space, (void)in, (void)count, (void)prefix, (void)prefix_count;
    return 0;
}
static inline int ph_zstd_unpack(ZSTD_DCtx *unpacker, void *out, size_t count, const void *in, size_t in_count,
                                 const void *prefix, size_t prefix_count) {
    (void)unpacker, (void)out, (void)count, (void)in, (void)in_count, (void)prefix, (void)prefix_count;
    return 0;
}
#endif
