/* The floors of `make bench`: the least that any program must do for the same result.
 *
 *   floor fetch  BASE EXT LIST CONNECTIONS bare|careful OUT    F1 and F2: tiles of a server into one MBTiles file
 *   floor insert PACK INDEX OUT                                bodies from memory into one MBTiles file
 *   floor ranges URL RANGES BODIES CONNECTIONS                 ranges of one file; every body in them inflated, parsed and hashed
 *   floor cut    FILE TILES FOLDER                             tiles of a file on disk into many MBTiles files
 *
 * bare     libcurl's multi interface, one SQLite transaction, nothing looked at.
 * careful  also what a program must do that answers for its file: every distinct body is inflated and parsed to its last geometry, all
 *          are hashed, and equal ones stored once. XXH3 stands for the hash, the cheapest there is, and libdeflate inflates.
 * Prints one line: tiles, bytes, wall and CPU seconds.
 */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <libdeflate.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static void die(const char *what) { fprintf(stderr, "floor: %s\n", what); exit(1); }
static double wall(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static double cpu(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_utime.tv_sec + r.ru_stime.tv_sec + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

/* ---- the list of tiles ---- */
typedef struct { int z; unsigned x, y; } Tile;
static Tile *tiles;
static size_t tile_count;
static void read_list(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) die(path);
    size_t room = 0;
    Tile t;
    while (fscanf(f, "%d/%u/%u", &t.z, &t.x, &t.y) == 3) {
        if (tile_count == room) tiles = realloc(tiles, (room = room ? room * 2 : 4096) * sizeof *tiles);
        tiles[tile_count++] = t;
    }
    fclose(f);
}

/* ---- vector tiles: every field of every layer, and every number of every geometry ---- */
typedef struct { const uint8_t *p, *end; } Span;
static int varint(Span *s, uint64_t *out) {
    uint64_t v = 0;
    for (int shift = 0; s->p < s->end && shift < 64; shift += 7) {
        uint8_t b = *s->p++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return *out = v, 1;
    }
    return 0;
}
static int part(Span *s, Span *out) {
    uint64_t n;
    if (!varint(s, &n) || n > (uint64_t)(s->end - s->p)) return 0;
    *out = (Span){s->p, s->p + n};
    s->p += n;
    return 1;
}
static int skip(Span *s, uint64_t key) {
    uint64_t v;
    Span inner;
    switch (key & 7) {
    case 0: return varint(s, &v);
    case 1: return s->end - s->p >= 8 ? (s->p += 8, 1) : 0;
    case 2: return part(s, &inner);
    case 5: return s->end - s->p >= 4 ? (s->p += 4, 1) : 0;
    default: return 0;
    }
}
static int geometry(Span s) {
    uint64_t command, v;
    while (s.p < s.end) {
        if (!varint(&s, &command)) return 0;
        uint64_t n = command >> 3;
        if ((command & 7) == 7) { if (n != 1) return 0; continue; }
        if ((command & 7) != 1 && (command & 7) != 2) return 0;
        if (n > (uint64_t)(s.end - s.p)) return 0;
        for (uint64_t i = 0; i < n * 2; i++) if (!varint(&s, &v)) return 0;
    }
    return 1;
}
static int feature(Span s, uint64_t *highest) {
    uint64_t key, v;
    Span inner;
    while (s.p < s.end) {
        if (!varint(&s, &key)) return 0;
        if (key == (4 << 3 | 2)) { if (!part(&s, &inner) || !geometry(inner)) return 0; }
        else if (key == (2 << 3 | 2)) {
            if (!part(&s, &inner)) return 0;
            for (int i = 0; inner.p < inner.end; i++) {
                if (!varint(&inner, &v)) return 0;
                if (v + 1 > highest[i & 1]) highest[i & 1] = v + 1;
            }
        } else if (!skip(&s, key)) return 0;
    }
    return 1;
}
static int layer(Span s) {
    uint64_t key, highest[2] = {0, 0}, have[2] = {0, 0};
    Span inner;
    while (s.p < s.end) {
        if (!varint(&s, &key)) return 0;
        if (key == (2 << 3 | 2)) { if (!part(&s, &inner) || !feature(inner, highest)) return 0; continue; }
        if (key == (3 << 3 | 2)) have[0]++;
        if (key == (4 << 3 | 2)) have[1]++;
        if (!skip(&s, key)) return 0;
    }
    return highest[0] <= have[0] && highest[1] <= have[1];
}
static int vector_tile(Span s) {
    uint64_t key;
    Span inner;
    while (s.p < s.end) {
        if (!varint(&s, &key)) return 0;
        if (key == (3 << 3 | 2)) { if (!part(&s, &inner) || !layer(inner)) return 0; }
        else if (!skip(&s, key)) return 0;
    }
    return 1;
}
static void check(const char *body, size_t n) {
    static struct libdeflate_decompressor *inflater;
    static void *room;
    static const size_t limit = 16 << 20;
    if (!inflater) { inflater = libdeflate_alloc_decompressor(); room = malloc(limit); }
    Span whole = {(const uint8_t *)body, (const uint8_t *)body + n};
    size_t size;
    if (n > 2 && whole.p[0] == 0x1f && whole.p[1] == 0x8b) {
        if (libdeflate_gzip_decompress(inflater, body, n, room, limit, &size)) die("a body is no gzip");
        whole = (Span){room, (uint8_t *)room + size};
    } else if (n > 8 && !memcmp(body, "\x89PNG\r\n\x1a\n", 8)) return;
    if (!vector_tile(whole)) die("a body is no vector tile");
}

/* ---- the file ---- */
static sqlite3 *db;
static sqlite3_stmt *insert_tile, *insert_body;
static int careful;
typedef struct { XXH128_hash_t hash; int64_t number; } Seen;
static Seen *seen;
static size_t seen_room;
static int64_t bodies;
static void sql(const char *text) { if (sqlite3_exec(db, text, 0, 0, 0)) die(sqlite3_errmsg(db)); }
static void open_file(const char *path) {
    unlink(path);
    if (sqlite3_open(path, &db)) die(path);
    sql("PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536");
    sql("CREATE TABLE metadata(name TEXT, value TEXT)");
    if (careful) {
        sql("CREATE TABLE tiles_shallow(zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data_id INTEGER);"
            "CREATE TABLE tiles_data(tile_data_id INTEGER PRIMARY KEY, tile_data BLOB);"
            "CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles_shallow JOIN tiles_data USING(tile_data_id)");
        for (seen_room = 1024; seen_room < tile_count * 2; seen_room *= 2) {}
        seen = calloc(seen_room, sizeof *seen);
    } else sql("CREATE TABLE tiles(zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)");
    sql("BEGIN");
    if (sqlite3_prepare_v2(db, careful ? "INSERT INTO tiles_shallow VALUES(?,?,?,?)" : "INSERT INTO tiles VALUES(?,?,?,?)", -1, &insert_tile, 0)) die("prepare");
    if (careful && sqlite3_prepare_v2(db, "INSERT INTO tiles_data VALUES(?,?)", -1, &insert_body, 0)) die("prepare");
}
static void step(sqlite3_stmt *s) { if (sqlite3_step(s) != SQLITE_DONE) die(sqlite3_errmsg(db)); sqlite3_reset(s); }
static int64_t body_number(const char *body, size_t n) {
    XXH128_hash_t h = XXH3_128bits(body, n);
    size_t i = h.low64 & (seen_room - 1);
    for (; seen[i].number; i = (i + 1) & (seen_room - 1)) if (XXH128_isEqual(seen[i].hash, h)) return seen[i].number;
    check(body, n);
    seen[i] = (Seen){h, ++bodies};
    sqlite3_bind_int64(insert_body, 1, bodies);
    sqlite3_bind_blob(insert_body, 2, body, (int)n, SQLITE_STATIC);
    step(insert_body);
    return bodies;
}
static void put(const Tile *t, const char *body, size_t n) {
    int64_t number = careful ? body_number(body, n) : 0;
    sqlite3_bind_int(insert_tile, 1, t->z);
    sqlite3_bind_int64(insert_tile, 2, t->x);
    sqlite3_bind_int64(insert_tile, 3, (1 << t->z) - 1 - (int64_t)t->y);
    if (careful) sqlite3_bind_int64(insert_tile, 4, number);
    else sqlite3_bind_blob(insert_tile, 4, body, (int)n, SQLITE_STATIC);
    step(insert_tile);
}
static void close_file(void) {
    sql(careful ? "CREATE UNIQUE INDEX tiles_shallow_index ON tiles_shallow(zoom_level, tile_column, tile_row)"
                : "CREATE UNIQUE INDEX tile_index ON tiles(zoom_level, tile_column, tile_row)");
    sql("COMMIT");
    sqlite3_finalize(insert_tile);
    sqlite3_finalize(insert_body);
    if (sqlite3_close(db)) die("close");
}

/* ---- fetching ---- */
typedef struct { CURL *easy; const Tile *tile; char *body; size_t size, room; } Slot;
static size_t receive(char *bytes, size_t one, size_t count, void *context) {
    Slot *s = context;
    if (s->size + count > s->room) s->body = realloc(s->body, s->room = (s->size + count) * 2);
    memcpy(s->body + s->size, bytes, count);
    s->size += count;
    return one * count;
}
static void begin(CURLM *multi, Slot *s, const Tile *t, const char *base, const char *ext) {
    char url[512];
    snprintf(url, sizeof url, "%s/%d/%u/%u.%s", base, t->z, t->x, t->y, ext);
    s->tile = t;
    s->size = 0;
    curl_easy_setopt(s->easy, CURLOPT_URL, url);
    curl_multi_add_handle(multi, s->easy);
}
static int fetch(char **a) {
    const char *base = a[0], *ext = a[1];
    read_list(a[2]);
    size_t connections = strtoul(a[3], 0, 10), next = 0, done = 0, bytes = 0;
    careful = !strcmp(a[4], "careful");
    double start = wall();
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)connections);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)connections);
    open_file(a[5]);
    Slot *slots = calloc(connections, sizeof *slots);
    for (size_t i = 0; i < connections && next < tile_count; i++) {
        Slot *s = &slots[i];
        s->easy = curl_easy_init();
        curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
        curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
        curl_easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(s->easy, CURLOPT_BUFFERSIZE, 65536L);
        curl_easy_setopt(s->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        begin(multi, s, &tiles[next++], base, ext);
    }
    while (done < tile_count) {
        int running, left;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            Slot *s;
            long status;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &s);
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
            if (message->data.result || status != 200) die("a tile could not be had");
            curl_multi_remove_handle(multi, s->easy);
            put(s->tile, s->body, s->size);
            bytes += s->size;
            done++;
            if (next < tile_count) begin(multi, s, &tiles[next++], base, ext);
        }
        if (done < tile_count) curl_multi_poll(multi, 0, 0, 1000, 0);
    }
    close_file();
    printf("{\"tiles\": %zu, \"bytes\": %zu, \"wall\": %.4f, \"cpu\": %.4f}\n", done, bytes, wall() - start, cpu());
    return 0;
}

