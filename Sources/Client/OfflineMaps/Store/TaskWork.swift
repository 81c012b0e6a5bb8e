/// How far a task is, for the time when no process works on it: which part files it has, and what it had downloaded.
///
/// The process that works writes it now and then. The sizes of the part files at a later moment say what came since.
struct TaskWork: Hashable, Codable, Sendable {
    /// A file of the plan that was open.
    struct Piece: Hashable, Codable, Sendable {
        /// SHA-256 of the file, which also names its part file.
        var file: String
        /// SHA-256 of the patch that it is made from.
        var patch: String?
        /// Bytes of the file when it is whole.
        var size: UInt64
        /// Bytes of its download, and those of them that were there.
        var cost: UInt64
        var there: UInt64

        /// Bytes of its download that are there, by the sizes of the part files of the moment.
        func there(in parts: [String: UInt64]) -> UInt64 {
            parts.downloaded(of: file, size: size, patch: patch, cost: cost)
        }
    }

    /// The open files, without single tiles.
    var pieces: [Piece] = []
    /// Bytes of the whole plan, and those of them that were there.
    var cost: UInt64
    var there: UInt64
    /// What was reported last.
    var progress: TaskProgress

    /// The names of the task's part files.
    var digests: Set<String> { Set(pieces.flatMap { [$0.file] + ($0.patch.map { [$0] } ?? []) }) }

    /// The progress with the part files and the installed files of the moment.
    func progress(parts: [String: UInt64], installed: Set<String>) -> TaskProgress {
        var (there, came) = (there, UInt64(0))
        for piece in pieces {
            let now = installed.contains(piece.file) ? piece.cost : piece.there(in: parts)
            there -= min(there, piece.there)
            there = there.addingReportingOverflow(now).partialValue
            came += now > piece.there ? now - piece.there : 0
        }
        var progress = progress
        progress.fraction = cost == 0 ? progress.fraction : min(1, Double(there) / Double(cost))
        progress.transferred = progress.transferred.addingReportingOverflow(came).partialValue
        return progress
    }
}

extension TaskPlan {
    /// The plan as it is kept for other processes.
    func work(_ progress: TaskProgress) -> TaskWork {
        let pieces = openNumbers.filter { !downloads[$0].isTile }.map { number in
            TaskWork.Piece(
                file: downloads[number].file.digest, patch: states[number].patch, size: downloads[number].size,
                cost: states[number].cost, there: states[number].there)
        }
        return TaskWork(pieces: pieces, cost: cost, there: there, progress: progress)
    }
}

extension [String: UInt64] {
    /// Bytes of a download that are there, by the sizes of its part files.
    ///
    /// A file that is whole needs nothing more. Its patch is removed before it is installed, so the size of the patch's part
    /// file alone would say that nothing was downloaded.
    func downloaded(of file: String, size: UInt64, patch: String?, cost: UInt64) -> UInt64 {
        let part = self[file] ?? 0
        return part == size ? cost : Swift.min(cost, patch.map { self[$0] ?? 0 } ?? part)
    }
}
