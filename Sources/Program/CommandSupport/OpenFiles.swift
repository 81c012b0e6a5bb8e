import Foundation

/// The number of files and connections that the process may open.
package enum OpenFiles {
    /// Raises the soft limit to the hard limit.
    ///
    /// Systems start programs with 1,024, and every worker needs one connection. A refusal is ignored.
    package static func allowMany() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }
}
