import Foundation

/// How many files and connections the process may have open.
enum OpenFiles {
    /// Raises the soft limit to the hard one.
    ///
    /// Systems start programs with 1,024, and every worker's connection is one; a refusal changes nothing.
    static func allowMany() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }
}
