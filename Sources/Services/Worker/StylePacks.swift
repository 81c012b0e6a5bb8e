internal import Blobs
internal import Files
internal import Foundation
internal import StyleFormat
internal import Styles
internal import Synchronization

/// The style packs of this process, collected once for each job, so that all packages of a job contain the same style.
///
/// A later job starts with the files of the last one and asks the servers which of them have changed. All packs are
/// removed when the process ends.
actor StylePacks {
    /// The parameters of a pack.
    struct Wanted: Hashable, Sendable {
        let url: String
        var language: String?
        /// The value of `{key}` in the url.
        var key: String?
        let job: UInt64
    }

    private struct Entry {
        let folder: URL
        let collecting: Task<Void, Never>
        let steps: Steps
        var outcome: Result<Void, any Error>?
        var users = 0
        let number: Int

        var isWhole: Bool { if case .success? = outcome { true } else { false } }
    }

    /// Counts answers of the servers, so that waiting tasks can see progress.
    private final class Steps: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// Number of unused packs that are kept.
    ///
    /// The oldest are removed first.
    private static let limit = 4

    private let parent: URL
    private var scratch: ScratchFolder?
    private var entries: [Wanted: Entry] = [:]
    private var count = 0

    /// Creates packs in a folder of this process below `parent`.
    ///
    /// The folder is made when the first pack is requested.
    init(in parent: URL) { self.parent = parent }

    /// Runs `body` with the folder of a pack.
    ///
    /// The folder does not change until `body` has ended.
    ///
    /// - Throws: what `body` throws; `StylesError`, `StorageError`; `CancellationError`: then the collection stops if no
    ///   other task needs it.
    func withPack<Value: Sendable>(
        _ wanted: Wanted, meter: WorkMeter, _ body: @Sendable (URL) async throws -> Value
    ) async throws -> Value {
        if entries[wanted] == nil { try begin(wanted) }
        entries[wanted]?.users += 1
        defer { leave(wanted) }
        var seen = 0
        while true {
            guard let entry = entries[wanted] else { throw CancellationError() }
            if let outcome = entry.outcome {
                try outcome.get()
                return try await body(entry.folder)
            }
            if entry.steps.value > seen {
                seen = entry.steps.value
                meter.countStep()
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func begin(_ wanted: Wanted) throws {
        let scratch = try self.scratch ?? ScratchFolder(in: parent)
        self.scratch = scratch
        count += 1
        let folder = scratch.url.appending(path: "\(count)", directoryHint: .isDirectory)
        let older = entries.filter {
            $0.key.url == wanted.url && $0.key.language == wanted.language && $0.value.isWhole
        }.max { $0.value.number < $1.value.number }
        // If this fails, everything is fetched again.
        if let older { try? FileManager.default.copyItem(at: older.value.folder, to: folder) }
        let steps = Steps()
        let number = count
        let collecting = Task { [weak self] in
            let outcome: Result<Void, any Error>
            do {
                let location = StyleLocation(address: wanted.url, key: wanted.key, language: wanted.language)
                _ = try await StylePackCollector.collect(location, into: folder) { _ in steps.add() }
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            await self?.collectionEnded(wanted, number: number, outcome: outcome)
        }
        entries[wanted] = Entry(folder: folder, collecting: collecting, steps: steps, number: number)
    }

    private func collectionEnded(_ wanted: Wanted, number: Int, outcome: Result<Void, any Error>) {
        // An abandoned pack may already have a successor.
        guard entries[wanted]?.number == number else { return }
        entries[wanted]?.outcome = outcome
        if entries[wanted]?.users == 0 { leave(wanted) }
    }

    /// Removes one user.
    ///
    /// The collection of a pack without users is stopped, and a failed pack is tried again by the next user.
    private func leave(_ wanted: Wanted) {
        guard let entry = entries[wanted] else { return }
        entries[wanted]?.users = max(entry.users - 1, 0)
        guard entries[wanted]?.users == 0 else { return }
        if entry.outcome == nil { entry.collecting.cancel() }
        if !entry.isWhole {
            // Files that are still being written are removed with the process's folder.
            entries[wanted] = nil
            if entry.outcome != nil { remove(entry.folder) }
        }
        let idle = entries.filter { $0.value.users == 0 && $0.value.isWhole }.sorted {
            $0.value.number < $1.value.number
        }
        for (key, entry) in idle.dropLast(Self.limit) {
            entries[key] = nil
            remove(entry.folder)
        }
    }

    private func remove(_ folder: URL) {
        // A folder that cannot be removed is removed with the process's folder.
        do { try FileManager.default.removeItem(at: folder) } catch { return }
    }
}
