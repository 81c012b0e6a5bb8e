// unpacking brotli. Only Sources/TileBodies imports this module.
#include <brotli/decode.h>
