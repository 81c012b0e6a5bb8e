internal import Errors
internal import Files
internal import Tiles

/// The files of a tree by what they are.
struct TreeListing {
    /// What the names of tiles end with.
    private(set) var ending: String?
    /// Files that are no part of a tree.
    private(set) var problems: [VerifyReport.Problem] = []
    private var metadata: TreeFile?
    private let tiles = TileSorter(near: TemporaryName.forUse(as: "verify"))

    /// Lists a tree.
    ///
    /// - Throws: ``ArchiveError``.
    init(_ tree: any TileTree) throws {
        try tree.files { file in
            if file.name == TreePath.metadata {
                metadata = file
            } else if let (tile, ending) = TreePath.parse(file.name), self.ending.map({ $0 == ending }) ?? true {
                self.ending = ending
                try tiles.add(TileRecord(order: tile.northOrder, reference: file.place, length: file.length))
            } else {
                add(
                    "unknown-file", at: file.name,
                    because: "it is no tile: names are zoom/column/row.\(ending ?? "png")")
            }
        }
        problems += tree.strange
    }

    private mutating func add(_ code: String, at place: String, because message: String) {
        // The report keeps no more.
        guard problems.count <= VerifyReport.problemLimit else { return }
        problems.append(.init(code: code, place: String(place.prefix(200)), message: message))
    }

    /// The path of a tile.
    func name(_ tile: TileID) -> String { TreePath.name(tile, ending: ending ?? "") }

    /// The file of a record.
    func file(_ record: TileRecord, _ tile: TileID) -> TreeFile {
        TreeFile(name: name(tile), place: record.reference, length: record.length)
    }

    /// Calls `each` with the tiles by zoom, column and row from the north.
    func walk(
        _ report: inout VerifyReport, _ each: (TileRecord, TileID, inout VerifyReport) throws -> Void
    ) throws {
        var twice: [UInt64] = []
        try tiles.walk(
            choose: { known, _ in
                if twice.count < VerifyReport.problemLimit { twice.append(known.order) }
                return known
            },
            { record in
                guard let tile = TileID(northOrder: record.order) else { return }
                try each(record, tile, &report)
            })
        for order in twice {
            guard let tile = TileID(northOrder: order) else { continue }
            report.add("conflicting-tiles", at: "\(tile)", because: "the archive has several files of this name")
        }
    }

    /// The bytes of `tiles.json`; `nil`, after a problem, when they cannot be read.
    func text(of tree: any TileTree, _ report: inout VerifyReport) throws(ArchiveError) -> [UInt8]? {
        guard let metadata else {
            report.add("no-tiles-json", at: "file", because: "it has no \(TreePath.metadata)")
            return nil
        }
        do throws(ArchiveError) { return try tree.bytes(of: metadata) } catch {
            if error.code == .unreadable { throw error }
            report.add(error.code.description, at: TreePath.metadata, because: error.message)
            return nil
        }
    }
}
