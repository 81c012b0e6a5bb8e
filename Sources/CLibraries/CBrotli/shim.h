// unpacking brotli. Only Sources/Foundations/TileBodies imports this module.
#include <brotli/decode.h>
