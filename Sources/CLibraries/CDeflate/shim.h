// whole buffer gzip, zlib and deflate. Only Sources/Foundations/TileBodies imports this module.
//
// Where libdeflate does not exist, as on Apple's systems, the same functions are made of zlib: they unpack the same streams, and
// pack others than libdeflate does. PH_PORTABLE selects them on any system; ops/portable-test compares both.
#if !defined(PH_PORTABLE) && __has_include(<libdeflate.h>)
#include <libdeflate.h>
#else
#include "zlib-back-end.h"
#endif
