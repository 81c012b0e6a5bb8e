public import Digests
internal import Errors
internal import Files
internal import S3
internal import Synchronization
internal import Transfer

/// Puts that find another writer, where the server compares (docs/decisions/0105).
extension S3Bucket {
    /// The object that ``comparisons()`` puts and removes.
    public static let checkName = "push-check"

    /// How often a put is repeated that the server could not decide because of another one at the same time (HTTP 409).
    private static let attemptsInConflict = 4

    /// An entity tag that no object has.
    private static let foreignTag = "\"00000000000000000000000000000000\""

    /// A small object with its entity tag, or `nil` without one.
    public func object(_ name: String) async throws -> StoredObject? {
        let answer = try await send(.get, name)
        if answer.status == 200 { return StoredObject(answer.body, tag: Self.strong(answer.headers.etag)) }
        let refusal = refusal(of: answer, "read \(name)")
        guard answer.status == 404, refusal.code != .noBucket else { throw refusal }
        return nil
    }

    /// Stores some bytes if the condition is true.
    public func put(_ name: String, bytes: [UInt8], if condition: PutCondition?) async throws -> PutResult {
        try await put(name, .bytes(bytes), sha256: Digest(of: bytes).hex, if: condition)
    }

    /// Stores a file of that SHA-256 in one request if the condition is true.
    public func put(
        _ name: String, file: String, size: UInt64, sha256: String, if condition: PutCondition?
    ) async throws -> PutResult {
        try await put(name, .file(path: file, offset: 0, count: size), sha256: sha256, if: condition)
    }

    /// Asks the server which conditions it compares: it puts ``checkName`` twice, and removes it.
    ///
    /// A server that ignores a condition stores the object again; others say that they do not know the header.
    public func comparisons() async throws -> PutComparisons {
        var absent = try await check(.absent)
        // The first put finds no object. Another publisher that asks the same may remove the object between two requests.
        for _ in 1...3 where absent == .ignored { absent = try await check(.absent) }
        let unchanged = try await check(.unchanged(Self.foreignTag))
        try await remove(Self.checkName)
        return PutComparisons(absent: absent == .compared, unchanged: unchanged == .compared)
    }

    /// What a server did with a condition that should be false.
    private enum Check {
        case compared
        /// It stored the object: the condition is ignored, or it was true.
        case ignored
        /// It does not know the header.
        case unknown
    }

    /// Whether the object has this length and SHA-256; all of it is read.
    public func holds(_ name: String, size: UInt64, sha256: Digest) async throws -> Bool {
        guard try await self.size(of: name) == size else { return false }
        let receiver = DigestReceiver()
        let answer = try await send(.get, name, receiver: receiver)
        guard answer.status == 200 else { return false }
        return receiver.digest == sha256
    }

    private func check(_ condition: PutCondition) async throws -> Check {
        let bytes = Array("packhorse\n".utf8)
        let answer = try await send(
            .put, Self.checkName, headers: [condition.header], upload: .bytes(bytes), sha256: Digest(of: bytes).hex)
        switch answer.status {
        case 404 where refusal(of: answer, "").code != .noBucket: return .compared
        case 304, 409, 412: return .compared
        case 200: return .ignored
        case 400, 405, 501: return .unknown
        default: throw refusal(of: answer, "store \(Self.checkName)")
        }
    }

    private func put(
        _ name: String, _ upload: TransferUpload, sha256: String, if condition: PutCondition?
    ) async throws -> PutResult {
        for attempt in 1... {
            let answer = try await send(
                .put, name, headers: condition.map { [$0.header] } ?? [], upload: upload, sha256: sha256)
            switch (answer.status, condition) {
            case (200, _): return .stored(tag: Self.strong(answer.headers.etag))
            case (304, .some), (412, .some): return .refused
            case (409, .some) where attempt < Self.attemptsInConflict:
                try await Task.sleep(for: .milliseconds(100 * attempt))
            case (409, .some): return .refused
            // An object that was removed has no entity tag to compare.
            case (404, .unchanged) where refusal(of: answer, "").code != .noBucket: return .refused
            default: throw refusal(of: answer, "store \(name)")
            }
        }
        return .refused
    }

    /// A weak entity tag does not identify bytes.
    private static func strong(_ tag: String?) -> String? {
        tag.flatMap { $0.isEmpty || $0.hasPrefix("W/") ? nil : $0 }
    }
}

extension PutCondition {
    /// The line of a request.
    var header: HeaderField {
        switch self {
        case .absent: HeaderField("If-None-Match", "*")
        case .unchanged(let tag): HeaderField("If-Match", tag)
        }
    }
}

/// Computes the SHA-256 of a body and keeps nothing of it.
private final class DigestReceiver: TransferReceiver {
    private let hasher = Mutex(DigestHasher())

    var digest: Digest { hasher.withLock { $0.finish() } }

    func begin(status: Int, headers: ResponseHeaders) -> Bool {
        // An attempt that is repeated sends the body from its beginning.
        hasher.withLock { $0 = DigestHasher() }
        return true
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasher.withLock { $0.update(bytes) }
        return true
    }
}
