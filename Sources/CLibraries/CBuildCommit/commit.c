#include "CBuildCommit.h"

// The manifest sets PACKHORSE_COMMIT from the variable of this name, which the Makefile takes from ops/commit. Without it, the text below
// counts: `git archive` replaces it (.gitattributes), so that a build from an archive knows its commit without git.
#ifndef PACKHORSE_COMMIT
#define PACKHORSE_COMMIT "$Format:%H %cs$"
#endif

const char *packhorse_build_commit(void) { return PACKHORSE_COMMIT[0] == '$' ? "" : PACKHORSE_COMMIT; }
