internal import Errors
internal import Logging
internal import Synchronization
internal import Telemetry
internal import Tilesets

/// The tilesets that clients may submit.
///
/// A tile server that cannot be reached when the gateway starts is retried until it answers; the gateway serves meanwhile.
final class OfferedTilesets: Sendable {
    private enum State {
        case read(TilesetSource.Found)
        /// Why it is not there.
        case missing(String)
    }

    private let sources: [TilesetSource]
    private let states: Mutex<[State]>
    private let logger: Logger
    /// How long the start waits for a server.
    private static let patience = Duration.seconds(5)
    /// Between two attempts; twice as long after each one up to ``longestPause``.
    private static let shortestPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(60)

    init(_ sources: [TilesetSource], logger: Logger) {
        self.sources = sources
        self.logger = logger
        states = Mutex(sources.map { _ in .missing("It was not read yet.") })
    }

    /// Those that can be submitted now, in the order of the options.
    var all: [Tileset] {
        states.withLock { $0.compactMap { if case .read(let found) = $0 { found.tileset } else { nil } } }
    }

    /// The tileset file as JSON, of a source whose address changes with each build; `nil` for others.
    func following(_ id: String) -> String? {
        states.withLock { states in
            for case .read(let found) in states where found.tileset.id == id { return found.following }
            return nil
        }
    }

    /// Why the others cannot.
    var missing: [String] {
        states.withLock { $0.compactMap { if case .missing(let reason) = $0 { reason } else { nil } } }
    }

    /// The tileset of an id, if a caller may use it.
    ///
    /// - Throws: ``Problem`` `wrong-request`; `tileset-away` while a description is missing, because it may be this one.
    func find(_ id: String, for caller: Caller) throws(Problem) -> Tileset {
        guard caller.mayUse(tileset: id) else {
            throw Problem(.forbidden, "The token may not use the tileset '\(id.prefix(60))'.")
        }
        if let found = all.first(where: { $0.id == id }) { return found }
        if let reason = missing.first {
            throw Problem(.tilesetAway, "There is no tileset '\(id.prefix(60))' now. \(reason)", retryAfter: 10)
        }
        throw Problem(.wrongRequest, "There is no tileset '\(id.prefix(60))'; see /v1/tilesets.")
    }

    /// Reads all descriptions once, for five seconds at most.
    ///
    /// - Throws: The first error that does not pass by itself.
    func readAtStart() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in sources.indices { group.addTask { try await self.readAtStart(number) } }
            try await group.waitForAll()
        }
    }

    /// Reads all descriptions again.
    ///
    /// - Returns: The ids that can be submitted then.
    /// - Throws: The first error; then every description stays as it was.
    func reload() async throws -> String {
        var read: [TilesetSource.Found] = []
        for source in sources { read.append(try await source.read()) }
        for (number, found) in read.enumerated() { set(number, .read(found)) }
        return read.isEmpty ? "no tilesets" : read.map(\.tileset.id).joined(separator: ", ")
    }

    private func readAtStart(_ number: Int) async throws {
        let result = await withTaskGroup(of: Result<TilesetSource.Found, any Error>?.self) {
            [source = sources[number]] group in
            group.addTask {
                do { return .success(try await source.read()) } catch { return .failure(error) }
            }
            group.addTask {
                // A cancelled sleep ends the wait.
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        switch result {
        case .success(let found)?: set(number, .read(found))
        case .failure(let error)?:
            guard Self.mayPass(error) else { throw error }
            setMissing(number, error)
        case nil: setMissing(number, nil)
        }
    }

    /// Asks for missing descriptions until all are there or the task is cancelled.
    func readMissing() async {
        var pause = Self.shortestPause
        while !Task.isCancelled, !missing.isEmpty {
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
            for number in sources.indices where isMissing(number) && !Task.isCancelled {
                do {
                    let found = try await sources[number].read()
                    set(number, .read(found))
                    logger.notice("Tileset read", metadata: [LogKey.tileset: "\(found.tileset.id)"])
                } catch { setMissing(number, error) }
            }
        }
    }

    /// Whether a later attempt may succeed: a server is away, or a file cannot be read now.
    private static func mayPass(_ error: any Error) -> Bool {
        guard let status = (error as? any CodedError)?.exitStatus else { return false }
        return [.unavailable, .temporary, .inputOutput].contains(status)
    }

    private func isMissing(_ number: Int) -> Bool {
        states.withLock { if case .missing = $0[number] { true } else { false } }
    }

    private func set(_ number: Int, _ state: State) { states.withLock { $0[number] = state } }

    private func setMissing(_ number: Int, _ error: (any Error)?) {
        guard !(error is CancellationError) else { return }
        let reason =
            error.map { ($0 as? any CodedError)?.message ?? "\($0)" } ?? "The tile server has not answered yet."
        let isNew = states.withLock { states in
            if case .missing(reason) = states[number] { return false }
            states[number] = .missing(reason)
            return true
        }
        guard isNew else { return }
        logger.warning(
            "Tileset cannot be read now; it is read again until it can",
            metadata: [LogKey.errorMessage: "\(reason)"])
    }
}
