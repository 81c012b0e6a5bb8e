// The embedded region tree and list of towns, made by ops/regions/build. Only module Regions reads it.
#ifndef PACKHORSE_CREGIONDATA_H
#define PACKHORSE_CREGIONDATA_H

#include <stddef.h>

/// Boundaries; layout in ops/regions/FORMAT.md.
extern const unsigned char ph_regions_bin[];
extern const size_t ph_regions_bin_size;

/// Ids, parents, bounds and names as UTF-8 JSON, not terminated by a zero.
extern const unsigned char ph_regions_json[];
extern const size_t ph_regions_json_size;

/// Towns and their names; layout in ops/regions/FORMAT.md.
extern const unsigned char ph_towns_bin[];
extern const size_t ph_towns_bin_size;

// Swift imports an array of unknown size as an empty tuple: these give it the pointers.
static inline const unsigned char *ph_regions_bin_start(void) { return ph_regions_bin; }
static inline const unsigned char *ph_regions_json_start(void) { return ph_regions_json; }
static inline const unsigned char *ph_towns_bin_start(void) { return ph_towns_bin; }

#endif
