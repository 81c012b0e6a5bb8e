// LZ4 frames. Only Sources/Shards imports this module.
#include <lz4frame.h>
