internal import CMalloc
internal import Foundation

/// Configures how glibc's allocator divides its memory among threads.
enum MallocArenas {
    /// Limits the number of threads that allocate at the same time to the number of cores.
    ///
    /// glibc creates eight arenas per core, and each keeps the memory that its threads once needed. So a worker of 107
    /// MiB had 132 MiB (two cores, 100,000 tiles; the CPU time was the same). Must be called before threads allocate.
    static func limitToCores() {
        _ = ph_limit_arenas(Int32(clamping: max(2, ProcessInfo.processInfo.activeProcessorCount)))
    }

    /// Returns free memory to the system.
    ///
    /// Called between kinds of work that need blocks of other sizes.
    ///
    /// Takes some milliseconds. A merge cannot use the memory that fetching leaves, and would need more in addition to
    /// it.
    static func giveBack() { _ = ph_give_back() }
}
