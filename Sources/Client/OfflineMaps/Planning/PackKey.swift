internal import Tiles

/// Who uses a tile pack.
enum PackOwner: Hashable, Sendable {
    /// All packages and regions: the pack is complete.
    case all
    /// One package: the pack has only tiles of it.
    case package(String)
    /// One region: the pack is filled tile by tile.
    case region(RegionID)

    /// The last field of the key.
    ///
    /// `Item.field` never begins with a hyphen, except for nothing.
    var field: String {
        switch self {
        case .all: Item.field(nil)
        case .package(let id): Item.field(id)
        case .region(let id): "-:" + Item.field(id.text)
        }
    }
}

extension InstalledFileKey {
    /// The key of a tile pack.
    static func pack(
        tileset: String, _ index: TileID, _ zooms: ZoomRange, edition: Edition, owner: PackOwner
    ) -> InstalledFileKey {
        let fields = [
            Item.field(tileset), "\(index)", "\(zooms.min)-\(zooms.max)", Item.field(edition.group),
            Item.field(edition.language), owner.field,
        ]
        return InstalledFileKey(name: "pack|" + fields.joined(separator: "|"), isPack: true)
    }

    /// The fields of a tile pack's key; `nil` for other keys.
    var pack: PackKey? {
        let fields = name.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard isPack, fields.count == 7, fields[0] == "pack", let index = TileID(fields[2]),
            // Every error means: no such key.
            let zooms = try? ZoomRange(parsing: fields[3])
        else { return nil }
        return PackKey(
            tileset: fields[1], index: index, zooms: zooms, group: fields[4], language: fields[5], owner: fields[6])
    }
}

/// The fields of a tile pack's key; texts as ``Item/field(_:)`` writes them.
struct PackKey: Hashable, Sendable {
    var tileset: String
    var index: TileID
    var zooms: ZoomRange
    var group: String
    var language: String
    /// See ``PackOwner/field``.
    var owner: String

    /// Whether it is filled tile by tile for a region, and comes from no catalog.
    var isFilled: Bool { owner.hasPrefix("-:") }
}
