package import Foundation
internal import Synchronization

/// One download over HTTP: where its bytes go, and what has come of it.
///
/// It judges the answer, whichever library brings it: URLSession's delegate, or a receiver of libcurl, calls `begin`,
/// `receive` and `end`.
package final class OngoingFetch: Sendable {
    /// Where bytes go.
    enum Sink: Sendable {
        /// Into memory, at most so many.
        case memory(limit: Int)
        /// Into a part file, from an offset, up to a size of the part file.
        case file(PartFile, from: UInt64, limit: UInt64)
    }

    /// What is known when it has ended.
    package struct Outcome: Sendable {
        /// The HTTP status.
        package var status = 0
        var headers: [String: String] = [:]
        var body = Data()
        /// Bytes of the part file.
        var size: UInt64 = 0
        fileprivate var reported: (size: UInt64, at: ContinuousClock.Instant) = (0, .now - .seconds(1))
        var startedOver = false
        /// Why the download failed.
        package var failure: FetchError?
        /// Bytes that were announced and have not come.
        var missing: UInt64?
        var redirects = 0

        /// A header, by its lower-case name.
        subscript(_ name: String) -> String? { headers[name] }
    }

    /// The size of the part file as it grows; ends with the download.
    package let sizes: AsyncStream<UInt64>
    private let report: AsyncStream<UInt64>.Continuation
    private let request: ResourceRequest
    private let sink: Sink
    private let state = Mutex(Outcome())

    init(_ request: ResourceRequest, _ sink: Sink) {
        self.request = request
        self.sink = sink
        (sizes, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What came of it.
    package var outcome: Outcome { state.withLock { $0 } }

    /// Takes the answer's head.
    ///
    /// - Parameter headers: By their names in lower case.
    /// - Returns: Whether its body is wanted.
    package func begin(_ status: Int, _ headers: [String: String]) -> Bool {
        state.withLock { state in
            // After its end a download takes nothing: its part file may be another download's already.
            guard state.failure == nil else { return false }
            (state.status, state.headers) = (status, headers)
            let length = headers["content-length"].flatMap { UInt64($0) }
            state.missing = length
            do throws(FetchError) {
                try admit(&state, length)
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    private func admit(_ state: inout Outcome, _ length: UInt64?) throws(FetchError) {
        guard (200...299).contains(state.status) else {
            // The body of an error is not kept. Status and headers suffice.
            state.missing = nil
            return
        }
        let mediaType = AnswerRule.mediaType(state["content-type"])
        guard !AnswerRule.isPage(mediaType, request.kind) else {
            throw FetchError(
                .connection, status: state.status, isPage: true,
                "'\(address)' was answered with a web page: a login may be needed.")
        }
        switch sink {
        case .memory(let limit):
            guard length ?? 0 <= UInt64(max(0, limit)) else { throw tooBig(UInt64(max(0, limit)), state.status) }
        case .file(let file, let offset, let limit):
            guard ["", "identity"].contains(state["content-encoding"]?.lowercased() ?? "") else {
                throw FetchError(
                    .serverError, status: state.status,
                    "'\(address)' is sent with a Content-Encoding; files must be sent unchanged.")
            }
            var start: UInt64 = 0
            if state.status == 206 {
                guard let range = state["content-range"].flatMap(AnswerRule.range), range.start == offset else {
                    throw FetchError(
                        .serverError, status: 206, "'\(address)' was answered with other bytes than were asked for.")
                }
                start = offset
            } else if state.status != 200 {
                throw FetchError(
                    .serverError, status: state.status, "'\(address)' was answered with the status \(state.status).")
            }
            if let length, length > limit - min(limit, start) { throw tooBig(limit, state.status) }
            state.startedOver = offset > 0 && start == 0
            try file.begin(at: start)
            (state.size, state.reported.size) = (start, start)
        }
    }

    /// Takes bytes of the body.
    ///
    /// - Returns: Whether more are wanted.
    package func receive(_ bytes: Data) -> Bool {
        state.withLock { state in
            guard state.failure == nil, (200...299).contains(state.status) else { return state.failure == nil }
            if let missing = state.missing { state.missing = missing - min(missing, UInt64(bytes.count)) }
            do throws(FetchError) {
                switch sink {
                case .memory(let limit):
                    guard bytes.count <= limit - state.body.count else {
                        throw tooBig(UInt64(max(0, limit)), state.status)
                    }
                    state.body.append(bytes)
                case .file(let file, _, let limit):
                    let space = limit - min(limit, state.size)
                    guard UInt64(bytes.count) <= space else {
                        throw tooBig(limit, state.status)
                    }
                    try file.append(bytes)
                    state.size += UInt64(bytes.count)
                    reportSize(&state, atMostEvery: .milliseconds(20))
                }
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    /// Decides about a redirect, or about one that was followed without asking.
    package func follows(_ old: URL?, to new: URL?) -> Bool {
        state.withLock { state in
            state.redirects += 1
            guard AnswerRule.mayFollow(from: old, to: new), state.redirects <= 5 else {
                state.failure = FetchError(
                    .connection, "'\(address)' redirects from https to http, or more than five times.")
                return false
            }
            do throws(FetchError) {
                try BulkPolicy.check(new, of: request)
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    /// Ends the download and closes its file; a later call does nothing.
    ///
    /// - Parameter failure: What the connection reports; `nil` when the answer ended. After a failure nothing is taken.
    package func end(_ failure: String?) {
        state.withLock { state in
            if state.failure == nil, let failure {
                state.failure = FetchError(.connection, status: state.status, "'\(address)': \(failure)")
            }
            if state.failure == nil, let missing = state.missing, missing > 0, request.isBodyWanted(state.status) {
                state.failure = FetchError(
                    .connection, status: state.status, "'\(address)': the answer ended \(missing) bytes early.")
            }
            guard case .file(let file, _, _) = sink else { return }
            reportSize(&state, atMostEvery: .zero)
            do throws(FetchError) { try file.end() } catch { state.failure = state.failure ?? error }
        }
        report.finish()
    }

    /// Reports the size of the part file, unless it is known or was reported a moment ago: each report wakes a task.
    private func reportSize(_ state: inout Outcome, atMostEvery pause: Duration) {
        let now = ContinuousClock.now
        guard state.size != state.reported.size, now - state.reported.at >= pause else { return }
        state.reported = (state.size, now)
        report.yield(state.size)
    }

    /// The address without its query, which may have a key.
    private var address: String { request.address }

    private func tooBig(_ limit: UInt64, _ status: Int) -> FetchError {
        FetchError(.tooBig, status: status, "'\(address)' has more than \(limit) bytes.")
    }
}

extension ResourceRequest {
    /// The address for messages, without its query, which may have a key.
    package var address: String { url.absoluteString.split(separator: "?").first.map(String.init) ?? "" }

    fileprivate func isBodyWanted(_ status: Int) -> Bool { (200...299).contains(status) && status != 204 }
}
