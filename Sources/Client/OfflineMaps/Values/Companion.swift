internal import CatalogFormat
public import Foundation

/// Which companions packages get, and which they give up: words of kinds, `routing` for each kind of routing.
public struct CompanionChoice: Hashable, Codable, Sendable {
    /// Kinds, or first words of kinds, that are installed with the package and stay with it.
    public var with: Set<String>
    /// Kinds, or first words of kinds, that the package gives up.
    public var without: Set<String>

    /// Names kinds.
    public init(with: Set<String> = [], without: Set<String> = []) {
        (self.with, self.without) = (with, without)
    }

    /// Whether it changes nothing.
    public var isEmpty: Bool { with.isEmpty && without.isEmpty }
}

/// A file of the catalog that belongs to a package and is no map.
public struct CompanionInfo: Hashable, Sendable {
    /// The package.
    public var id: String
    /// The data group and the language.
    public var edition: Edition
    /// What it is for: `routing.valhalla`.
    public var kind: String
    /// The version of the program that reads it, as the publisher wrote it; `nil` if unknown.
    public var engine: String?
    /// Counts from 1.
    public var version: Int32
    /// Bytes.
    public var size: UInt64
    /// How old the data is; `nil` if unknown.
    public var dataDate: String?

    init?(_ offer: CatalogContent.Offer) {
        guard let companion = offer.companion else { return nil }
        (id, edition) = (offer.id, Edition(group: offer.group, language: offer.language))
        (kind, engine, version) = (companion.kind, companion.engine, offer.version)
        (size, dataDate) = (offer.size, offer.dataDate)
    }
}

/// A companion that is on the device.
public struct InstalledCompanion: Hashable, Encodable, Sendable {
    /// What it is for: `routing.valhalla`.
    public var kind: String
    /// The version of the program that reads it, as the publisher wrote it; `nil` if unknown.
    public var engine: String?
    /// Counts from 1.
    public var version: Int32
    /// Bytes.
    public var bytes: UInt64
    /// How old the data is; `nil` if unknown.
    public var dataDate: String?
    /// The file, a tar archive where the publisher attached a folder; do not store it: an update has another name, and the folder
    /// can move.
    public var file: URL

    private enum CodingKeys: String, CodingKey { case kind, engine, version, bytes, dataDate, file }

    /// Writes the file as a path.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(kind, forKey: .kind)
        try values.encodeIfPresent(engine, forKey: .engine)
        try values.encode(version, forKey: .version)
        try values.encode(bytes, forKey: .bytes)
        try values.encodeIfPresent(dataDate, forKey: .dataDate)
        try values.encode(file.path, forKey: .file)
    }
}
