// The files of the web page, embedded in the binary. Only module Gateway reads them.
#ifndef PACKHORSE_CWEBPAGE_H
#define PACKHORSE_CWEBPAGE_H

#include <stddef.h>

/// One file of the page.
struct ph_page_file {
    /// The path below /ui/, ended by a zero.
    const char *path;
    /// The media type, ended by a zero.
    const char *media_type;
    const unsigned char *bytes;
    size_t size;
};

/// All files; a file that is added below page/ gets its rows in page.c (ops/check-page refuses it otherwise).
extern const struct ph_page_file ph_page_files[];
extern const size_t ph_page_file_count;

// Swift imports an array of unknown size as an empty tuple: this gives it a pointer.
static inline const struct ph_page_file *ph_page_files_start(void) { return ph_page_files; }

#endif
