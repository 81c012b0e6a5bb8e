/// The layout of towns.bin (ops/regions/FORMAT.md): where the blocks of towns and names are, and how each is read.
///
/// Making one reads the head only. A lookup reads the blocks that it needs; nothing is kept.
struct TownBytes: Sendable {
    /// A town that has a name.
    struct Owner: Hashable, Sendable {
        let index: Int
        /// Whether it is the name that the list uses, and not another spelling.
        let isOwn: Bool
    }

    let count: Int
    private let bytes: ResourceBytes
    private let regions: [String]
    private let perTownBlock: Int
    private let perNameBlock: Int
    private let nameCount: Int
    private let tables: Int
    private let towns: Range<Int>
    private let names: Range<Int>

    /// Reads the head.
    ///
    /// - Throws: ``RegionsError`` `.badResource` for bytes that are not of the format.
    init(_ bytes: ResourceBytes) throws(RegionsError) {
        self.bytes = bytes
        var cursor = ByteCursor(bytes, 0..<bytes.count)
        guard try cursor.ascii(min(5, cursor.remaining)) == "PHTN\u{1}" else {
            throw .damaged("has a list of towns without its signature")
        }
        count = try cursor.count(of: "towns")
        nameCount = try cursor.count(of: "names of towns")
        perTownBlock = try cursor.varint()
        perNameBlock = try cursor.varint()
        guard (1...256).contains(perTownBlock), (1...256).contains(perNameBlock) else {
            throw .damaged("has blocks of \(perTownBlock) towns and \(perNameBlock) names")
        }
        var regions: [String] = []
        for _ in 0..<(try cursor.count(of: "regions of towns")) {
            regions.append(try cursor.ascii(try cursor.count(of: "letters")))
        }
        self.regions = regions
        let townBytes = try cursor.count(of: "bytes of towns")
        let nameBytes = try cursor.count(of: "bytes of names")
        tables = cursor.position
        let tableBytes = 3 * (Self.blocks(count, perTownBlock) + Self.blocks(nameCount, perNameBlock))
        guard tableBytes + townBytes + nameBytes == cursor.remaining else {
            throw .damaged("has a list of towns of another length than its head says")
        }
        towns = tables + tableBytes..<tables + tableBytes + townBytes
        names = towns.upperBound..<towns.upperBound + nameBytes
    }

    private static func blocks(_ count: Int, _ size: Int) -> Int { (count + size - 1) / size }

    var nameBlocks: Int { Self.blocks(nameCount, perNameBlock) }

    /// Calls a function with the towns of a block, until it says `false`.
    func forEachTown(inBlock block: Int, _ body: (Int, Town) -> Bool) throws(RegionsError) {
        var cursor = ByteCursor(bytes, townStart(block)..<towns.upperBound)
        for index in block * perTownBlock..<min(count, (block + 1) * perTownBlock) {
            let name = String(decoding: try cursor.bytes(try cursor.count(of: "letters")), as: UTF8.self)
            let region = try cursor.varint()
            guard regions.indices.contains(region) else { throw .damaged("has a town in region \(region)") }
            let x = try cursor.number24()
            let y = try cursor.number24()
            let population = try cursor.varint()
            let side = Double(1 << 24)
            let town = Town(
                id: try cursor.varint(), name: name, regionID: regions[region],
                longitude: Double(x) * 360 / side - 180, latitude: Double(y) * 180 / side - 90, population: population)
            guard body(index, town) else { return }
        }
    }

    /// The town at an index, which must be below ``count``.
    func town(_ wanted: Int) throws(RegionsError) -> Town {
        var found: Town?
        if wanted >= 0, wanted < count {
            try forEachTown(inBlock: wanted / perTownBlock) { index, town in
                if index == wanted { found = town }
                return index < wanted
            }
        }
        guard let found else { throw .damaged("names town \(wanted) of \(count)") }
        return found
    }

    var townBlocks: Int { Self.blocks(count, perTownBlock) }

    /// Calls a function with names in the order of their bytes, and the towns that have them, until it says `false`.
    ///
    /// - Parameter block: The first block to read.
    func forEachName(
        fromBlock block: Int, _ body: ([UInt8], [Owner]) throws(RegionsError) -> Bool
    ) throws(RegionsError) {
        guard block < nameBlocks else { return }
        var cursor = ByteCursor(bytes, nameStart(block)..<names.upperBound)
        var name: [UInt8] = []
        var owners: [Owner] = []
        for _ in block * perNameBlock..<nameCount {
            let shared = try cursor.varint()
            guard shared <= name.count else { throw .damaged("has a name of a town that shares \(shared) bytes") }
            name.removeSubrange(shared...)
            name += try cursor.bytes(try cursor.count(of: "letters"))
            guard name.count <= 1_024 else { throw .damaged("has a name of a town of \(name.count) bytes") }
            owners.removeAll(keepingCapacity: true)
            var (index, hasMore) = (0, true)
            while hasMore {
                let value = try cursor.varint()
                index += value >> 2
                hasMore = value & 1 == 1
                owners.append(Owner(index: index, isOwn: value & 2 == 2))
            }
            guard try body(name, owners) else { return }
        }
    }

    private func townStart(_ block: Int) -> Int {
        min(towns.lowerBound + bytes.number24(at: tables + 3 * block), towns.upperBound)
    }

    private func nameStart(_ block: Int) -> Int {
        min(names.lowerBound + bytes.number24(at: tables + 3 * (townBlocks + block)), names.upperBound)
    }

    /// The last block whose first name is not after a text; 0 when the first names of all blocks are.
    func nameBlock(of text: [UInt8]) throws(RegionsError) -> Int {
        var (low, high) = (0, nameBlocks)
        while high - low > 1 {
            let middle = (low + high) / 2
            var cursor = ByteCursor(bytes, nameStart(middle)..<names.upperBound)
            _ = try cursor.varint()
            let first = try cursor.bytes(try cursor.count(of: "letters"))
            if text.lexicographicallyPrecedes(first) { high = middle } else { low = middle }
        }
        return low
    }
}
