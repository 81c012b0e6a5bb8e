package import Foundation

/// A fetcher that only has to bring the bytes of one answer; ``HTTPFetch`` judges the answer.
package protocol AnswerFetcher: Fetcher {
    /// Sends the request for the bytes from an offset, drives the download, and waits for its end.
    ///
    /// - Parameter progress: Gets the size of the part file as it grows.
    func run(
        _ fetch: OngoingFetch, _ request: ResourceRequest, from offset: UInt64, progress: (UInt64) -> Void
    ) async throws(FetchError) -> OngoingFetch.Outcome
}

extension AnswerFetcher {
    /// Downloads a body into memory, as ``Fetcher`` says.
    package func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
        try await HTTPFetch.body(request, limit: limit) { fetch, offset throws(FetchError) in
            try await run(fetch, request, from: offset) { _ in }
        }
    }

    /// Downloads into a part file, as ``Fetcher`` says.
    package func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        try await HTTPFetch.file(request, into: part, from: offset, limit: limit) { fetch, offset throws(FetchError) in
            try await run(fetch, request, from: offset, progress: progress)
        }
    }
}

/// What every fetcher over HTTP does with an answer, whichever library brings it.
package enum HTTPFetch {
    /// Downloads a body into memory.
    ///
    /// - Parameters:
    ///   - limit: More bytes than these give ``FailureCause/tooBig``.
    ///   - run: Sends the request, drives the download, and waits for its end.
    /// - Returns: The answer with the status 200, 204 or 304.
    package static func body(
        _ request: ResourceRequest, limit: Int,
        run: (_ fetch: OngoingFetch, _ offset: UInt64) async throws(FetchError) -> OngoingFetch.Outcome
    ) async throws(FetchError) -> FetchedBody {
        let answer = try await run(OngoingFetch(request, .memory(limit: limit)), 0)
        guard [200, 204, 304].contains(answer.status) else { throw failure(answer, request) }
        let control = answer["cache-control"]?.lowercased() ?? ""
        return FetchedBody(
            status: answer.status, body: answer.body, etag: answer["etag"],
            modified: answer["last-modified"].flatMap(AnswerRule.time), expires: expiry(answer),
            mustRevalidate: control.contains("must-revalidate") || control.contains("no-cache"),
            mediaType: AnswerRule.mediaType(answer["content-type"]))
    }

    /// Downloads into a part file, from an offset.
    ///
    /// A server that sends the whole file instead, or has a shorter file, makes the download start over.
    ///
    /// - Parameters:
    ///   - limit: More bytes than these give ``FailureCause/tooBig``.
    ///   - run: Sends the request for the bytes from an offset, drives the download, and waits for its end.
    package static func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        run: (_ fetch: OngoingFetch, _ offset: UInt64) async throws(FetchError) -> OngoingFetch.Outcome
    ) async throws(FetchError) -> FetchedFile {
        let answer = try await run(OngoingFetch(request, .file(PartFile(part), from: offset, limit: limit)), offset)
        switch answer.status {
        case 200, 206:
            return FetchedFile(
                status: answer.status, size: answer.size, startedOver: answer.startedOver, etag: answer["etag"],
                expires: expiry(answer))
        case 416 where offset > 0:
            // The part file has all bytes, or it is not of this file.
            if answer["content-range"].flatMap(AnswerRule.wholeSize) == offset {
                return FetchedFile(status: 206, size: offset, etag: answer["etag"], expires: expiry(answer))
            }
            var again = try await file(request, into: part, from: 0, limit: limit, run: run)
            again.startedOver = true
            return again
        default: throw failure(answer, request)
        }
    }

    /// Refuses an address that is not of http or https, and one whose host forbids the request.
    package static func check(_ request: ResourceRequest) throws(FetchError) {
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw FetchError(.invalidArguments, "'\(request.address)' is not an address of http or https.")
        }
        try BulkPolicy.check(request)
    }

    private static func failure(_ answer: OngoingFetch.Outcome, _ request: ResourceRequest) -> FetchError {
        AnswerRule.failure(answer.status, retryAfter: answer["retry-after"], now: Date(), address: request.address)
    }

    private static func expiry(_ answer: OngoingFetch.Outcome) -> Date? {
        AnswerRule.expiry(
            cacheControl: answer["cache-control"], expires: answer["expires"], date: answer["date"], now: Date())
    }
}
