// deflate as most tile servers pack. Only Sources/Foundations/TileBodies imports this module.
#include <zlib.h>
