// unpacking zstd. Only Sources/Foundations/TileBodies imports this module.
#include <zstd.h>
#include <zstd_errors.h>
