public import Foundation
public import OfflineMaps

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// Downloads files with a session that goes on while the app is suspended; small bodies come with an ordinary session.
///
/// A download that ends while the app does not run is taken up when the task that wants it continues in the same launch:
/// open the store, and call `start()`, in `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
/// The system follows the redirects of such a session by itself, with all headers: do not send access keys through it to
/// servers that redirect to others.
public final class BackgroundFetcher: Fetcher {
    private let session: URLSession
    private let delegate = DownloadDelegate()
    private let bodies: URLSessionFetcher

    /// Whether downloads go on while the app is suspended.
    public let continuesWhileSuspended: Bool

    #if !canImport(FoundationNetworking)
        /// Makes the background session of an app.
        ///
        /// - Parameters:
        ///   - identifier: The name of the session, the same in every launch; one fetcher for each name.
        ///   - isDiscretionary: Whether the system may wait for power and Wi-Fi.
        public convenience init(identifier: String, isDiscretionary: Bool = false) {
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.isDiscretionary = isDiscretionary
            configuration.sessionSendsLaunchEvents = true
            self.init(configuration, continuesWhileSuspended: true)
        }
    #endif

    /// Makes a fetcher of a configuration of any kind.
    package init(_ configuration: URLSessionConfiguration, continuesWhileSuspended: Bool) {
        self.continuesWhileSuspended = continuesWhileSuspended
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        bodies = URLSessionFetcher()
    }

    // On Linux the end of a session races with its sockets (IdleSessions): there, where only tests use it, it stays.
    #if !canImport(FoundationNetworking)
        deinit { session.finishTasksAndInvalidate() }
    #endif

    /// Calls `completion` on the main actor when the system's events of this launch are handled.
    public func whenEventsAreHandled(_ completion: @escaping @MainActor @Sendable () -> Void) {
        delegate.whenEventsAreHandled(completion)
    }

    /// Downloads a body into memory, with an ordinary session.
    public func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
        try await bodies.body(request, limit: limit)
    }

    /// Downloads into a part file, from an offset.
    ///
    /// The part file grows when the download has ended: until then the system has the bytes. Progress is reported
    /// meanwhile, and at the end with the size of the file.
    public func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        let file = try await HTTPFetch.file(
            request, into: part, from: offset, limit: limit
        ) { fetch, offset throws(FetchError) in
            try await run(fetch, try URLSessionFetcher.message(request, from: offset), from: offset, progress: progress)
        }
        progress(file.size)
        return file
    }

    private func run(
        _ fetch: OngoingFetch, _ message: URLRequest, from offset: UInt64, progress: (UInt64) -> Void
    ) async throws(FetchError) -> OngoingFetch.Outcome {
        let key = DownloadDelegate.Key(message)
        let task = await ongoing(key) ?? session.downloadTask(with: message)
        let sizes = delegate.add(fetch, for: key, of: task, from: offset)
        await withTaskCancellationHandler {
            task.resume()
            for await size in sizes { progress(size) }
            if Task.isCancelled { task.cancel() }
        } onCancel: {
            task.cancel()
        }
        guard !Task.isCancelled else { throw FetchError(.connection, "The download was cancelled.") }
        let outcome = fetch.outcome
        if let failure = outcome.failure { throw failure }
        return outcome
    }

    /// A download of the same bytes that an earlier launch began.
    private func ongoing(_ key: DownloadDelegate.Key) async -> URLSessionDownloadTask? {
        guard continuesWhileSuspended else { return nil }
        let tasks = await withCheckedContinuation { continuation in
            session.getAllTasks { continuation.resume(returning: $0) }
        }
        return tasks.lazy.compactMap { $0 as? URLSessionDownloadTask }
            .first { ($0.originalRequest.map { DownloadDelegate.Key($0) }) == key && $0.state != .completed }
    }
}
