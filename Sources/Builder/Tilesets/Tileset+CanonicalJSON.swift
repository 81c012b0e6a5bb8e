public import Errors
import Foundation
import TileBodies
import Tiles

extension Tileset {
    /// The tileset as JSON with sorted keys: the same bytes for equal tilesets, on every machine.
    ///
    /// Holds the names of environment variables, never their values. The members are ``CanonicalField/all`` and the source's.
    public var canonicalJSON: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every number was checked to be finite; JSON cannot represent other numbers.
        return (try? encoder.encode(CanonicalForm(tileset: self))).map { [UInt8]($0) } ?? []
    }

    /// What decides which tiles of other jobs can be used: ``canonicalJSON``.
    ///
    /// Of a source whose address changes it is what decides what becomes of a body: not the address of the build, and not what the build says of itself.
    /// The version of an archive stands for its bytes, but that of a tile server only names a build: there the address without that name, the
    /// document and the headers decide too.
    public var identityJSON: [UInt8] {
        guard let build else { return canonicalJSON }
        let addresses = build.document.map { document in
            source.addresses.map { $0.replacing(build.name, with: "{build}") } + [document.address]
        }
        var same = Tileset(
            id: id, source: TileSource(.templates, addresses ?? ["latest"]), rowOrder: .xyz, format: format,
            zooms: .all, headers: addresses == nil ? [:] : headers,
            politeness: Politeness(), http2: false, maxTileBytes: Self.defaultMaxTileBytes, language: language)
        (same.layers, same.encoding, same.reject) = (layers, encoding, reject)
        (same.tileSize, same.isTileSizeChecked, same.mixesPictures) = (tileSize, isTileSizeChecked, mixesPictures)
        return same.canonicalJSON
    }

    /// Reads the canonical form.
    ///
    /// - Throws: ``TilesetsError`` `.badSyntax` for other bytes, and the errors of a tileset file.
    public init(canonicalJSON: [UInt8]) throws(TilesetsError) {
        guard canonicalJSON.count <= 1 << 20 else {
            throw TilesetsError(.badSyntax, "The tileset's description is larger than 1 MiB.")
        }
        do {
            self = try JSONDecoder().decode(CanonicalForm.self, from: Data(canonicalJSON)).tileset
        } catch let error as TilesetsError {
            throw error
        } catch {
            throw TilesetsError(.badSyntax, "The tileset's description is not in its canonical form.")
        }
        try check()
    }
}

/// The canonical form, version 1.
private struct CanonicalForm: Codable {
    static let version = 1
    var tileset: Tileset

    init(tileset: Tileset) { self.tileset = tileset }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CanonicalKey.self)
        let version = try members.decode(Int.self, forKey: "version")
        guard version == Self.version else {
            throw TilesetsError(
                .badSyntax,
                "The tileset's description has version \(version); this build reads version \(Self.version). Upgrade it."
            )
        }
        tileset = Tileset(
            id: "", source: try Self.source(members), rowOrder: .xyz, format: .png, zooms: .all, headers: [:],
            politeness: Politeness(), http2: false, maxTileBytes: Tileset.defaultMaxTileBytes)
        for field in CanonicalField.all { try field.read(&tileset, members) }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CanonicalKey.self)
        try members.encode(Self.version, forKey: "version")
        let source = tileset.source
        switch source.scheme.row.key {
        case .list(let key)?: try members.encode(source.addresses, forKey: CanonicalKey(key))
        case .text(let key)?: try members.encode(source.address, forKey: CanonicalKey(key))
        // A tileset has no such source: its document was read before.
        case nil: break
        }
        if !source.subdomains.isEmpty { try members.encode(source.subdomains, forKey: "subdomains") }
        for field in CanonicalField.all { try field.write(tileset, &members) }
    }

    /// The source: exactly one scheme has its member.
    private static func source(_ members: KeyedDecodingContainer<CanonicalKey>) throws -> TileSource {
        var found: [TileSource] = []
        for scheme in SourceScheme.allCases {
            switch scheme.row.key {
            case .list(let key)?:
                guard let texts = try members.decodeIfPresent([String].self, forKey: CanonicalKey(key)) else { break }
                let subdomains = try members.decodeIfPresent([String].self, forKey: "subdomains")
                found.append(TileSource(scheme, texts, subdomains: subdomains ?? []))
            case .text(let key)?:
                guard let text = try members.decodeIfPresent(String.self, forKey: CanonicalKey(key)) else { break }
                found.append(TileSource(scheme, text))
            case nil: break
            }
        }
        guard let source = found.first, found.count == 1 else {
            throw TilesetsError(.badSyntax, "The tileset's description has no single source.")
        }
        return source
    }
}

extension Tileset: Codable {
    /// Reads the text form of ``canonicalJSON``.
    public init(from decoder: any Decoder) throws {
        try self.init(canonicalJSON: Array(try decoder.singleValueContainer().decode(String.self).utf8))
    }

    /// Writes ``canonicalJSON`` as one text.
    public func encode(to encoder: any Encoder) throws {
        var one = encoder.singleValueContainer()
        try one.encode(String(decoding: canonicalJSON, as: UTF8.self))
    }
}
