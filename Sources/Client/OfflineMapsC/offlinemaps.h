/*
 * libofflinemaps: maps in an app without a network. Guide: docs/other-languages.md.
 *
 * Texts are UTF-8 and end with a zero byte. What a function takes it copies.
 *
 * Errors. A function that can fail returns NULL, or an error that the caller frees with ofm_error_free. Its results are then
 * not set. A NULL where a value is needed, and a text that is no UTF-8, are the error "invalid-arguments".
 *
 * Handles. A handle is freed once, by the function named after its type: ofm_error_free, ofm_data_free, ofm_maps_free,
 * ofm_download_free. These functions ignore NULL. A handle may be used by several threads at once, except while it is freed.
 *
 * Threads. Functions block until they are done, unless their text says otherwise. Progress functions are called on one thread of
 * the library, named "offlinemaps", one call at a time in the whole process: none on a thread of the caller. They must return
 * soon, must not throw or jump out, and may call every function of this header but ofm_download_wait.
 *
 * Signals. The library sets no signal handler. A program whose SIGPIPE has the default action should ignore it:
 * signal(SIGPIPE, SIG_IGN).
 */
#ifndef OFFLINEMAPS_H
#define OFFLINEMAPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library with another number does not fit this header. */
#define OFM_ABI_VERSION 1

typedef struct ofm_error ofm_error;       /* why a call failed */
typedef struct ofm_data ofm_data;         /* bytes with a media type */
typedef struct ofm_maps ofm_maps;         /* the maps of a folder */
typedef struct ofm_download ofm_download; /* a download that is under way or has ended */

/* Where a download is. The last call of a progress function has one of the three last states. */
enum ofm_state {
    OFM_WAITING = 0,     /* for its turn, a network or the next attempt; it continues by itself */
    OFM_DOWNLOADING = 1,
    OFM_VERIFYING = 2,
    OFM_INSTALLING = 3,
    OFM_PAUSED = 4,      /* for space, another network, or because the app paused it */
    OFM_DONE = 5,
    OFM_FAILED = 6,
    OFM_CANCELLED = 7
};

/*
 * Gets the progress of a download.
 *   context      what was given with the function
 *   fraction     the part that is done, 0 to 1; never falls
 *   transferred  bytes that came over the network
 *   state        enum ofm_state; new values may be added, treat them as OFM_WAITING
 *   text         the state in English, or the message of the failure; valid during the call
 */
typedef void (*ofm_progress_function)(void *context, double fraction, uint64_t transferred, int32_t state, const char *text);

/* The version of the interface of the loaded library: OFM_ABI_VERSION. Never fails. */
int32_t ofm_abi_version(void);

/* ---- Errors ---- */

/* A stable word: "network", "not-in-catalog", "disk-full", ... Valid until the error is freed. "" for NULL. */
const char *ofm_error_code(const ofm_error *error);
/* What failed and what to do, in English. Valid until the error is freed. "" for NULL. */
const char *ofm_error_message(const ofm_error *error);
void ofm_error_free(ofm_error *error);

/* ---- Bytes ---- */

/* The bytes, followed by a zero byte that does not count. Valid until the data is freed. NULL for NULL. */
const uint8_t *ofm_data_bytes(const ofm_data *data);
/* How many bytes there are. 0 for NULL. */
size_t ofm_data_length(const ofm_data *data);
/* The media type: "application/json", "image/png", ... Valid until the data is freed. "" for NULL. */
const char *ofm_data_type(const ofm_data *data);
void ofm_data_free(ofm_data *data);

/* ---- Maps ---- */

/*
 * Opens the maps of a folder, makes the folder where it is missing, and continues downloads that the end of a process interrupted.
 * Needs no network. A second call for the same folder shares the store of the first one.
 *   catalog  the address of the publisher's catalog, http or https
 *   key      the publisher's key: "ed25519-public:" and 44 characters
 *   token    of a server that shows its catalog with a token only; sent to that server alone. NULL for none
 * Errors: "invalid-arguments", "folder", "storage", "disk-full".
 */
ofm_error *ofm_maps_open(const char *folder, const char *catalog, const char *key, const char *token, ofm_maps **maps);
/*
 * Stops its downloads, which keep their bytes, and lets go of the folder. Returns when the last progress function has returned;
 * on the thread of the library it returns at once. Handles of downloads stay valid and are still to be freed.
 */
void ofm_maps_free(ofm_maps *maps);

