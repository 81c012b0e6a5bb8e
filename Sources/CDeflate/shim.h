// whole buffer gzip, zlib and deflate. Only Sources/TileBodies imports this module.
#include <libdeflate.h>
