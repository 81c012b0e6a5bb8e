internal import Errors
internal import Files
internal import PackageFiles
internal import Synchronization
internal import TextFormats
internal import TileBodies
internal import Tiles

/// The open files with tiles; beyond the limit the one that was not used for the longest time is closed.
final class OpenArchives: Sendable {
    /// The most open files.
    static let maxArchives = 64

    private struct Place: Sendable {
        let archive: SharedArchive
        var lastUse: UInt64
    }

    private struct State: Sendable {
        var places: [ServedFile: Place] = [:]
        var clock: UInt64 = 0
    }

    private let state = Mutex(State())
    private let budget = HandleBudget(limit: maxArchives)
    private let threads: WorkThreads

    /// - Parameter threads: How many reads run at the same time; they block.
    init(threads: Int) { self.threads = WorkThreads("packhorse.gateway.archives", count: threads) }

    /// How many files are open.
    var count: Int { state.withLock { $0.places.count } }

    /// Runs `body` with the open file, on a thread that may block.
    ///
    /// - Throws: ``Problem`` `not-found` for a file that was removed, `damaged` for one that cannot be read.
    func read<Value: Sendable>(
        _ file: ServedFile, in folder: CatalogFolder,
        _ body: @escaping @Sendable (SharedArchive) throws(ArchiveError) -> Value
    ) async throws(Problem) -> Value {
        try await threads.run { () throws(Problem) in
            let archive = try self.archive(file, folder)
            do throws(ArchiveError) { return try body(archive) } catch { throw self.unreadable(file, error) }
        }
    }

    /// What a file that is open has for a tile, as web clients take it, when nothing must be waited for; `nil` = ask ``read(_:in:_:)``.
    ///
    /// - Throws: ``Problem`` `damaged` for a file that cannot be read.
    func findAtOnce(_ tile: TileID, _ file: ServedFile) throws(Problem) -> StoredTile<TileBody>? {
        guard let archive = known(file) else { return nil }
        do throws(ArchiveError) {
            guard let found = try archive.findAtOnce(tile) else { return nil }
            guard let body = found.body else { return .empty }
            // Others are unpacked, which takes the time of other connections.
            guard body.coding == .gzip || body.coding == .identity else { return nil }
            return .body(try body.served(), expires: nil)
        } catch { throw unreadable(file, error) }
    }

    private func unreadable(_ file: ServedFile, _ error: ArchiveError) -> Problem {
        drop(file)
        return Problem(.damaged, Sentence.unreadable(file.path, error.message))
    }

    private func known(_ file: ServedFile) -> SharedArchive? {
        state.withLock { state in
            state.clock += 1
            state.places[file]?.lastUse = state.clock
            return state.places[file]?.archive
        }
    }

    private func archive(_ file: ServedFile, _ folder: CatalogFolder) throws(Problem) -> SharedArchive {
        if let known = known(file) { return known }
        // Proves that no part of the path is a link, and that the file has the size that the catalog states.
        do throws(GatewayError) {
            let open = try folder.file(file.path)
            guard open.size == file.size else {
                throw GatewayError(.unreadable, "it has \(open.size) bytes; the catalog says \(file.size)")
            }
        } catch {
            if error.code == .catalogMissing {
                throw Problem(.notFound, "'\(file.path)' was removed from the catalog.")
            }
            throw Problem(.damaged, Sentence.unreadable(file.path, error.message))
        }
        let made = SharedArchive(
            path: "\(folder.path)/\(file.path)", isPMTiles: file.path.hasSuffix(".pmtiles"), ArchiveAccess(),
            budget: budget)
        return state.withLock { state in
            if let other = state.places[file] { return other.archive }
            if state.places.count >= Self.maxArchives,
                let oldest = state.places.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.places[oldest.key] = nil
            }
            state.places[file] = Place(archive: made, lastUse: state.clock)
            return made
        }
    }

    private func drop(_ file: ServedFile) { state.withLock { $0.places[file] = nil } }
}
