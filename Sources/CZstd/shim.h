// unpacking zstd. Only Sources/TileBodies imports this module.
#include <zstd.h>
#include <zstd_errors.h>
