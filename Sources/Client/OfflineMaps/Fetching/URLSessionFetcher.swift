public import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Downloads with URLSession: no cache, no cookies, no redirect from https to http.
public final class URLSessionFetcher: Fetcher {
    private let session: URLSession
    private let delegate = SessionDelegate()

    /// Makes a session of its own.
    ///
    /// - Parameters:
    ///   - stall: A download without a byte for this time ends.
    ///   - total: The longest time of one download.
    public init(stall: Duration = .seconds(30), total: Duration = .seconds(86_400)) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = Self.seconds(stall)
        configuration.timeoutIntervalForResource = Self.seconds(total)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    /// Downloads end when the app is suspended.
    public var continuesWhileSuspended: Bool { false }

    /// Downloads a body into memory.
    ///
    /// - Parameter limit: More bytes than these give ``FailureCause/tooBig``, before they are read where the server
    ///   announces them.
    /// - Returns: The answer with the status 200, 204 or 304.
    public func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
        let transfer = Transfer(request, .memory(limit: limit))
        let answer = try await run(transfer, try Self.message(request, from: 0), progress: { _ in })
        guard [200, 204, 304].contains(answer.status) else { throw Self.failure(answer, request) }
        let control = answer["cache-control"]?.lowercased() ?? ""
        return FetchedBody(
            status: answer.status, body: answer.body, etag: answer["etag"],
            modified: answer["last-modified"].flatMap(AnswerRule.time), expires: Self.expiry(answer),
            mustRevalidate: control.contains("must-revalidate") || control.contains("no-cache"),
            mediaType: AnswerRule.mediaType(answer["content-type"]))
    }

    /// Downloads into a part file, from an offset.
    ///
    /// A server that sends the whole file instead, or has a shorter file, makes the download start over.
    public func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        let transfer = Transfer(request, .file(PartFile(part), from: offset, limit: limit))
        let answer = try await run(transfer, try Self.message(request, from: offset), progress: progress)
        switch answer.status {
        case 200, 206:
            return FetchedFile(
                status: answer.status, size: answer.size, startedOver: answer.startedOver, etag: answer["etag"],
                expires: Self.expiry(answer))
        case 416 where offset > 0:
            // The part file has all bytes, or it is not of this file.
            if answer["content-range"].flatMap(AnswerRule.wholeSize) == offset {
                return FetchedFile(status: 206, size: offset, etag: answer["etag"], expires: Self.expiry(answer))
            }
            var again = try await file(request, into: part, from: 0, limit: limit, progress: progress)
            again.startedOver = true
            return again
        default: throw Self.failure(answer, request)
        }
    }

    private func run(
        _ transfer: Transfer, _ message: URLRequest, progress: (UInt64) -> Void
    ) async throws(FetchError) -> Transfer.Outcome {
        let task = session.dataTask(with: message)
        delegate.add(transfer, task.taskIdentifier)
        await withTaskCancellationHandler {
            task.resume()
            for await size in transfer.sizes { progress(size) }
            // The stream ends at once when the caller is cancelled: the delegate may not have seen the end yet.
            if Task.isCancelled { task.cancel() }
        } onCancel: {
            task.cancel()
        }
        guard !Task.isCancelled else { throw FetchError(.connection, "The download was cancelled.") }
        let outcome = transfer.outcome
        if let failure = outcome.failure { throw failure }
        return outcome
    }

    private static func message(_ request: ResourceRequest, from offset: UInt64) throws(FetchError) -> URLRequest {
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw FetchError(.invalidArguments, "'\(request.address)' is not an address of http or https.")
        }
        var message = URLRequest(url: request.url)
        for (name, value) in request.headers { message.setValue(value, forHTTPHeaderField: name) }
        // Files are compared by their bytes, and tiles stay as they are stored.
        message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if offset > 0 { message.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range") }
        return message
    }

    private static func failure(_ answer: Transfer.Outcome, _ request: ResourceRequest) -> FetchError {
        AnswerRule.failure(answer.status, retryAfter: answer["retry-after"], now: Date(), address: request.address)
    }

    private static func expiry(_ answer: Transfer.Outcome) -> Date? {
        AnswerRule.expiry(
            cacheControl: answer["cache-control"], expires: answer["expires"], date: answer["date"], now: Date())
    }

    private static func seconds(_ duration: Duration) -> TimeInterval {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
