internal import Foundation
internal import Tiles

/// A resource that was viewed, as the ambient cache keeps it.
struct AmbientEntry: Sendable, Hashable {
    /// The tile that an address has.
    struct Place: Sendable, Hashable {
        var tileset: String
        var tile: TileID
    }

    /// How long a resource without an expiry is fresh after the server was asked.
    static let defaultAge: TimeInterval = 86_400

    /// The address as the style has it, before ``StoreOptions/transform``.
    var address: String
    var place: Place?
    /// `nil` when the server has no such resource.
    var body: Data?
    var mediaType: String?
    var etag: String?
    var modified: Date?
    var expires: Date?
    var mustRevalidate = false
    /// When the server was asked the last time.
    var checked: Date

    /// Whether the server need not be asked.
    func isFresh(_ now: Date) -> Bool {
        // A clock that went back makes nothing fresh.
        guard checked <= now.addingTimeInterval(Self.defaultAge) else { return false }
        if let expires { return now < expires }
        return !mustRevalidate && now < checked.addingTimeInterval(Self.defaultAge)
    }
}
