/* A PMTiles archive of some 50 million vector tiles with the duplicates of a real planet, for ops/bench/planet.
 *
 *   planet LAND OUT    LAND: 2^20 bytes, 1 for each tile of zoom 10 with land, in the order of the Hilbert curve
 *
 * Zooms 0 to 12 are whole, zoom 13 has the tiles on land only. Each tile of the sea is one body, and 31 % of the tiles on land, in blocks of
 * 64 along the curve, are one of nine. Each other tile has a body of its own: a line of 12 to 140 points, gzip without compression, so
 * that 15 million of them fit a disk. The leaf directories lie behind the bodies, which the format allows.
 * Prints one line: tiles, entries, bodies, bytes. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LAND_ZOOM = 10, TOP = 13, LEAF = 16384, HEAD = 16384, SHARED = 10, BLOCK = 64 };
typedef struct { uint64_t tile, offset; uint32_t run, length; } Entry;
typedef struct { uint8_t *at; size_t size, room; } Bytes;

static void die(const char *what) { fprintf(stderr, "planet: %s\n", what); exit(1); }
static void put(Bytes *b, const void *bytes, size_t size) {
    if (b->size + size > b->room && !(b->at = realloc(b->at, b->room = (b->size + size) * 2))) die("no memory");
    memcpy(b->at + b->size, bytes, size);
    b->size += size;
}
static void varint(Bytes *b, uint64_t v) {
    uint8_t out[10];
    int n = 0;
    for (; v > 0x7f; v >>= 7) out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    put(b, out, n);
}
static void field(Bytes *b, int number, const Bytes *inside) {
    varint(b, (uint64_t)number << 3 | 2);
    varint(b, inside->size);
    put(b, inside->at, inside->size);
}
static uint64_t mixed(uint64_t v) {
    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9u;
    v = (v ^ v >> 27) * 0x94D049BB133111EBu;
    return v ^ v >> 31;
}

/* A gzip member with one stored block: bodies are below 65,536 bytes. */
static void stored(Bytes *out, const Bytes *raw) {
    static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    uint32_t crc = (uint32_t)crc32(0, raw->at, (uInt)raw->size), size = (uint32_t)raw->size;
    uint16_t length[2] = {(uint16_t)size, (uint16_t)~size};
    uint8_t last = 1;
    out->size = 0;
    put(out, head, 10), put(out, &last, 1), put(out, length, 4), put(out, raw->at, raw->size), put(out, &crc, 4), put(out, &size, 4);
}
/* One layer with one line; `number` is its id. */
static void body(Bytes *out, uint64_t number) {
    static Bytes line, feature, layer, tile;
    uint64_t luck = mixed(number);
    unsigned points = 12 + (unsigned)(luck & 127);
    line.size = feature.size = layer.size = tile.size = 0;
    varint(&line, 1 << 3 | 1), varint(&line, luck >> 7 & 4095), varint(&line, luck >> 19 & 4095), varint(&line, points << 3 | 2);
    for (unsigned k = 0; k < 2 * points; k++) varint(&line, 1 + (mixed(luck + k) & 63));
    varint(&feature, 1 << 3), varint(&feature, number + 1), varint(&feature, 3 << 3), varint(&feature, 2), field(&feature, 4, &line);
    varint(&layer, 1 << 3 | 2), varint(&layer, 5), put(&layer, "roads", 5), field(&layer, 2, &feature);
    varint(&layer, 5 << 3), varint(&layer, 4096), varint(&layer, 15 << 3), varint(&layer, 2);
    field(&tile, 3, &layer);
    stored(out, &tile);
}
static void packed(Bytes *out, const Bytes *raw) {
    uLongf size = compressBound(raw->size) + 32;
    uint8_t *room = malloc(size);
    z_stream z = {0};
    if (!room || deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) die("zlib");
    z.next_in = raw->at, z.avail_in = (uInt)raw->size, z.next_out = room, z.avail_out = (uInt)size;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) die("zlib");
    out->size = 0;
    put(out, room, z.total_out);
    deflateEnd(&z);
    free(room);
}
static void directory(Bytes *out, const Entry *e, size_t count) {
    static Bytes raw;
    raw.size = 0;
    varint(&raw, count);
    for (size_t k = 0; k < count; k++) varint(&raw, e[k].tile - (k ? e[k - 1].tile : 0));
    for (size_t k = 0; k < count; k++) varint(&raw, e[k].run);
    for (size_t k = 0; k < count; k++) varint(&raw, e[k].length);
    for (size_t k = 0; k < count; k++)
        varint(&raw, k && e[k].offset == e[k - 1].offset + e[k - 1].length ? 0 : e[k].offset + 1);
    packed(out, &raw);
}

