#include "CRegionData.h"

// #embed is C23; this clang knows it in every mode and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

const unsigned char ph_towns_bin[] = {
#embed "towns.bin"
};
const size_t ph_towns_bin_size = sizeof ph_towns_bin;
