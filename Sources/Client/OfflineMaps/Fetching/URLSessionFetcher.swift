public import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// Downloads with URLSession: no cache, no cookies, no redirect from https to http.
public final class URLSessionFetcher: Fetcher {
    private let idle: IdleSessions.Key
    /// Taken for the first request: a session takes longer to make than a store to open.
    private let taken = Mutex<IdleSessions.Session?>(nil)

    /// Uses a session of its own.
    ///
    /// - Parameters:
    ///   - stall: A download without a byte for this time ends.
    ///   - total: The longest time of one download.
    public init(stall: Duration = .seconds(30), total: Duration = .seconds(86_400)) {
        idle = IdleSessions.Key(stall: stall, total: total)
    }

    deinit {
        if let session = taken.withLock({ $0 }) { IdleSessions.giveBack(session, idle) }
    }

    private var session: IdleSessions.Session {
        taken.withLock { taken in
            let session = taken ?? IdleSessions.borrow(idle)
            taken = session
            return session
        }
    }

    /// Downloads end when the app is suspended.
    public var continuesWhileSuspended: Bool { false }

    /// Downloads a body into memory.
    ///
    /// - Parameter limit: More bytes than these give ``FailureCause/tooBig``, before they are read where the server
    ///   announces them.
    /// - Returns: The answer with the status 200, 204 or 304.
    public func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
        try await HTTPFetch.body(request, limit: limit) { fetch, offset throws(FetchError) in
            try await run(fetch, try Self.message(request, from: offset), progress: { _ in })
        }
    }

    /// Downloads into a part file, from an offset.
    ///
    /// A server that sends the whole file instead, or has a shorter file, makes the download start over.
    public func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        try await HTTPFetch.file(request, into: part, from: offset, limit: limit) { fetch, offset throws(FetchError) in
            try await run(fetch, try Self.message(request, from: offset), progress: progress)
        }
    }

    private func run(
        _ transfer: OngoingFetch, _ message: URLRequest, progress: (UInt64) -> Void
    ) async throws(FetchError) -> OngoingFetch.Outcome {
        guard !Task.isCancelled else { throw Self.cancelled }
        let session = session
        let task = session.session.dataTask(with: message)
        session.delegate.add(transfer, task.taskIdentifier)
        await withTaskCancellationHandler {
            task.resume()
            for await size in transfer.sizes { progress(size) }
        } onCancel: {
            task.cancel()
        }
        guard !Task.isCancelled else {
            // The stream ends at once when the caller is cancelled; the session reports the end of the task later.
            transfer.end(Self.cancelled.message)
            throw Self.cancelled
        }
        let outcome = transfer.outcome
        if let failure = outcome.failure { throw failure }
        return outcome
    }

    private static var cancelled: FetchError { FetchError(.connection, "The download was cancelled.") }

    /// The message of a request for the bytes from an offset.
    ///
    /// - Throws: ``FailureCause/invalidArguments`` for an address that is not of http or https,
    ///   ``FailureCause/hostForbidsBulk`` for a host that forbids the request.
    package static func message(_ request: ResourceRequest, from offset: UInt64) throws(FetchError) -> URLRequest {
        try HTTPFetch.check(request)
        var message = URLRequest(url: request.url)
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        // Files are compared by their bytes, and tiles stay as they are stored.
        message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if offset > 0 { message.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range") }
        return message
    }
}
