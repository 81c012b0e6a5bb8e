internal import Foundation
internal import OfflineMaps
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Passes finished downloads to the calls that wait for them, and keeps those for which no call waits yet.
final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    /// What identifies a download over launches: the address and the wanted bytes.
    struct Key: Hashable, Sendable {
        private let url: URL?
        private let range: String?

        init(_ request: URLRequest) {
            url = request.url
            range = request.value(forHTTPHeaderField: "Range")
        }
    }

    private struct Waiting: Sendable {
        var fetch: OngoingFetch
        var offset: UInt64
        var sizes: AsyncStream<UInt64>.Continuation
    }

    /// A file that came while no call waited for it.
    private struct Arrival: Sendable {
        var file: URL
        var status: Int
        var headers: [String: String]
        /// The first address and the last one: a background session follows redirects without asking.
        var asked: URL?
        var answered: URL?
    }

    private struct State: Sendable {
        var waiting: [Int: Waiting] = [:]
        var arrivals: [Key: Arrival] = [:]
        var completion: (@MainActor @Sendable () -> Void)?
    }
    private let state = Mutex(State())

    func whenEventsAreHandled(_ completion: @escaping @MainActor @Sendable () -> Void) {
        state.withLock { $0.completion = completion }
    }

    /// Adds a call that waits for a download.
    ///
    /// - Returns: The size of the part file as it will be; ends with the download.
    func add(
        _ fetch: OngoingFetch, for key: Key, of task: URLSessionDownloadTask, from offset: UInt64
    ) -> AsyncStream<UInt64> {
        let (sizes, report) = AsyncStream.makeStream(of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
        let arrival = state.withLock { state -> Arrival? in
            if let arrival = state.arrivals.removeValue(forKey: key) { return arrival }
            state.waiting[task.taskIdentifier] = Waiting(fetch: fetch, offset: offset, sizes: report)
            return nil
        }
        if let arrival {
            task.cancel()
            Self.pass(arrival, to: fetch)
            fetch.end(nil)
            report.finish()
        }
        return sizes
    }

    private func waiting(_ task: URLSessionTask) -> Waiting? {
        state.withLock { $0.waiting[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        // Bytes can be reported before the answer is known.
        guard let waiting = waiting(downloadTask), let answer = downloadTask.response as? HTTPURLResponse else {
            return
        }
        // A server that does not continue at the offset sends the file from its beginning.
        let start = answer.statusCode == 206 ? waiting.offset : 0
        waiting.sizes.yield(start &+ UInt64(max(0, totalBytesWritten)))
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let answer = downloadTask.response as? HTTPURLResponse
        var headers: [String: String] = [:]
        for (name, value) in answer?.allHeaderFields ?? [:] { headers["\(name)".lowercased()] = "\(value)" }
        var arrival = Arrival(file: location, status: answer?.statusCode ?? 0, headers: headers)
        (arrival.asked, arrival.answered) = (downloadTask.originalRequest?.url, answer?.url)
        if let waiting = waiting(downloadTask) { return Self.pass(arrival, to: waiting.fetch) }
        guard let request = downloadTask.originalRequest else { return }
        // The file is gone when this call returns, so it gets another name.
        let kept = FileManager.default.temporaryDirectory.appending(path: "offline-maps-\(UUID().uuidString).part")
        guard rename(location.path, kept.path) == 0 else { return }
        arrival.file = kept
        let old = state.withLock { [arrival] in $0.arrivals.updateValue(arrival, forKey: Key(request)) }
        if let old { unlink(old.file.path) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: task.taskIdentifier) }
        waiting?.fetch.end(error?.localizedDescription)
        waiting?.sizes.finish()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(waiting(task)?.fetch.redirected(request, by: response, of: task))
    }

    #if !canImport(FoundationNetworking)
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            let completion = state.withLock { state in
                defer { state.completion = nil }
                return state.completion
            }
            if let completion { Task { @MainActor in completion() } }
        }
    #endif

    /// Gives a file to a download in downloads, and removes it.
    private static func pass(_ arrival: Arrival, to fetch: OngoingFetch) {
        defer { unlink(arrival.file.path) }
        guard arrival.asked == arrival.answered || fetch.follows(arrival.asked, to: arrival.answered) else { return }
        guard fetch.begin(arrival.status, arrival.headers) else { return }
        do {
            let handle = try FileHandle(forReadingFrom: arrival.file)
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty {
                guard fetch.receive(bytes) else { return }
            }
        } catch { fetch.end("the downloaded file cannot be read: \(error.localizedDescription)") }
    }
}
