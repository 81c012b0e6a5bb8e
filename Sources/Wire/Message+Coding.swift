internal import SwiftProtobuf

extension Message {
    /// Deeper nesting is refused.
    ///
    /// The deepest of the schema is Jobs › JobStatus › TileFailure › Tile.
    static let maxDepth = 8

    /// The body's bytes in canonical form: equal messages give equal bytes.
    ///
    /// - Throws: ``WireError`` `too-large`, or `bad-body` for text that cannot be encoded.
    func encodedBody() throws(WireError) -> [UInt8] {
        let (type, body) = parts
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        let bytes: [UInt8]
        do {
            bytes = try body.serializedBytes(options: options)
        } catch {
            throw WireError(.badBody, "The \(type) message cannot be encoded: \(error).")
        }
        try Self.checkSize(type, bytes.count)
        return bytes
    }

    /// Decodes and checks the body of a message.
    ///
    /// - Throws: ``WireError`` `too-large`, `too-many`, `bad-body` or `bad-value`.
    init(_ type: MessageType, decoding body: [UInt8]) throws(WireError) {
        try Self.checkSize(type, body.count)
        for limit in type.listLimits {
            guard let count = limit.count(in: body[...]) else {
                throw WireError(.badBody, "The body of the \(type) message is not a protobuf message.")
            }
            guard count <= limit.most else {
                let path = limit.path.map(String.init).joined(separator: ".")
                throw WireError(
                    .tooMany, "The \(type) message has \(count) entries in field \(path); the limit is \(limit.most)."
                )
            }
        }
        switch type {
        case .hello: self = .hello(try Self.decode(body, type))
        case .ready: self = .ready(try Self.decode(body, type))
        case .progress: self = .progress(try Self.decode(body, type))
        case .commit: self = .commit(try Self.decode(body, type))
        case .fail: self = .fail(try Self.decode(body, type))
        case .return: self = .return(try Self.decode(body, type))
        case .bye: self = .bye(try Self.decode(body, type))
        case .welcome: self = .welcome(try Self.decode(body, type))
        case .reject: self = .reject(try Self.decode(body, type))
        case .offer: self = .offer(try Self.decode(body, type))
        case .pong: self = .pong(try Self.decode(body, type))
        case .ack: self = .ack(try Self.decode(body, type))
        case .stale: self = .stale(try Self.decode(body, type))
        case .unknownSession: self = .unknownSession(try Self.decode(body, type))
        case .submit: self = .submit(try Self.decode(body, type))
        case .submitted: self = .submitted(try Self.decode(body, type))
        case .listJobs: self = .listJobs(try Self.decode(body, type))
        case .jobs: self = .jobs(try Self.decode(body, type))
        case .getJob: self = .getJob(try Self.decode(body, type))
        case .jobStatus: self = .jobStatus(try Self.decode(body, type))
        case .cancelJob: self = .cancelJob(try Self.decode(body, type))
        case .done: self = .done(try Self.decode(body, type))
        case .listWorkers: self = .listWorkers(try Self.decode(body, type))
        case .workers: self = .workers(try Self.decode(body, type))
        case .ping: self = .ping(try Self.decode(body, type))
        case .health: self = .health(try Self.decode(body, type))
        case .problem: self = .problem(try Self.decode(body, type))
        case .rateGrants: self = .rateGrants(try Self.decode(body, type))
        case .jobOrder: self = .jobOrder(try Self.decode(body, type))
        case .listDead: self = .listDead(try Self.decode(body, type))
        case .deadLetters: self = .deadLetters(try Self.decode(body, type))
        case .deadOrder: self = .deadOrder(try Self.decode(body, type))
        case .ordered: self = .ordered(try Self.decode(body, type))
        case .putSchedule: self = .putSchedule(try Self.decode(body, type))
        case .dropSchedule: self = .dropSchedule(try Self.decode(body, type))
        case .listSchedules: self = .listSchedules(try Self.decode(body, type))
        case .schedules: self = .schedules(try Self.decode(body, type))
        case .listOrigins: self = .listOrigins(try Self.decode(body, type))
        case .origins: self = .origins(try Self.decode(body, type))
        case .getEvents: self = .getEvents(try Self.decode(body, type))
        case .events: self = .events(try Self.decode(body, type))
        case .backup: self = .backup(try Self.decode(body, type))
        case .backedUp: self = .backedUp(try Self.decode(body, type))
        case .drainWorker: self = .drainWorker(try Self.decode(body, type))
        case .originOrder: self = .originOrder(try Self.decode(body, type))
        case .putBegin: self = .putBegin(try Self.decode(body, type))
        case .have: self = .have(try Self.decode(body, type))
        case .chunk: self = .chunk(try Self.decode(body, type))
        case .putEnd: self = .putEnd(try Self.decode(body, type))
        case .stored: self = .stored(try Self.decode(body, type))
        case .get: self = .get(try Self.decode(body, type))
        case .blobSize: self = .blobSize(try Self.decode(body, type))
        case .blobRefused: self = .blobRefused(try Self.decode(body, type))
        }
        try checkValues()
    }

    private static func checkSize(_ type: MessageType, _ count: Int) throws(WireError) {
        guard count <= type.maxBodyBytes else {
            throw WireError(
                .tooLarge, "The \(type) message has \(count) bytes; the limit for its type is \(type.maxBodyBytes).")
        }
    }

    private static func decode<Body: SwiftProtobuf.Message>(
        _ bytes: [UInt8], _ type: MessageType
    ) throws(WireError) -> Body {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = maxDepth
        options.discardUnknownFields = true
        do {
            return try Body(serializedBytes: bytes, options: options)
        } catch {
            throw WireError(.badBody, "The body of the \(type) message is not a protobuf message: \(error).")
        }
    }
}
