internal import Foundation
internal import Shards
internal import Styles
internal import Synchronization

/// The style packs of this process: collected once for each job, so that all packages of a job hold the same style.
///
/// A later job asks the servers again what has changed, beginning with what the last one has. Nothing outlives the process.
actor StylePacks {
    /// What a pack is collected for.
    struct Wanted: Hashable, Sendable {
        let url: String
        var language: String?
        /// What `{key}` stands for in the url.
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

    /// Counts answers of the servers, so that who waits can tell that something happens.
    private final class Steps: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// Packs kept that nobody uses; the oldest go first.
    private static let limit = 4

    private let parent: URL
    private var scratch: ScratchFolder?
    private var entries: [Wanted: Entry] = [:]
    private var count = 0

    /// Packs in a folder of this process below `parent`, which is made when the first one is wanted.
    init(in parent: URL) { self.parent = parent }

    /// Runs `body` with the folder of a pack, which stays as it is until `body` has ended.
    ///
    /// - Throws: what `body` throws; `StylesError`, `ShardsError`; `CancellationError`: then nobody collects for nothing.
    func withPack<Value: Sendable>(
        _ wanted: Wanted, _ meter: WorkMeter, _ body: @Sendable (URL) async throws -> Value
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
                meter.step()
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
        // A failure here costs only that everything is fetched again.
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
            await self?.ended(wanted, number, outcome)
        }
        entries[wanted] = Entry(folder: folder, collecting: collecting, steps: steps, number: number)
    }

    private func ended(_ wanted: Wanted, _ number: Int, _ outcome: Result<Void, any Error>) {
        // One that was given up may have a successor already.
        guard entries[wanted]?.number == number else { return }
        entries[wanted]?.outcome = outcome
        if entries[wanted]?.users == 0 { leave(wanted) }
    }

    /// One user less; a pack that nobody waits for any more is not collected on, and one that failed is tried anew by the next.
    private func leave(_ wanted: Wanted) {
        guard let entry = entries[wanted] else { return }
        entries[wanted]?.users = max(entry.users - 1, 0)
        guard entries[wanted]?.users == 0 else { return }
        if entry.outcome == nil { entry.collecting.cancel() }
        if !entry.isWhole {
            // What is still being written is removed with the process's folder.
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
        do { try FileManager.default.removeItem(at: folder) } catch { return }  // It goes with the process's folder.
    }
}
