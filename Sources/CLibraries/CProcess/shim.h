// A call of glibc that Swift's module of it leaves out. Only Sources/Foundations/AreaFiles imports this module.
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int lowest);
// Closes all files from this number on in the process that is started.
static inline int ph_close_from(posix_spawn_file_actions_t *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}
