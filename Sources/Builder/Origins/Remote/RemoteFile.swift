import Errors
import PMTiles
import Synchronization
import Tilesets
import Transfer

/// A file on a web server, read in parts, all of one version.
final class RemoteFile: Sendable {
    /// Bytes read when it is opened.
    static let headSize: UInt64 = 16_384
    /// The most bytes that one request asks for.
    static let maxPerRequest: UInt64 = 4 << 20
    /// What a request has at least.
    private static let minSeconds = 600.0
    /// Minimum time of a part in seconds, if bytes per second are limited.
    private static let secondsPerPart: UInt64 = 10
    /// Bytes in flight for one call of ``read(_:underWay:each:)`` that reads alone.
    private static let maxUnderWay: UInt64 = 8 << 20
    /// The same for one of the many calls that read the parts of a plan.
    static let maxUnderWayOfParts: UInt64 = 4 << 20

    /// The address, without secrets.
    var name: String { address.name }
    /// Its first bytes: 16 KiB, or the whole file if it is smaller.
    let head: [UInt8]
    let version: RemoteVersion
    private let place: String?
    /// The most bytes that one request for tiles asks for; fewer where bytes per second are limited, so that it ends in time.
    let maxPerPart: UInt64
    /// Bytes of gaps that are fetched too, as a share of the wanted bytes.
    let overfetch: Double
    /// Requests sent and body bytes received so far.
    var use: (requests: Int, bytes: Int) {
        (requests.load(ordering: .relaxed), received.load(ordering: .relaxed))
    }
    private let requests = Atomic<Int>(0)
    private let received = Atomic<Int>(0)
    private let client: TransferClient
    private let address: RemoteAddress
    private let isReplaced = Atomic<Bool>(false)
    /// Asks whether a refusal was meant, while it runs.
    private let confirming = Mutex<Task<Bool, Never>?>(nil)
    /// Answers with fewer bytes than requested since the last good one.
    private let shortAnswers = Atomic<Int>(0)
    private static let maxShortAnswers = 5
    /// When an answer was of this version last.
    private let agreedAt: Mutex<ContinuousClock.Instant>

    /// Reads the first bytes, and with them which version the server has.
    ///
    /// - Parameters:
    ///   - shared: Connections that other files use too; `nil` = its own.
    ///   - planned: What a plan says of the file: then nothing is requested, and every later answer is compared with it.
    /// - Throws: ``OriginsError`` `.tileset`, `.unreachable`, `.refused`, `.unsupported` for a server that does not answer requests for parts.
    init(
        _ tileset: Tileset, environment: [String: String], budget: OriginBudget?, client shared: TransferClient? = nil,
        planned: RangePlan.Archive? = nil, onAnswer: (@Sendable (Duration) -> Void)? = nil
    ) async throws(OriginsError) {
        address = try RemoteAddress(tileset, environment: environment)
        place = tileset.buildPlace
        overfetch = tileset.overfetch ?? 0.05
        maxPerPart =
            tileset.politeness.bytesPerSecond.map {
                min(max(UInt64($0) * Self.secondsPerPart, 64 << 10), Self.maxPerRequest)
            } ?? Self.maxPerRequest
        if let shared {
            client = shared
        } else {
            client = try Self.client(tileset, environment: environment, budget: budget, onAnswer: onAnswer)
        }
        if let planned, let known = RemoteVersion(planned, place: place) {
            (head, version) = (planned.head, known)
            agreedAt = Mutex(.now - .seconds(1 << 30))
            return
        }
        agreedAt = Mutex(.now)
        let answer = try await Self.head(address, client, isOpen: false)
        version = try Self.version(of: answer, address, place: place)
        head = answer.body
        count(answer.received)
    }

    /// Reads the first bytes of a file whose address goes on behind that of another one, on its connections.
    private init(beside other: RemoteFile, _ ending: String) async throws(OriginsError) {
        (client, place) = (other.client, other.place)
        (overfetch, maxPerPart) = (other.overfetch, other.maxPerPart)
        address = other.address.with(ending)
        agreedAt = Mutex(.now)
        let answer = try await Self.head(address, client, isOpen: false)
        version = try Self.version(of: answer, address, place: place)
        head = answer.body
        count(answer.received)
    }

    /// The file whose address has some more letters at its end, before its query.
    ///
    /// - Throws: As a file is opened.
    func beside(_ ending: String) async throws(OriginsError) -> RemoteFile {
        try await RemoteFile(beside: self, ending)
    }

    private static func version(
        of answer: TransferResponse, _ address: RemoteAddress, place: String?
    ) throws(OriginsError) -> RemoteVersion {
        guard let version = RemoteVersion(answer.headers, head: answer.body, place: place) else {
            throw OriginsError(
                .unsupported,
                "The server of '\(address.name)' does not send the length of the file (Content-Range). Use another server, or download the file and use the copy."
            )
        }
        guard UInt64(answer.body.count) == min(headSize, version.length) else {
            throw OriginsError(
                .unreachable,
                "The server of '\(address.name)' sent \(answer.body.count) of the first \(min(headSize, version.length)) bytes."
            )
        }
        return version
    }

