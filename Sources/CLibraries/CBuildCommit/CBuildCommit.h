#ifndef PACKHORSE_BUILD_COMMIT_H
#define PACKHORSE_BUILD_COMMIT_H

/// The commit that the program was built from: HASH YYYY-MM-DD, then " modified" when files of the tree differed from it.
///
/// Empty when the build was not told, and the sources are not those of `git archive`.
const char *packhorse_build_commit(void);

#endif
