internal import TextFormats

/// A download of maps: how far it is, whenever that changes.
///
/// The work begins when a loop asks for the first element. Each loop is a download of its own; two loops for the same map
/// share its tasks, and the last one that is left stops them.
public struct MapDownload: AsyncSequence, Sendable {
    /// How far the download is.
    public typealias Element = DownloadProgress
    /// Why it failed.
    public typealias Failure = StoreError

    private let run: DownloadRun

    init(_ run: DownloadRun) { self.run = run }

    /// Downloads in the task of the caller; returns when all is installed, or when the task is cancelled and its tasks are
    /// paused.
    ///
    /// - Parameter show: Gets each progress; it must return soon.
    /// - Throws: As the loop does.
    package func follow(_ show: @Sendable (DownloadProgress) -> Void) async throws(StoreError) {
        try await run.run(show)
    }

    /// Begins the download.
    public func makeAsyncIterator() -> Iterator {
        // A reader that is slow gets the newest progress; the last element is never left out.
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: DownloadProgress.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
        let work = Task { [run] in
            do throws(StoreError) {
                try await run.run { continuation.yield($0) }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        continuation.onTermination = { _ in work.cancel() }
        return Iterator(stream: stream.makeAsyncIterator())
    }

    /// Reads the progress, one step after the other; when it is let go, the download stops and keeps its bytes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var stream: AsyncThrowingStream<DownloadProgress, any Error>.Iterator

        /// The next progress; `nil` after the end, and in a task that is cancelled.
        ///
        /// - Throws: What ``OfflineMaps/download(_:style:)`` names.
        public mutating func next() async throws(StoreError) -> DownloadProgress? {
            do { return try await stream.next() } catch let error as StoreError { throw error } catch {
                // The stream ends with no other error.
                return nil
            }
        }
    }
}

/// How far a download is.
public struct DownloadProgress: Hashable, Sendable, CustomStringConvertible {
    /// The part that is done, 0...1; never falls.
    public var fraction: Double
    /// The bytes that came over the network for what is not complete yet and for what has ended in this loop.
    public var transferred: UInt64
    /// What is being done, or why it waits; of several files `downloading` as long as one downloads, and `verifying` and
    /// `installing` when all are here.
    public var state: TaskState

    /// Describes a progress.
    public init(fraction: Double, transferred: UInt64, state: TaskState) {
        self.fraction = fraction
        self.transferred = transferred
        self.state = state
    }

    /// Whether everything is installed.
    public var isComplete: Bool { state == .done }

    /// A line for people, in English: `42 %, waits for a network`.
    public var description: String { "\(Int(fraction * 100)) %, \(state.words)" }
}

extension TaskState {
    /// The state in English words that follow a number.
    var words: String {
        switch self {
        case .waiting(.turn): "waits for its turn"
        case .waiting(.network): "waits for a network"
        case .waiting(.backoff(let wait)): "waits \(wait.words) for the next attempt"
        case .waiting(.server(let wait)): "waits \(wait.words) because the server asked for it"
        case .waiting(.otherProcess): "another process does it"
        case .downloading: "downloads"
        case .verifying: "verifies"
        case .installing: "installs"
        case .removing: "removes"
        case .paused(.user): "is paused"
        case .paused(.stopped), .paused(.suspended): "waits for the start of the store"
        case .paused(.networkRule): "waits for another network"
        case .paused(.diskFull(let needed, let free)):
            "needs \(Units.bytes(needed)) of free disk, and \(Units.bytes(free)) are free"
        case .paused(.quota(let needed, let allowed)):
            "needs \(Units.bytes(needed)), and the quota allows \(Units.bytes(allowed))"
        case .failed(let cause): "failed: \(cause.words)"
        case .done: "complete"
        case .cancelled: "cancelled"
        }
    }
}

extension Duration {
    fileprivate var words: String { Units.duration(seconds: self / .seconds(1)) }
}
