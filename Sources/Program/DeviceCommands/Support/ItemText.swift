import Foundation
import OfflineMaps

extension Item {
    /// The item for people: `EE`, `EE terrain de, pmtiles`, `tile packs of EE`, `style streets`, `region trip`.
    var words: String {
        if let kind = companionKind { return "\(kind) of \(identifier)" }
        return switch self {
        case .package(let id, let edition, let format):
            Self.joined(id, edition) + (format == .mbtiles ? "" : ", \(format.name)")
        case .packs(let id, let edition): "tile packs of \(Self.joined(id, edition))"
        case .region(let id): "region \(id.text)"
        case .style(let id): "style \(id)"
        }
    }

    /// That the catalog does not have the item in this form.
    var isMissing: String {
        switch self {
        case .packs(let id, let edition): "the catalog has no tile packs of \(Self.joined(id, edition))"
        case .package(let id, let edition, let format):
            "the catalog does not have \(Self.joined(id, edition)) as \(format.name)"
        case .region, .style: "the catalog does not have \(words)"
        }
    }

    private static func joined(_ id: String, _ edition: Edition) -> String {
        ([id] + [edition.group, edition.language].compactMap { $0 }).joined(separator: " ")
    }
}