/*
 * What the publisher offers, as JSON: {"packages": [{"id", "name", "version", "size", "tileset", "minZoom", "maxZoom", "dataDate",
 * "attribution"}], "styles": [{"id", "name", "version", "size"}]}; what is not known is left out. The server is asked when it was not
 * asked within max_age seconds: 0 always, -1 never.
 * Errors: "network"; "catalog" for a list that is refused, and for an address that has none; "not-in-catalog" when no list was read yet.
 */
ofm_error *ofm_maps_catalog(ofm_maps *maps, int64_t max_age, ofm_data **json);
/* The packages of the last list whose names match in any language, best first, as a JSON array of the same objects. */
ofm_error *ofm_maps_search(ofm_maps *maps, const char *text, const char *language, ofm_data **json);
/*
 * What is installed, as a JSON array: [{"item": {"kind", "id"}, "version", "bytes", "dataDate", "file"}]; a damaged one also has
 * "isDamaged": true.
 */
ofm_error *ofm_maps_installed(ofm_maps *maps, ofm_data **json);
/* What an update would download, by the last list: {"bytes", "changes": [{"item", "from", "to", "bytes", "isPatch"}]}. Asks no server. */
ofm_error *ofm_maps_updates(ofm_maps *maps, ofm_data **json);

/*
 * Reads every byte of what is installed and compares it with what the publisher signed; gives what is missing or damaged, as a JSON
 * array: [{"item": {"kind", "id"}, "path", "problem"}], empty when all is whole. A damaged map stays: the next ofm_maps_download or
 * ofm_maps_update downloads it again, and replaces it when the new file is whole.
 * Errors: "storage".
 */
ofm_error *ofm_maps_verify(ofm_maps *maps, ofm_data **json);

/*
 * Begins to download a package and a style, or to bring them to the newest version of the last list, and returns at once. The list is
 * read again when it is a day old; ofm_maps_update asks the server at once. What is installed and not known to be
 * damaged is not downloaded again.
 *   style     NULL for the package alone
 *   progress  NULL for none
 *   context   given to the progress function; must be valid until ofm_download_free has returned
 * A download that fails says so by its last progress and by ofm_download_wait.
 */
ofm_error *ofm_maps_download(ofm_maps *maps, const char *package, const char *style, ofm_progress_function progress,
                             void *context, ofm_download **download);
/* Asks the server for the list, and begins to bring everything that is installed to the newest version, with patches; returns at once. */
ofm_error *ofm_maps_update(ofm_maps *maps, ofm_progress_function progress, void *context, ofm_download **download);
/* Removes a package and its unfinished download. Errors: "not-found", "storage". */
ofm_error *ofm_maps_remove(ofm_maps *maps, const char *package);

/*
 * An installed style as JSON; its tiles are the file of an installed package, its sprites and glyphs are files. Do not store it: an
 * update has other paths. Errors: "not-found", "invalid-arguments", "damaged".
 */
ofm_error *ofm_maps_style(ofm_maps *maps, const char *style, const char *package, ofm_data **json);
/*
 * A tile of what is installed, uncompressed; y counts from the north. Never waits for an update or a network.
 *   tileset  NULL for any
 *   tile     NULL when the tile is not here; without bytes when the tile server has none
 * Errors: "invalid-arguments" for a tile that cannot exist; "damaged": the map stays, and its other tiles can be read;
 * ofm_maps_download downloads it again.
 */
ofm_error *ofm_maps_tile(ofm_maps *maps, const char *tileset, int32_t z, int32_t x, int32_t y, ofm_data **tile);
/* Whether requests are held back: 1 for offline, 0 for online. It counts until the maps are freed. Until then downloads wait. */
ofm_error *ofm_maps_set_offline(ofm_maps *maps, int32_t offline);

/* ---- Downloads ---- */

/*
 * Waits for the end of a download and of its last progress function.
 *   milliseconds  how long at most; -1 without a limit
 *   ended         1 when it has ended, else 0
 * Errors: why the download failed; "cancelled"; "wrong-state" on the thread of the library.
 */
ofm_error *ofm_download_wait(ofm_download *download, int64_t milliseconds, int32_t *ended);
/* Stops a download and keeps its bytes: the next download of the package continues there. Returns at once. */
void ofm_download_cancel(ofm_download *download);
/*
 * Stops the download when it has not ended. Returns when its last progress function has returned; on the thread of the library at
 * once. Afterwards its progress function is not called.
 */
void ofm_download_free(ofm_download *download);

#ifdef __cplusplus
}
#endif
#endif
