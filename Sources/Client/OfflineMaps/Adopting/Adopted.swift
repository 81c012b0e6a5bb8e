/// A file of the device that is ready to become current.
struct Adopted: Sendable {
    /// Where its bytes are, before they are at their place.
    enum Place: Hashable, Sendable {
        /// A part file of this digest; ``FileInstaller/prepare(_:in:source:)`` moves it.
        case part
        /// A file that stays where it is.
        case outside
    }

    var file: InstalledFile
    var place: Place
    /// Regions that a MapLibre database describes; they hold it too.
    var regions: [AdoptedRegion] = []
}

/// A region of a MapLibre database.
struct AdoptedRegion: Sendable {
    var id: RegionID
    var definition: RegionDefinition
    var context: [UInt8]
}
