internal import Files
internal import HummingbirdCore
internal import NIOCore
internal import Synchronization

/// The bodies that are being sent from files: their number decides how much memory each may use.
///
/// A connection holds up to three pieces: in the queue of its socket, in the writer, and one read ahead. A thousand slow
/// downloads with pieces of 128 KiB held half a gigabyte.
final class SentBodies: Sendable {
    /// Bytes of a piece while few bodies are being sent, and of the smallest one.
    static let (largestPiece, smallestPiece) = (256 << 10, 8 << 10)
    /// The bytes that one piece of each body may have together.
    private static let most = 3 << 20
    private let count = Atomic<Int>(0)

    /// Bytes of the next piece of each body.
    var piece: Int {
        min(Self.largestPiece, max(Self.smallestPiece, Self.most / max(1, count.load(ordering: .relaxed))))
    }

    /// Whether each body may hold a piece more, which is read ahead.
    var hasRoom: Bool { piece >= 32 << 10 }

    func begin() { count.add(1, ordering: .relaxed) }
    func end() { count.subtract(1, ordering: .relaxed) }
}

/// Sends ranges of files on one connection.
struct BodySender: Sendable {
    let bodies: SentBodies
    /// That of the connection.
    let loop: any EventLoop

    /// Writes a range: the next piece is read while one is being sent, unless very many bodies are.
    ///
    /// A write returns before the connection's loop has seen it. While the loop serves other connections, writes to a slow
    /// client would pile up: a thousand of them held 4.5 GiB. So each write waits for the loop.
    func send(_ range: Range<UInt64>, of file: OpenFile, to writer: inout any ResponseBodyWriter) async throws {
        bodies.begin()
        defer { bodies.end() }
        var offset = range.lowerBound
        var held = try await read(at: offset, in: range, of: file)
        while let piece = held {
            offset += UInt64(piece.readableBytes)
            let next = offset
            guard bodies.hasRoom else {
                try await write(piece, to: &writer)
                held = try await read(at: next, in: range, of: file)
                continue
            }
            async let ahead = read(at: next, in: range, of: file)
            try await write(piece, to: &writer)
            held = try await ahead
        }
    }

    private func write(_ piece: ByteBuffer, to writer: inout any ResponseBodyWriter) async throws {
        try await writer.write(piece)
        await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }

    /// The most bytes of a range that is read and written on the loop.
    var mostAtOnce: Int { min(CachedBytes.most, bodies.piece) }

    /// A range that is not longer than a piece; `nil` for a longer one.
    func piece(_ range: Range<UInt64>, of file: OpenFile) async throws -> ByteBuffer? {
        range.count <= bodies.piece ? try await read(at: range.lowerBound, in: range, of: file) : nil
    }

    /// The piece at an offset; `nil` at the end of the range.
    private func read(at offset: UInt64, in range: Range<UInt64>, of file: OpenFile) async throws -> ByteBuffer? {
        guard offset < range.upperBound else { return nil }
        let count = Int(min(UInt64(bodies.piece), range.upperBound - offset))
        return try await FileWork.run { try file.read(at: offset, count: count) }
    }
}