int main(int count, char **words) {
    static uint8_t land[LAND_ZOOM + 1][1 << 2 * LAND_ZOOM];
    if (count != 3) die("usage: planet LAND OUT");
    FILE *f = fopen(words[1], "rb");
    if (!f || fread(land[LAND_ZOOM], 1, 1 << 2 * LAND_ZOOM, f) != 1 << 2 * LAND_ZOOM) die("the map of land cannot be read");
    fclose(f);
    for (int z = LAND_ZOOM; z > 0; z--)
        for (size_t h = 0; h < (size_t)1 << 2 * z; h++) land[z - 1][h >> 2] |= land[z][h];
    if (!(f = fopen(words[2], "wb")) || fseek(f, HEAD, SEEK_SET)) die("the archive cannot be written");
    setvbuf(f, NULL, _IOFBF, 1 << 22);

    Bytes one = {0}, leaves = {0}, out = {0};
    Entry *entries = NULL, *root = NULL;
    size_t used = 0, room = 0, leaf_count = 0;
    uint64_t place = 0, tiles = 0, bodies = 0, first = 0, shared[SHARED];
    uint32_t sizes[SHARED];
    memset(shared, 0xff, sizeof shared);
    for (int z = 0; z <= TOP; first += (uint64_t)1 << 2 * z, z++)
        for (uint64_t h = 0; h < (uint64_t)1 << 2 * z; h++) {
            int dry = z <= LAND_ZOOM ? land[z][h] : land[LAND_ZOOM][h >> 2 * (z - LAND_ZOOM)];
            if (!dry && z == TOP) continue;
            uint64_t luck = mixed((first + h) / BLOCK), offset = place;
            int kind = !dry ? 0 : (luck & 1023) < 317 ? 1 + (int)((luck >> 32) % (SHARED - 1)) : -1;
            uint32_t length;
            if (kind >= 0 && shared[kind] != UINT64_MAX) {
                offset = shared[kind], length = sizes[kind];
            } else {
                body(&one, kind >= 0 ? UINT32_MAX + (uint64_t)kind : first + h);
                if (fwrite(one.at, 1, one.size, f) != one.size) die("the archive cannot be written");
                length = (uint32_t)one.size, place += length, bodies++;
                if (kind >= 0) shared[kind] = offset, sizes[kind] = length;
            }
            tiles++;
            Entry *last = used ? entries + used - 1 : NULL;
            if (last && last->offset == offset && last->tile + last->run == first + h) { last->run++; continue; }
            if (used == room && !(entries = realloc(entries, (room = room ? room * 2 : 1 << 20) * sizeof *entries))) die("no memory");
            entries[used++] = (Entry){first + h, offset, 1, length};
        }
    if (!(root = calloc(used / LEAF + 1, sizeof *root))) die("no memory");
    for (size_t at = 0; at < used; at += LEAF) {
        directory(&out, entries + at, used - at < LEAF ? used - at : LEAF);
        root[leaf_count++] = (Entry){entries[at].tile, leaves.size, 0, (uint32_t)out.size};
        put(&leaves, out.at, out.size);
    }
    if (fwrite(leaves.at, 1, leaves.size, f) != leaves.size) die("the archive cannot be written");

    static const char metadata[] = "{\"name\":\"planet\",\"attribution\":\"test data\",\"vector_layers\":[{\"id\":\"roads\",\"fields\":{},\"minzoom\":0,\"maxzoom\":13}]}";
    Bytes top = {0}, text = {(uint8_t *)metadata, sizeof metadata - 1, 0}, told = {0}, header = {0};
    directory(&top, root, leaf_count);
    packed(&told, &text);
    if (127 + top.size + told.size > HEAD) die("the root directory is too large");
    uint64_t numbers[] = {127, top.size, 127 + top.size, told.size, HEAD + place, leaves.size, HEAD, place, tiles, used, bodies};
    uint8_t kinds[] = {1, 2, 2, 1, 0, TOP}, zoom = 0;
    int32_t bounds[] = {-1800000000, -850511287, 1800000000, 850511287}, center[] = {0, 0};
    put(&header, "PMTiles\x03", 8), put(&header, numbers, sizeof numbers), put(&header, kinds, 6);
    put(&header, bounds, sizeof bounds), put(&header, &zoom, 1), put(&header, center, sizeof center);
    put(&header, top.at, top.size), put(&header, told.at, told.size);
    if (fseek(f, 0, SEEK_SET) || fwrite(header.at, 1, header.size, f) != header.size || fclose(f)) die("the archive cannot be written");
    printf("{\"tiles\": %" PRIu64 ", \"entries\": %zu, \"bodies\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n", tiles, used, bodies, HEAD + place + leaves.size);
    return 0;
}
