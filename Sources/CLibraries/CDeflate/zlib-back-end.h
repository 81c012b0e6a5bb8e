// The functions of libdeflate that TileBodies calls, made of zlib.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum libdeflate_result {
    LIBDEFLATE_SUCCESS = 0, LIBDEFLATE_BAD_DATA = 1, LIBDEFLATE_SHORT_OUTPUT = 2, LIBDEFLATE_INSUFFICIENT_SPACE = 3,
};
// Neither type has members: Swift sees pointers to something unknown, as with libdeflate.
struct libdeflate_decompressor;
struct libdeflate_compressor;

// zlib needs no memory that outlives a call; the level of a compressor is kept.
static inline struct libdeflate_decompressor *libdeflate_alloc_decompressor(void) {
    return (struct libdeflate_decompressor *)malloc(1);
}
static inline void libdeflate_free_decompressor(struct libdeflate_decompressor *d) { free(d); }
static inline struct libdeflate_compressor *libdeflate_alloc_compressor(int level) {
    int *kept = (int *)malloc(sizeof(int));
    if (kept) *kept = level > 9 ? 9 : level;
    return (struct libdeflate_compressor *)kept;
}
static inline void libdeflate_free_compressor(struct libdeflate_compressor *c) { free(c); }

// zlib counts in 32 bits: so many bytes are given to it at once.
#define PH_ZLIB_PIECE (1u << 30)

static inline unsigned ph_zlib_piece(size_t left) { return left > PH_ZLIB_PIECE ? PH_ZLIB_PIECE : (unsigned)left; }

// One stream from the beginning of `in`; `bits` selects its kind as inflateInit2 does.
static inline enum libdeflate_result ph_zlib_inflate(
    int bits, const void *in, size_t in_count, void *out, size_t out_count, size_t *used, size_t *made) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, bits) != Z_OK) return LIBDEFLATE_BAD_DATA;
    // zlib wants a pointer also where there is no space.
    unsigned char none;
    stream.next_in = (unsigned char *)in;
    stream.next_out = out_count ? (unsigned char *)out : &none;
    size_t left = in_count, space = out_count;
    int code = Z_OK;
    while (code == Z_OK) {
        unsigned given = ph_zlib_piece(left), offered = ph_zlib_piece(space);
        stream.avail_in = given;
        stream.avail_out = offered;
        code = inflate(&stream, Z_NO_FLUSH);
        left -= given - stream.avail_in;
        space -= offered - stream.avail_out;
        // Nothing moved, and it is not the end: one of both sides is used up.
        if (code == Z_BUF_ERROR || (code == Z_OK && given == stream.avail_in && offered == stream.avail_out)) break;
    }
    inflateEnd(&stream);
    *used = in_count - left;
    *made = out_count - space;
    if (code == Z_STREAM_END) return LIBDEFLATE_SUCCESS;
    if ((code == Z_OK || code == Z_BUF_ERROR) && space == 0) return LIBDEFLATE_INSUFFICIENT_SPACE;
    return LIBDEFLATE_BAD_DATA;
}
static inline enum libdeflate_result libdeflate_gzip_decompress_ex(
    struct libdeflate_decompressor *d, const void *in, size_t in_count, void *out, size_t out_count, size_t *used, size_t *made) {
    (void)d;
    return ph_zlib_inflate(15 + 16, in, in_count, out, out_count, used, made);
}
static inline enum libdeflate_result libdeflate_zlib_decompress_ex(
    struct libdeflate_decompressor *d, const void *in, size_t in_count, void *out, size_t out_count, size_t *used, size_t *made) {
    (void)d;
    return ph_zlib_inflate(15, in, in_count, out, out_count, used, made);
}
static inline enum libdeflate_result libdeflate_deflate_decompress_ex(
    struct libdeflate_decompressor *d, const void *in, size_t in_count, void *out, size_t out_count, size_t *used, size_t *made) {
    (void)d;
    return ph_zlib_inflate(-15, in, in_count, out, out_count, used, made);
}

// One whole stream; 0 when it does not fit.
static inline size_t ph_zlib_deflate(
    struct libdeflate_compressor *c, int bits, const void *in, size_t in_count, void *out, size_t out_count) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, *(int *)c, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    // The header without a time, and with an unknown system, as libdeflate writes it.
    gz_header header;
    memset(&header, 0, sizeof header);
    header.os = 255;
    if (bits > 15) deflateSetHeader(&stream, &header);
    stream.next_in = (unsigned char *)in;
    stream.next_out = (unsigned char *)out;
    size_t left = in_count, space = out_count;
    int code = Z_OK;
    while (code == Z_OK) {
        unsigned given = ph_zlib_piece(left), offered = ph_zlib_piece(space);
        stream.avail_in = given;
        stream.avail_out = offered;
        code = deflate(&stream, left > given ? Z_NO_FLUSH : Z_FINISH);
        left -= given - stream.avail_in;
        space -= offered - stream.avail_out;
        if (space == 0 && code != Z_STREAM_END) break;
    }
    deflateEnd(&stream);
    return code == Z_STREAM_END ? out_count - space : 0;
}
// zlib's own bound, counted in 64 bits, with the header and the trailer of gzip.
static inline size_t ph_zlib_bound(size_t count) { return count + (count >> 3) + (count >> 8) + 1024; }
static inline size_t libdeflate_gzip_compress_bound(struct libdeflate_compressor *c, size_t count) {
    (void)c;
    return ph_zlib_bound(count);
}
static inline size_t libdeflate_zlib_compress_bound(struct libdeflate_compressor *c, size_t count) {
    (void)c;
    return ph_zlib_bound(count);
}
static inline size_t libdeflate_gzip_compress(
    struct libdeflate_compressor *c, const void *in, size_t in_count, void *out, size_t out_count) {
    return ph_zlib_deflate(c, 15 + 16, in, in_count, out, out_count);
}
static inline size_t libdeflate_zlib_compress(
    struct libdeflate_compressor *c, const void *in, size_t in_count, void *out, size_t out_count) {
    return ph_zlib_deflate(c, 15, in, in_count, out, out_count);
}
static inline uint32_t libdeflate_crc32(uint32_t start, const void *in, size_t count) {
    return (uint32_t)(in ? crc32_z(start, (const unsigned char *)in, count) : start);
}