    /// The connections for files of a tileset; several files can share them.
    static func client(
        _ tileset: Tileset, environment: [String: String], budget: OriginBudget?,
        onAnswer: (@Sendable (Duration) -> Void)?
    ) throws(OriginsError) -> TransferClient {
        var asking = tileset
        // A range of some megabytes may take longer than a tile; a stalled transfer is still aborted.
        asking.politeness.totalSeconds = max(tileset.politeness.totalSeconds, minSeconds)
        asking.maxTileBytes = Int(maxPerRequest) + tileset.maxTileBytes
        return try TransferClient.open(asking, environment: environment, budget: budget, onAnswer: onAnswer)
    }

    private func count(_ bytes: Int) {
        requests.add(1, ordering: .relaxed)
        received.add(bytes, ordering: .relaxed)
    }

    /// - Parameter isOpen: Whether the server has answered requests for parts before.
    private static func head(
        _ address: RemoteAddress, _ client: TransferClient, isOpen: Bool
    ) async throws(OriginsError) -> TransferResponse {
        let request = try await address.request(0..<headSize)
        let answer: TransferResponse
        do throws(TransferError) {
            answer = try await client.send(request)
        } catch {
            throw OriginsError(error, address.name, isOpen: isOpen)
        }
        guard answer.status == 206 else { throw Self.refusal(answer.status, address.name) }
        return answer
    }

    /// Whether the server has another version by now.
    ///
    /// Asks the server unless an answer since `begin` had this version.
    ///
    /// - Throws: ``OriginsError`` when the server does not answer.
    func hasChanged(since begin: ContinuousClock.Instant) async throws(OriginsError) -> Bool {
        if isStale { return true }
        if version.hasValidator, agreedAt.withLock({ $0 >= begin }) { return false }
        let answer: TransferResponse
        do throws(OriginsError) { answer = try await Self.head(address, client, isOpen: true) } catch {
            throw await confirmed(error)
        }
        guard RemoteVersion(answer.headers, head: answer.body, place: place)?.text == version.text else {
            isReplaced.store(true, ordering: .relaxed)
            return true
        }
        agreedAt.withLock { $0 = .now }
        return false
    }

    /// The versions that the server names in further answers, in order.
    ///
    /// - Throws: ``OriginsError`` when the server does not answer.
    func versions(ofAnswers count: Int) async throws(OriginsError) -> [String] {
        var versions: [String] = []
        for _ in 0..<count {
            let answer = try await Self.head(address, client, isOpen: true)
            if let version = RemoteVersion(answer.headers, head: answer.body, place: place) {
                versions.append(version.text)
            }
        }
        return versions
    }

    /// The file as a plan of its ranges names it.
    var planned: RangePlan.Archive {
        RangePlan.Archive(
            length: version.length, etag: version.etag ?? "", lastModified: version.lastModified ?? "", head: head)
    }

    /// Whether an answer had another version; then nothing more is read.
    var isStale: Bool { isReplaced.load(ordering: .relaxed) }

    /// Reads one range.
    func read(_ range: Range<UInt64>) async throws -> [UInt8] {
        let bytes = Mutex<[UInt8]>([])
        try await read([range]) { _, part in bytes.withLock { $0 = part } }
        return bytes.withLock(\.self)
    }

    /// Reads ranges and passes each to `each` with its number, in no particular order.
    ///
    /// The number of bytes in flight is bounded. An error of `each` ends the reading.
    ///
    /// - Parameters:
    ///   - ranges: None empty, each within the file.
    ///   - underWay: Bytes in flight, if there is more than one request; as many that have come can wait for `each`.
    /// - Throws: ``OriginsError`` `.busy` when the file was replaced, `.unreadable` when the server stopped answering; `CancellationError`.
    func read(
        _ ranges: [Range<UInt64>], underWay most: UInt64 = maxUnderWay,
        each: @Sendable (_ number: Int, _ bytes: [UInt8]) async throws -> Void
    ) async throws {
        let download = client.download()
        defer { download.cancel() }
        var next = 0
        var underWay: UInt64 = 0
        /// Requests what may be under way beside what has not been passed on.
        func request() async throws {
            guard !isStale else { throw replaced }
            var requests: [TransferRequest] = []
            while next < ranges.count {
                let size = UInt64(ranges[next].count)
                guard underWay == 0 || underWay + size <= most else { break }
                requests.append(
                    try await address.request(ranges[next], tag: UInt64(next), conditions: version.conditions))
                underWay += size
                next += 1
            }
            if !requests.isEmpty { download.submit(requests) }
        }
        while true {
            try Task.checkCancellation()
            try await request()
            let results = await download.next(wanted: 1)
            try Task.checkCancellation()
            if results.isEmpty { return }
            for result in results {
                let number = Int(result.tag)
                let bytes: [UInt8]
                do throws(OriginsError) { bytes = try body(of: result, ranges[number]) } catch {
                    download.cancel()
                    throw await confirmed(error)
                }
                underWay -= UInt64(ranges[number].count)
                // The server works on the next one while this one is checked.
                try await request()
                try await each(number, bytes)
            }
        }
    }

