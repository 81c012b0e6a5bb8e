// deflate as most tile servers pack. Only Sources/TileBodies imports this module.
#include <zlib.h>