/* ---- inserting from memory ---- */
static int insert(char **a) {
    FILE *pack = fopen(a[0], "rb"), *index = fopen(a[1], "r");
    if (!pack || !index) die("no pack or index");
    fseek(pack, 0, SEEK_END);
    size_t size = ftell(pack), offset, length, done = 0;
    rewind(pack);
    char *bytes = malloc(size);
    if (fread(bytes, 1, size, pack) != size) die("the pack cannot be read");
    double start = wall(), before = cpu();
    open_file(a[2]);
    Tile t;
    while (fscanf(index, "%d %u %u %zu %zu", &t.z, &t.x, &t.y, &offset, &length) == 5) {
        if (offset > size || length > size - offset) die("the index is wrong");
        put(&t, bytes + offset, length);
        done++;
    }
    close_file();
    printf("{\"tiles\": %zu, \"bytes\": %zu, \"wall\": %.4f, \"cpu\": %.4f}\n", done, size, wall() - start, cpu() - before);
    return 0;
}

/* ---- ranges of a file: BODIES has "offset length" a line, ascending; RANGES "offset length bodies" ---- */
typedef struct { uint64_t offset; size_t length; } Place;
typedef struct { Place place; size_t first, count; } Range;
static int ranges(char **a) {
    FILE *f = fopen(a[1], "r"), *g = fopen(a[2], "r");
    if (!f || !g) die("no ranges or bodies");
    size_t many = 0, room = 0, found = 0, space = 0, next = 0, done = 0, bytes = 0, checked = 0;
    Range *list = 0, r;
    Place *places = 0, p;
    unsigned long long offset;
    while (fscanf(g, "%llu %zu", &offset, &p.length) == 2) {
        if (found == space) places = realloc(places, (space = space ? space * 2 : 4096) * sizeof *places);
        p.offset = offset;
        places[found++] = p;
    }
    for (size_t at = 0; fscanf(f, "%llu %zu %zu", &offset, &r.place.length, &r.count) == 3; at += r.count) {
        if (many == room) list = realloc(list, (room = room ? room * 2 : 4096) * sizeof *list);
        r.place.offset = offset;
        r.first = at;
        list[many++] = r;
    }
    size_t connections = strtoul(a[3], 0, 10);
    double start = wall();
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)connections);
    Slot *slots = calloc(connections, sizeof *slots);
    Range **at = calloc(connections, sizeof *at);
    XXH128_hash_t sum = {0, 0};
    char text[64];
    for (size_t i = 0; i < connections && next < many; i++, next++) {
        Slot *s = &slots[i];
        s->easy = curl_easy_init();
        curl_easy_setopt(s->easy, CURLOPT_URL, a[0]);
        curl_easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
        curl_easy_setopt(s->easy, CURLOPT_PRIVATE, s);
        curl_easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(s->easy, CURLOPT_BUFFERSIZE, 65536L);
        at[i] = &list[next];
        snprintf(text, sizeof text, "%llu-%llu", (unsigned long long)at[i]->place.offset, (unsigned long long)(at[i]->place.offset + at[i]->place.length - 1));
        curl_easy_setopt(s->easy, CURLOPT_RANGE, text);
        curl_multi_add_handle(multi, s->easy);
    }
    while (done < many) {
        int running, left;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            Slot *s;
            long status;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &s);
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
            size_t i = s - slots;
            if (message->data.result || status != 206 || s->size != at[i]->place.length) die("a range could not be had");
            curl_multi_remove_handle(multi, s->easy);
            for (size_t k = at[i]->first; k < at[i]->first + at[i]->count; k++) {
                const char *body = s->body + (places[k].offset - at[i]->place.offset);
                XXH128_hash_t h = XXH3_128bits(body, places[k].length);
                sum.low64 ^= h.low64;
                check(body, places[k].length);
                checked++;
            }
            bytes += s->size;
            s->size = 0;
            done++;
            if (next == many) continue;
            at[i] = &list[next++];
            snprintf(text, sizeof text, "%llu-%llu", (unsigned long long)at[i]->place.offset, (unsigned long long)(at[i]->place.offset + at[i]->place.length - 1));
            curl_easy_setopt(s->easy, CURLOPT_RANGE, text);
            curl_multi_add_handle(multi, s->easy);
        }
        if (done < many) curl_multi_poll(multi, 0, 0, 1000, 0);
    }
    printf("{\"requests\": %zu, \"bodies\": %zu, \"bytes\": %zu, \"wall\": %.4f, \"cpu\": %.4f, \"sum\": \"%llx\"}\n", done, checked, bytes, wall() - start, cpu(),
           (unsigned long long)sum.low64);
    return 0;
}

