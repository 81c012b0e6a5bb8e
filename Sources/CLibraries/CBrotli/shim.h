// unpacking brotli. Only Sources/Foundations/TileBodies imports this module.
//
// Where the library does not exist, as on Apple's mobile systems, PH_HAS_BROTLI is 0 and such bodies are refused.
#if !defined(PH_PORTABLE) && __has_include(<brotli/decode.h>)
#include <brotli/decode.h>
static const int PH_HAS_BROTLI = 1;
#else
#include <stddef.h>
#include <stdint.h>
static const int PH_HAS_BROTLI = 0;
typedef struct BrotliDecoderStateStruct BrotliDecoderState;
typedef enum {
    BROTLI_DECODER_RESULT_ERROR = 0, BROTLI_DECODER_RESULT_SUCCESS = 1, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT = 2,
    BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT = 3,
} BrotliDecoderResult;
static inline BrotliDecoderState *BrotliDecoderCreateInstance(void *allocate, void *release, void *opaque) {
    (void)allocate, (void)release, (void)opaque;
    return 0;
}
static inline void BrotliDecoderDestroyInstance(BrotliDecoderState *state) { (void)state; }
static inline BrotliDecoderResult BrotliDecoderDecompressStream(
    BrotliDecoderState *state, size_t *left, const uint8_t **in, size_t *space, uint8_t **out, size_t *total) {
    (void)state, (void)left, (void)in, (void)space, (void)out, (void)total;
    return BROTLI_DECODER_RESULT_ERROR;
}
#endif