    /// The bytes asked for, when the answer has them and is of this version.
    private func body(of result: TransferResult, _ range: Range<UInt64>) throws(OriginsError) -> [UInt8] {
        let answer: TransferResponse
        do throws(TransferError) { answer = try result.outcome.get() } catch {
            // The server supported ranges when the archive was opened, so an HTML page in its place is treated as a
            // temporary failure.
            throw OriginsError(error, name, isOpen: true)
        }
        count(answer.received)
        switch answer.status {
        case 206 where version.agrees(with: answer.headers):
            guard answer.body.count == range.count else { break }
            shortAnswers.store(0, ordering: .relaxed)
            agreedAt.withLock { $0 = .now }
            return answer.body
        case 206, 412, 416:
            isReplaced.store(true, ordering: .relaxed)
            throw replaced
        default: throw Self.refusal(answer.status, name)
        }
        // A single one may be a fault on the way; a server that always cuts answers is not asked for a minute.
        let isUsual = shortAnswers.add(1, ordering: .relaxed).newValue >= Self.maxShortAnswers
        throw OriginsError(
            isUsual ? .unsupported : .unreadable,
            "The server of '\(name)' sent \(answer.body.count) bytes, but \(range.count) were requested (from byte \(range.lowerBound))."
        )
    }

    /// The same error, if it is no refusal or the server repeats it: a single refusal may be a fault on the way.
    private func confirmed(_ error: OriginsError) async -> OriginsError {
        guard error.code == .refused else { return error }
        // One question for all batches that were refused at the same time.
        let asking = confirming.withLock { task in
            if let task { return task }
            let new = Task { [address, client] in await Self.isRefusing(address, client) }
            task = new
            return new
        }
        let isRefusing = await asking.value
        confirming.withLock { $0 = nil }
        return isRefusing ? error : OriginsError(.unreadable, error.message, cause: error)
    }

    /// How long is waited before a refusal is confirmed, each time.
    static let pauses: [Duration] = [.milliseconds(200), .seconds(1)]

    private static func isRefusing(_ address: RemoteAddress, _ client: TransferClient) async -> Bool {
        for pause in pauses {
            do {
                try await Task.sleep(for: pause)
                _ = try await head(address, client, isOpen: true)
                return false
            } catch {
                guard (error as? OriginsError)?.code == .refused else { return false }
            }
        }
        return true
    }

    private var replaced: OriginsError {
        OriginsError(.busy, "The archive '\(name)' was replaced while it was read (it was \(version.text)).")
    }

    private static func refusal(_ status: Int, _ name: String) -> OriginsError {
        OriginsError(
            .answered(status),
            "The server of '\(name)' answered \(status) to a request for a part of the file; expected 206. Check the address and its key.",
            cause: AnsweredStatus(status: status))
    }
}

/// The cause of an error about an answer that has none of the expected statuses.
struct AnsweredStatus: Error {
    let status: Int
}

extension OriginsError {
    /// Converts the error of a transfer of a part of a file.
    ///
    /// - Parameter isOpen: Whether the server has answered requests for parts before.
    fileprivate init(_ error: TransferError, _ name: String, isOpen: Bool = false) {
        switch error.code {
        case .rangeIgnored where !isOpen && Self.isPage(error.mediaType):
            self.init(
                .unsupported,
                "'\(name)' is a page or document (\(error.mediaType ?? "")), not a PMTiles archive. Check the address, and whether it needs a key.",
                cause: error)
        case .wrongRange:
            self.init(
                .unsupported,
                "The server of '\(name)' answers with other bytes than those that were requested. Use a server that supports range requests (RFC 9110, 14), or download the file and use the copy.",
                cause: error)
        case .rangeIgnored where !isOpen:
            self.init(
                .unsupported,
                "The server of '\(name)' sends the whole file although a part was requested. Use a server that supports range requests (RFC 9110, 14), or download the file and use the copy.",
                cause: error)
        case .redirectRefused, .tooManyRedirects:
            self.init(.unreachable, "The archive '\(name)' cannot be read: \(error.message)", cause: error)
        case .rangeIgnored, .resolveFailed, .connectFailed, .tlsFailed, .timeout, .truncated, .tooLarge,
            .transport, .invalidRequest, .cancelled, .diskFull, .fileFailed, .library:
            self.init(.unreadable, "The archive '\(name)' cannot be read now: \(error.message)", cause: error)
        }
    }

    /// Whether a media type is of something to read, and not of an archive.
    private static func isPage(_ mediaType: String?) -> Bool {
        guard let mediaType else { return false }
        return mediaType.hasPrefix("text/html") || mediaType.hasSuffix("xml") || mediaType.hasSuffix("json")
    }
}
