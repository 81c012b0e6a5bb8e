internal import CMalloc
internal import Foundation

/// How glibc's allocator divides its memory among threads.
enum MallocArenas {
    /// Lets as many threads allocate at once as there are cores.
    ///
    /// glibc makes eight arenas a core, and each keeps what its threads once needed: a worker of 107 MiB had 132 MiB so (two cores, 100,000 tiles;
    /// the CPU time was the same). To be called before threads allocate.
    static func limitToCores() {
        _ = ph_limit_arenas(Int32(clamping: max(2, ProcessInfo.processInfo.activeProcessorCount)))
    }

    /// Gives the system what was freed and is kept for later: between kinds of work that need memory of other sizes.
    ///
    /// Takes some milliseconds. What fetching leaves is of no use to a merge, which would grow on top of it.
    static func giveBack() { _ = ph_give_back() }
}
