#include "CRegionData.h"

// #embed is C23; this clang knows it in every mode and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

const unsigned char ph_regions_bin[] = {
#embed "regions.bin"
};
const size_t ph_regions_bin_size = sizeof ph_regions_bin;

const unsigned char ph_regions_json[] = {
#embed "regions.json"
};
const size_t ph_regions_json_size = sizeof ph_regions_json;
