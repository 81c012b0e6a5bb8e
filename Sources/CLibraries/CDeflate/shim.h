// whole buffer gzip, zlib and deflate. Only Sources/Foundations/TileBodies imports this module.
#include <libdeflate.h>
