import Errors
internal import TextFormats

/// Reads a list of the blocks of a PMTiles archive, `ARCHIVE.sync`, piece by piece, as `pmtiles makesync` writes it.
///
/// A line of JSON, then for each block the step of its first tile id, its length, and XXH64 of its bytes. The blocks follow one another
/// without gaps and have all bytes of the archive's bodies. Memory is bounded by the pieces. Hostile bytes are refused.
package struct BlockListReader: Sendable {
    /// A stretch of an archive's bodies.
    package struct Block: Sendable, Hashable {
        /// The id of the tile whose body is the first one.
        package var tile: UInt64
        /// Its first byte, counted from the beginning of the bodies.
        package var offset: UInt64
        /// Its bytes, at least 1.
        package var length: UInt64
        /// XXH64 of its bytes.
        package var hash: UInt64
    }

    /// The most bytes of a list: a block for each of some twenty million bodies.
    package static let largest: UInt64 = 256 << 20
    /// The most bytes of the line of JSON.
    private static let longestHead = 4_096
    /// The fewest and the most bytes of a block: two varints and the hash.
    private static let (fewest, most): (UInt64, UInt64) = (10, 28)
    /// One more than the largest id of a tile at zoom 31, the deepest of the format.
    private static let idEnd = UInt64.max / 3

    private let fileBytes: UInt64
    private let bodyBytes: UInt64
    /// The number of blocks that the line of JSON says; `nil` before it was read.
    package private(set) var expected: UInt64?
    private var rest: [UInt8] = []
    private var taken: UInt64 = 0
    private var count: UInt64 = 0
    private var last = Block(tile: 0, offset: 0, length: 0, hash: 0)

    /// Nothing is read yet.
    ///
    /// - Parameters:
    ///   - fileBytes: Bytes of the whole list.
    ///   - bodyBytes: Bytes of all bodies, as the header of the archive says them.
    /// - Throws: ``OriginsError`` `.badArchive` for a list above ``largest``.
    package init(fileBytes: UInt64, bodyBytes: UInt64) throws(OriginsError) {
        guard fileBytes <= Self.largest else {
            throw Self.refused("has \(fileBytes) bytes, at most \(Self.largest) are read; make it with larger blocks")
        }
        (self.fileBytes, self.bodyBytes) = (fileBytes, bodyBytes)
    }

    /// Takes the next bytes of the list.
    ///
    /// - Returns: The blocks that are whole now.
    /// - Throws: ``OriginsError`` `.badArchive`, and then no further bytes can be taken.
    package mutating func take(_ bytes: [UInt8]) throws(OriginsError) -> [Block] {
        rest += bytes
        taken += UInt64(bytes.count)
        guard taken <= fileBytes else { throw Self.refused("has more bytes than its server said") }
        var position = 0
        if expected == nil {
            guard let end = rest.prefix(Self.longestHead).firstIndex(of: UInt8(ascii: "\n")) else {
                guard rest.count < Self.longestHead else { throw Self.refused("does not begin with a line of JSON") }
                return []
            }
            expected = try count(in: Array(rest[..<end]), behind: UInt64(end + 1))
            position = end + 1
        }
        var found: [Block] = []
        while let (block, end) = try next(at: position) {
            found.append(block)
            position = end
        }
        rest.removeFirst(position)
        if count == expected, !rest.isEmpty { throw Self.otherBytes }
        return found
    }

    /// Checks that all blocks were there, and nothing else.
    ///
    /// - Throws: ``OriginsError`` `.badArchive`.
    package func finish() throws(OriginsError) {
        guard let expected else { throw Self.refused("does not begin with a line of JSON") }
        guard taken == fileBytes, rest.isEmpty, count == expected else { throw Self.otherBytes }
        guard last.offset + last.length == bodyBytes else {
            throw Self.refused(
                "has blocks of \(last.offset + last.length) bytes, and the archive has \(bodyBytes) bytes of tiles: it is of another build"
            )
        }
    }

    /// The number of blocks that the head says, if a list of this length can have them.
    private func count(in head: [UInt8], behind bytes: UInt64) throws(OriginsError) -> UInt64 {
        guard case .object(let values)? = JSONValue(json: head) else {
            throw Self.refused("does not begin with a line of JSON")
        }
        // Earlier versions of the program wrote `NumBlocks` for `num_blocks`.
        var known: [String: JSONValue] = [:]
        for (name, value) in values { known[name.lowercased().replacing("_", with: "")] = value }
        guard case .string(let kind)? = known["hashtype"], kind.lowercased() == "xxh64",
            known["hashsize"] == .number(8)
        else { throw Self.refused("has no hashes of the kind xxh64 with 8 bytes") }
        guard case .number(let number)? = known["numblocks"], let blocks = UInt64(exactly: number), blocks > 0,
            blocks <= fileBytes / Self.fewest, blocks * Self.fewest <= fileBytes - bytes,
            fileBytes - bytes <= blocks * Self.most
        else { throw Self.refused("names a number of blocks that its length cannot have") }
        return blocks
    }

    /// The block at a position and its end; `nil` when it is not whole yet, or was the last one.
    private mutating func next(at start: Int) throws(OriginsError) -> (Block, end: Int)? {
        guard let expected, count < expected else { return nil }
        var position = start
        guard let step = try varint(&position), let length = try varint(&position), rest.count - position >= 8 else {
            return nil
        }
        let hash = (0..<8).reduce(UInt64(0)) { $0 | UInt64(rest[position + $1]) << (8 * UInt64($1)) }
        let (tile, isTooFar) = last.tile.addingReportingOverflow(step)
        guard !isTooFar, tile < Self.idEnd, count == 0 || step > 0 else {
            throw Self.refused("has blocks whose tiles do not ascend")
        }
        let offset = last.offset + last.length
        guard length > 0, length <= bodyBytes - offset else {
            throw Self.refused(
                "has blocks beyond the \(bodyBytes) bytes of the archive's tiles: it is of another build")
        }
        last = Block(tile: tile, offset: offset, length: length, hash: hash)
        count += 1
        return (last, position + 8)
    }

    /// A number of at most ten bytes; `nil` when its end is not there yet.
    private func varint(_ position: inout Int) throws(OriginsError) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard position < rest.count else { return nil }
            let byte = rest[position]
            position += 1
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Self.refused("has a number of more than 64 bits")
    }

    private static var otherBytes: OriginsError { refused("ends within a block, or has other bytes than its blocks") }

    static func refused(_ why: String) -> OriginsError { OriginsError(.badArchive, "The list of blocks \(why).") }
}
