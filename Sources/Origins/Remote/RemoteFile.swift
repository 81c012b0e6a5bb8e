import Synchronization
import Tilesets
import Transfer

/// A file on a web server, read in parts, all of one version.
final class RemoteFile: Sendable {
    /// Bytes read when it is opened.
    static let headSize: UInt64 = 16_384
    /// The most bytes that one request asks for.
    static let mostPerRequest: UInt64 = 8 << 20
    /// Bytes that the requests of one ``read(_:each:)`` ask for at a time.
    private static let mostUnderWay: UInt64 = 16 << 20

    /// The address, without secrets.
    let name: String
    /// Its first bytes: 16 KiB, or all when it is smaller.
    let head: [UInt8]
    let version: RemoteVersion
    private let client: TransferClient
    private let url: String
    private let isReplaced = Atomic<Bool>(false)

    /// Reads the first bytes, and with them which version the server has.
    ///
    /// - Throws: ``OriginsError`` `.tileset`, `.unreachable`, `.unsupported` for a server that does not answer requests for parts.
    init(
        _ tileset: Tileset, environment: [String: String], budget: OriginBudget?
    ) async throws(OriginsError) {
        let filled: String?
        do throws(TilesetsError) {
            filled = try tileset.archiveURL(environment: environment)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        guard case .remotePMTiles(let name) = tileset.source, let filled else {
            throw OriginsError(.tileset, "Tileset '\(tileset.id)' has no archive on a web server.")
        }
        (self.name, url) = (name, filled)
        var asking = tileset
        asking.maxTileBytes = Int(Self.mostPerRequest) + tileset.maxTileBytes
        client = try TransferClient.open(asking, environment: environment, budget: budget)
        let answer = try await Self.head(url, name, client)
        guard let version = RemoteVersion(answer.headers, head: answer.body) else {
            throw OriginsError(
                .unsupported,
                "The server of '\(name)' does not tell how long the file is (Content-Range); use another server, or a copy of the file."
            )
        }
        guard UInt64(answer.body.count) == min(Self.headSize, version.length) else {
            throw OriginsError(
                .unreachable,
                "The server of '\(name)' sent \(answer.body.count) of the first \(min(Self.headSize, version.length)) bytes."
            )
        }
        (head, self.version) = (answer.body, version)
    }

    private static func head(
        _ url: String, _ name: String, _ client: TransferClient
    ) async throws(OriginsError) -> TransferResponse {
        var request = TransferRequest(tag: 0, url: url)
        request.range = 0..<headSize
        let answer: TransferResponse
        do throws(TransferError) {
            answer = try await client.send(request)
        } catch {
            throw OriginsError(error, name)
        }
        guard answer.status == 206 else { throw Self.refusal(answer.status, name) }
        return answer
    }

    /// Whether the server has another version by now, so that what was read since may be of both.
    ///
    /// - Throws: ``OriginsError`` when the server does not answer; it is asked only where its answers tell no version.
    func hasChanged() async throws(OriginsError) -> Bool {
        if isStale { return true }
        guard !version.hasValidator else { return false }
        let answer = try await Self.head(url, name, client)
        if RemoteVersion(answer.headers, head: answer.body) != version { isReplaced.store(true, ordering: .relaxed) }
        return isStale
    }

    /// Whether an answer was of another version: then nothing more is read.
    var isStale: Bool { isReplaced.load(ordering: .relaxed) }

    /// Reads one range.
    func read(_ range: Range<UInt64>) async throws -> [UInt8] {
        let bytes = Mutex<[UInt8]>([])
        try await read([range]) { _, part in bytes.withLock { $0 = part } }
        return bytes.withLock(\.self)
    }

    /// Reads ranges and hands each over with its number, in no particular order.
    ///
    /// A bounded number of bytes is under way at a time. What `each` throws ends the reading.
    ///
    /// - Parameter ranges: None empty, each within the file.
    /// - Throws: ``OriginsError`` `.busy` when the file was replaced, `.unreadable` when the server stopped answering; `CancellationError`.
    func read(
        _ ranges: [Range<UInt64>], each: @Sendable (_ number: Int, _ bytes: [UInt8]) async throws -> Void
    ) async throws {
        let download = client.download()
        defer { download.cancel() }
        var next = 0
        var underWay: UInt64 = 0
        while true {
            try Task.checkCancellation()
            guard !isStale else { throw replaced }
            var requests: [TransferRequest] = []
            while next < ranges.count {
                let size = UInt64(ranges[next].count)
                guard underWay == 0 || underWay + size <= Self.mostUnderWay else { break }
                var request = TransferRequest(tag: UInt64(next), url: url, headers: version.conditions)
                request.range = ranges[next]
                requests.append(request)
                underWay += size
                next += 1
            }
            download.submit(requests)
            let results = await download.next(wanted: 1)
            try Task.checkCancellation()
            if results.isEmpty { return }
            for result in results {
                let number = Int(result.tag)
                underWay -= UInt64(ranges[number].count)
                try await each(number, try body(of: result, ranges[number]))
            }
        }
    }

    /// The bytes asked for, when the answer has them and is of this version.
    private func body(of result: TransferResult, _ range: Range<UInt64>) throws(OriginsError) -> [UInt8] {
        let answer: TransferResponse
        do throws(TransferError) { answer = try result.outcome.get() } catch { throw OriginsError(error, name) }
        switch answer.status {
        case 206 where version.agrees(with: answer.headers):
            guard answer.body.count == range.count else { break }
            return answer.body
        case 206, 412, 416:
            isReplaced.store(true, ordering: .relaxed)
            throw replaced
        default: throw Self.refusal(answer.status, name)
        }
        throw OriginsError(
            .unreadable,
            "The server of '\(name)' sent \(answer.body.count) bytes where \(range.count) were asked for (from byte \(range.lowerBound))."
        )
    }

    private var replaced: OriginsError {
        OriginsError(.busy, "The archive '\(name)' was replaced while it was read (it was \(version.text)).")
    }

    private static func refusal(_ status: Int, _ name: String) -> OriginsError {
        OriginsError(
            .unreachable,
            "The server of '\(name)' answered \(status) to a request for a part of the file; expected 206. Check the address and its key."
        )
    }
}

extension OriginsError {
    /// Names what a transfer of a part of a file met.
    fileprivate init(_ error: TransferError, _ name: String) {
        switch error.code {
        case .rangeIgnored:
            self.init(
                .unsupported,
                "The server of '\(name)' sends the whole file when a part is asked for; a server that knows ranges (RFC 9110, 14) is needed, or a copy of the file.",
                cause: error)
        case .redirectRefused, .tooManyRedirects:
            self.init(.unreachable, "The archive '\(name)' cannot be read: \(error.message)", cause: error)
        default:
            self.init(.unreadable, "The archive '\(name)' cannot be read now: \(error.message)", cause: error)
        }
    }
}
