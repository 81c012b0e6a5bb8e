import Foundation
package import OfflineMaps
import TextFormats
import Transfer

/// Downloads with libcurl: on Linux, URLSession cannot resume a download after a lost connection.
///
/// Judges answers as `URLSessionFetcher` does.
package final class CurlFetcher: AnswerFetcher {
    private let client: TransferClient

    /// Starts the threads of libcurl.
    ///
    /// - Parameter stall: A download that gets almost no bytes for this time ends.
    /// - Throws: `TransferError` when libcurl cannot be set up.
    package init(stall: Duration = .seconds(30)) throws {
        var options = TransferOptions()
        options.concurrency = 16
        options.userAgent = ProgramVersion.userAgent
        // The library decides about repetitions. A long download is stopped only when it stalls.
        options.retry.maxAttempts = 1
        options.totalTimeout = .seconds(86_400)
        options.stallTimeout = stall
        client = try TransferClient(options)
    }

    /// Downloads end with the process.
    package var continuesWhileSuspended: Bool { false }

    package func run(
        _ fetch: OngoingFetch, _ request: ResourceRequest, from offset: UInt64, progress: (UInt64) -> Void
    ) async throws(FetchError) -> OngoingFetch.Outcome {
        try HTTPFetch.check(request)
        var headers = request.headers.map { HeaderField($0.key, $0.value) }
        if offset > 0 { headers.append(HeaderField("Range", "bytes=\(offset)-")) }
        var sent = TransferRequest(tag: 0, url: request.url.absoluteString, headers: headers)
        let receiver = FetchReceiver(fetch)
        sent.receiver = receiver
        sent.bytesPerSecond = request.bytesPerSecond.map { Double($0) }
        let download = client.download()
        download.submit([sent])
        let end = Task {
            let result = await download.next(wanted: 1).first
            receiver.end(result?.outcome)
        }
        await withTaskCancellationHandler {
            for await size in fetch.sizes { progress(size) }
        } onCancel: {
            download.cancel()
        }
        await end.value
        guard !Task.isCancelled else { throw FetchError(.connection, "The download was cancelled.") }
        let outcome = fetch.outcome
        if let failure = receiver.refusal ?? outcome.failure { throw failure }
        return outcome
    }
}
