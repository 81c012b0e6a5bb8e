import Foundation
import OfflineMaps
import Synchronization
import Transfer

/// Passes the answer of libcurl to a download of the library.
final class FetchReceiver: TransferReceiver {
    private let fetch: OngoingFetch
    private let state = Mutex<(status: Int?, refusal: FetchError?)>((nil, nil))

    init(_ fetch: OngoingFetch) { self.fetch = fetch }

    /// Why the request could not be sent at all.
    var refusal: FetchError? { state.withLock { $0.refusal } }

    func begin(status: Int, headers: ResponseHeaders) -> Bool {
        state.withLock { $0.status = status }
        return fetch.begin(status, Self.named(headers))
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool { fetch.receive(Data(bytes)) }

    func refusal(of redirect: String, from address: String) -> String? {
        if fetch.follows(URL(string: address), to: URL(string: redirect)) { return nil }
        return fetch.outcome.failure?.message ?? "the download does not follow the redirect"
    }

    /// Ends the download with what libcurl reports; `nil` when it reports nothing.
    func end(_ outcome: Result<TransferResponse, TransferError>?) {
        switch outcome {
        case .success(let answer):
            // An answer without a body, and one that follows a redirect with a body, has not begun yet.
            if state.withLock({ $0.status }) != answer.status {
                _ = fetch.begin(answer.status, Self.named(answer.headers))
            }
            fetch.end(nil)
        case .failure(let error):
            if error.code == .invalidRequest {
                state.withLock { $0.refusal = FetchError(.invalidArguments, error.message) }
            }
            fetch.end(error.message)
        case nil: fetch.end("the transfer ended without a result")
        }
    }

    private static func named(_ headers: ResponseHeaders) -> [String: String] {
        let pairs = [
            ("etag", headers.etag), ("last-modified", headers.lastModified), ("content-type", headers.contentType),
            ("content-encoding", headers.contentEncoding), ("retry-after", headers.retryAfter),
            ("date", headers.date), ("content-length", headers.contentLength),
            ("content-range", headers.contentRange), ("cache-control", headers.cacheControl),
            ("expires", headers.expires),
        ]
        return Dictionary(uniqueKeysWithValues: pairs.compactMap { name, value in value.map { (name, $0) } })
    }
}
