internal import Digests
internal import Errors
internal import Files
internal import Tiles

/// The table of a shard's groups, bodies, texts and tiles, and its one encoding (docs/formats/shard.md, "Index").
struct ShardIndex {
    /// Per group: bytes in the file, number of bodies.
    var groups: [(stored: UInt32, bodies: UInt32)] = []
    var digests: [Digest] = []
    var lengths: [UInt32] = []
    var texts: [String] = []
    /// Ascending by tile.
    ///
    /// Numbers of body, ETag and Last-Modified count from 1; 0 means that there is none.
    var tiles: [(id: UInt64, body: UInt32, etag: UInt32, modified: UInt32)] = []

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        for group in groups { bytes.append(little: group.stored) }
        for group in groups { bytes.append(little: group.bodies) }
        for digest in digests { bytes += digest.bytes }
        for length in lengths { bytes.append(little: length) }
        bytes.append(little: UInt32(texts.count))
        for text in texts { bytes.append(little: UInt16(text.utf8.count)) }
        for text in texts { bytes += text.utf8 }
        var previous: UInt64 = 0
        for tile in tiles {
            bytes.append(little: tile.id - previous)
            previous = tile.id
        }
        for tile in tiles { bytes.append(little: tile.body) }
        for tile in tiles { bytes.append(little: tile.etag) }
        for tile in tiles { bytes.append(little: tile.modified) }
        return bytes
    }

    /// The decoded index for a reader, checked against the footer.
    struct Resolved {
        let groups: [ShardGroup]
        let bodies: [ShardBody]
        let entries: [ShardEntry]
    }

    /// Decodes an index whose digest has been checked; the structure is checked too, because a faulty or hostile writer
    /// can write a correct digest of a wrong index.
    static func decode(_ bytes: [UInt8], header: ShardHeader, footer: ShardFooter, path: String) throws(StorageError)
        -> Resolved
    {
        func corrupt(_ why: String) -> StorageError {
            StorageError(.corrupt, "'\(path)' has a damaged index: \(why). Fetch this batch again.")
        }
        var reader = ByteReader(bytes[...])
        let tileCount = Int(footer.stored) + Int(footer.empty)
        let distinct = Int(footer.distinct)
        guard let stored = reader.column(Int(footer.groups), of: UInt32.self),
            let counts = reader.column(Int(footer.groups), of: UInt32.self),
            let hashes = reader.bytes(distinct * 32),
            let lengths = reader.column(distinct, of: UInt32.self),
            let textCount = reader.uint32(), Int(textCount) <= 2 * tileCount,
            let textLengths = reader.column(Int(textCount), of: UInt16.self)
        else { throw corrupt("it ends too early") }
        var texts: [String] = []
        for length in textLengths {
            guard Int(length) <= ShardLimits.text, let slice = reader.bytes(Int(length)) else {
                throw corrupt("a text is too long")
            }
            // `String(validating:)` runs unspecialised.
            let text = String(decoding: slice, as: UTF8.self)
            guard text.utf8.elementsEqual(slice) else { throw corrupt("a text is not UTF-8") }
            texts.append(text)
        }
        guard let steps = reader.column(tileCount, of: UInt64.self),
            let bodyOf = reader.column(tileCount, of: UInt32.self),
            let etagOf = reader.column(tileCount, of: UInt32.self),
            let modifiedOf = reader.column(tileCount, of: UInt32.self),
            reader.remaining == 0
        else { throw corrupt("its tile table has a length that differs from the footer") }

        var groups: [ShardGroup] = []
        var bodies: [ShardBody] = []
        var position = UInt64(footer.headerLength)
        for (group, (frame, count)) in zip(stored, counts).enumerated() {
            guard count > 0, Int(count) <= distinct - bodies.count else {
                throw corrupt("group \(group) counts \(count) bodies")
            }
            var size = 0
            for number in bodies.count..<bodies.count + Int(count) {
                let start = hashes.startIndex + number * 32
                guard 1...ShardLimits.body ~= Int(lengths[number]), size < ShardLimits.group,
                    let digest = Digest(bytes: hashes[start..<start + 32])
                else { throw corrupt("body \(number) has \(lengths[number]) bytes") }
                bodies.append(
                    ShardBody(number: number, digest: digest, group: group, offset: size, length: Int(lengths[number])))
                size += Int(lengths[number])
            }
            groups.append(ShardGroup(position: position, stored: Int(frame), size: size))
            position += UInt64(frame)
        }
        guard position == footer.indexOffset, bodies.count == distinct else {
            throw corrupt("its groups end at byte \(position), the index begins at \(footer.indexOffset)")
        }
        guard bodies.reduce(UInt64(0), { $0 + UInt64($1.length) }) == footer.bodyBytes else {
            throw corrupt("its bodies do not add up to \(footer.bodyBytes) bytes")
        }

        func text(_ number: UInt32) throws(StorageError) -> String? {
            guard Int(number) <= texts.count else { throw corrupt("a tile refers to text \(number) of \(texts.count)") }
            return number == 0 ? nil : texts[Int(number) - 1]
        }
        var entries: [ShardEntry] = []
        entries.reserveCapacity(tileCount)
        var id: UInt64 = 0
        var full: UInt32 = 0
        for index in 0..<tileCount {
            let (next, overflow) = id.addingReportingOverflow(steps[index])
            guard !overflow, index == 0 || steps[index] > 0, let tile = TileID(hilbertID: next), header.admits(tile)
            else {
                throw corrupt("tile \(index) is out of order or outside \(header.cell), zooms \(header.zooms)")
            }
            id = next
            guard Int(bodyOf[index]) <= distinct else {
                throw corrupt("\(tile) refers to body \(bodyOf[index]) of \(distinct)")
            }
            let body = bodyOf[index] == 0 ? nil : bodies[Int(bodyOf[index]) - 1]
            if body != nil { full += 1 }
            entries.append(
                ShardEntry(
                    tile: tile, body: body, etag: try text(etagOf[index]), lastModified: try text(modifiedOf[index])))
        }
        guard full == footer.stored else {
            throw corrupt("it has \(full) stored tiles, the footer says \(footer.stored)")
        }
        return Resolved(groups: groups, bodies: bodies, entries: entries)
    }
}
