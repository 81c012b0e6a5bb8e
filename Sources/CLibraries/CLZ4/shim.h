// LZ4 frames. Only Sources/Builder/Shards imports this module.
#include <lz4frame.h>
