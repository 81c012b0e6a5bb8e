internal import OfflineMaps

/// Which items of a store the ids of packages and boxes name.
struct PackageNames: Sendable {
    let edition: Edition
    let format: Format

    /// The item of an id.
    func item(_ id: String) -> Item {
        BoxID(id) == nil ? .package(id, edition, format) : .region(RegionID(id))
    }

    /// The id of an item; `nil` for items of other editions, styles and regions that are not boxes.
    func id(of item: Item) -> String? {
        switch item {
        case .package(let id, edition, _), .packs(let id, edition): id
        case .region(let region): BoxID(region.text)?.text
        case .package, .packs, .style: nil
        }
    }
}
