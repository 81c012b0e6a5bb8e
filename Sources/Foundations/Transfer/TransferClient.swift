import CCurl
import Glibc
import Synchronization

/// Fetches over HTTP with libcurl's multi interface on one dedicated thread.
///
/// Concurrency, rate and pauses apply to the whole client, whatever the number of its downloads: use one client per
/// origin. Closing, or releasing the last reference, cancels all requests and joins the thread.
public final class TransferClient: Sendable {
    private let loop: TransferLoop
    private let thread: Mutex<pthread_t?>
    private static let isReady = ph_global_init() == CURLE_OK

    /// Starts the thread.
    ///
    /// - Throws: ``TransferError`` `invalid-request` for a header or user agent that cannot be sent; `library-failed` when libcurl
    ///   or the thread cannot be set up.
    public init(_ options: TransferOptions = TransferOptions()) throws(TransferError) {
        let fields = options.headers + [HeaderField("User-Agent", options.userAgent)]
        if let bad = fields.first(where: { !$0.isSendable }) {
            throw TransferError(.invalidRequest, "the header '\(bad.name)' contains characters that cannot be sent")
        }
        guard Self.isReady, let multi = curl_multi_init() else {
            throw TransferError(.library, "libcurl could not be initialised")
        }
        let loop = TransferLoop(multi: multi)
        self.loop = loop
        let start = Unmanaged.passRetained(ThreadStart(loop: loop, options: options))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
                TransferEngine(loop: start.loop, options: start.options).run()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            curl_multi_cleanup(multi)
            loop.finish()
            thread = Mutex(nil)
            throw TransferError(.library, "cannot start the transfer thread: \(String(cString: strerror(code)))")
        }
        thread = Mutex(handle)
    }

    deinit { close() }

    /// A new stream of requests and results.
    public func download() -> Download { Download(loop: loop) }

    /// Fetches one URL.
    ///
    /// Use ``download()`` for many.
    public func get(_ url: String, headers: [HeaderField] = []) async throws(TransferError) -> TransferResponse {
        try await send(TransferRequest(tag: 0, url: url, headers: headers))
    }

    /// Sends one request of any kind and waits for its end.
    ///
    /// Use ``download()`` for many.
    public func send(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        let download = download()
        download.submit([request])
        guard let result = await download.next(wanted: 1).first else { throw TransferLoop.closedError }
        return try result.outcome.get()
    }

    /// Cancels all requests and waits until the thread has ended.
    ///
    /// Blocks a few milliseconds; idempotent.
    public func close() {
        loop.close()
        let handle = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let handle { pthread_join(handle, nil) }
    }

    private final class ThreadStart: Sendable {
        let loop: TransferLoop
        let options: TransferOptions
        init(loop: TransferLoop, options: TransferOptions) {
            self.loop = loop
            self.options = options
        }
    }
}