/* ---- many files from one on disk: TILES has "package z x y offset length" a line, the packages one after the other ---- */
static int cut(char **a) {
    FILE *in = fopen(a[0], "rb"), *list = fopen(a[1], "r");
    if (!in || !list) die("no file or tiles");
    double start = wall();
    Tile t;
    size_t package, last = (size_t)-1, length, room = 0, files = 0, done = 0;
    unsigned long long offset;
    char *body = 0, path[512];
    while (fscanf(list, "%zu %d %u %u %llu %zu", &package, &t.z, &t.x, &t.y, &offset, &length) == 6) {
        if (package != last) {
            if (files) close_file();
            snprintf(path, sizeof path, "%s/%zu.mbtiles", a[2], package);
            open_file(path);
            last = package;
            files++;
        }
        if (length > room) body = realloc(body, room = length * 2);
        if (pread(fileno(in), body, length, offset) != (ssize_t)length) die("the file cannot be read");
        put(&t, body, length);
        done++;
    }
    if (files) close_file();
    printf("{\"files\": %zu, \"tiles\": %zu, \"wall\": %.4f, \"cpu\": %.4f}\n", files, done, wall() - start, cpu());
    return 0;
}

int main(int count, char **a) {
    if (count == 8 && !strcmp(a[1], "fetch")) return fetch(a + 2);
    if (count == 5 && !strcmp(a[1], "insert")) return insert(a + 2);
    if (count == 6 && !strcmp(a[1], "ranges")) return ranges(a + 2);
    if (count == 5 && !strcmp(a[1], "cut")) return cut(a + 2);
    die("ranges URL RANGES BODIES CONNECTIONS | cut FILE TILES FOLDER | fetch BASE EXT LIST CONNECTIONS bare|careful OUT | insert PACK INDEX OUT");
}
