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
        let map: ShardMap
        private let texts: [String]
        /// For each tile the number of its ETag, and of its Last-Modified, from 1; 0 for none.
        private let etags: [UInt32]
        private let modified: [UInt32]

        fileprivate init(map: ShardMap, texts: [String], etags: [UInt32], modified: [UInt32]) {
            (self.map, self.texts) = (map, texts)
            (self.etags, self.modified) = (etags, modified)
        }

        /// All tiles, each with its body and texts: twice the memory of the map.
        var entries: [ShardEntry] {
            var entries: [ShardEntry] = []
            entries.reserveCapacity(map.tiles.count)
            for (index, id) in map.tiles.enumerated() {
                // Each id and number was checked when the index was decoded.
                guard let tile = TileID(hilbertID: id) else { continue }
                entries.append(
                    ShardEntry(
                        tile: tile, body: map.body(map.numbers[index]), etag: text(etags[index]),
                        lastModified: text(modified[index])))
            }
            return entries
        }

        private func text(_ number: UInt32) -> String? { number == 0 ? nil : texts[Int(number) - 1] }
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
        guard var ids = reader.column(tileCount, of: UInt64.self),
            let bodyOf = reader.column(tileCount, of: UInt32.self),
            let etagOf = reader.column(tileCount, of: UInt32.self),
            let modifiedOf = reader.column(tileCount, of: UInt32.self),
            reader.remaining == 0
        else { throw corrupt("its tile table has a length that differs from the footer") }

        var groups: [ShardGroup] = []
        groups.reserveCapacity(stored.count)
        var bodies: [ShardBody] = []
        bodies.reserveCapacity(distinct)
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

        let highest = max(etagOf.max() ?? 0, modifiedOf.max() ?? 0)
        guard Int(highest) <= texts.count else { throw corrupt("a tile refers to text \(highest) of \(texts.count)") }
        let admitted = header.ids
        var (id, full, range) = (0 as UInt64, 0 as UInt32, 0)
        // The differences become the ids.
        for index in 0..<tileCount {
            let (next, overflow) = id.addingReportingOverflow(ids[index])
            while range < admitted.count, next >= admitted[range].upperBound { range += 1 }
            guard !overflow, index == 0 || ids[index] > 0, range < admitted.count, admitted[range].contains(next) else {
                throw corrupt("tile \(index) is out of order or outside \(header.cell), zooms \(header.zooms)")
            }
            (id, ids[index]) = (next, next)
            guard Int(bodyOf[index]) <= distinct else {
                throw corrupt("tile \(index) refers to body \(bodyOf[index]) of \(distinct)")
            }
            if bodyOf[index] > 0 { full += 1 }
        }
        guard full == footer.stored else {
            throw corrupt("it has \(full) stored tiles, the footer says \(footer.stored)")
        }
        let map = ShardMap(
            footerDigest: footer.digest, tiles: ids, numbers: bodyOf, bodies: bodies, groups: groups)
        return Resolved(map: map, texts: texts, etags: etagOf, modified: modifiedOf)
    }
}
