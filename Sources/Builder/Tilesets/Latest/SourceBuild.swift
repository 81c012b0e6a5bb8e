public import Errors
internal import TextFormats

/// One build of a source whose address changes with each build: what a job with `latest` is made of.
public struct SourceBuild: Sendable, Hashable, Codable {
    /// How its owner names it: the key in an index without the ending of the file, the version in a tile address, a date.
    public let name: String
    /// The address of its archive, of its tiles, or of the index of its archives; without secrets.
    public let address: String
    /// The day of its data, `2026-11-24`, as its name says it; `nil` = its name has none.
    public let date: String?
    /// Bytes of its archive as an index says them; `nil` = not said.
    public let size: UInt64?
    /// MD5 of its archive as an index says it, 32 lower-case hexadecimal digits; `nil` = not said.
    public let md5: String?
    /// What is asked again to learn whether the server still has this build; `nil` for archives, which have versions of their own.
    public let document: Document?

    /// A document that names the present build of a tile server.
    public struct Document: Sendable, Hashable, Codable {
        /// How the name is found in it.
        public enum Form: String, Sendable, Hashable, Codable {
            /// In the tile address of a TileJSON.
            case tileJSON = "tilejson"
            /// The first word of a text.
            case text
        }
        /// How the name is found in it.
        public let form: Form
        /// Its address; `{key}` may stand in it.
        public let address: String

        /// A document.
        public init(_ form: Form, at address: String) { (self.form, self.address) = (form, address) }
    }

    /// A build.
    ///
    /// - Throws: ``TilesetsError`` `.badIndex` for a text that cannot name a build.
    public init(
        name: String, address: String, size: UInt64? = nil, md5: String? = nil, document: Document? = nil
    ) throws(TilesetsError) {
        try BuildName.check(name)
        self.name = name
        self.address = address
        date = BuildName.date(in: name)
        self.size = size
        self.md5 = md5
        self.document = document
    }

    /// The version of its data where the server has none: of tiles and of the document that names the build.
    ///
    /// It begins with ``versionMark``, as no version of an archive does.
    public var version: String { Self.version(name) }

    /// The version of the data of a tile server whose document names this build.
    public static func version(_ name: String) -> String { versionMark + name }

    /// What versions of tile servers begin with.
    public static let versionMark = "build "

    /// Whether an index and a server agree about an archive.
    ///
    /// - Parameters:
    ///   - length: Bytes of the file, as the server says them.
    ///   - etag: As sent. It is compared where it is an MD5, as buckets make it of files that were sent in one piece.
    /// - Returns: What differs, in words; `nil` = nothing.
    public func difference(length: UInt64, etag: String?) -> String? {
        if let size, size != length { return "has \(length) bytes, but the index says \(size)" }
        guard let md5, let etag, etag.count == 34, etag.hasPrefix("\""), etag.hasSuffix("\"") else { return nil }
        let found = etag.dropFirst().dropLast().lowercased()
        guard found.utf8.allSatisfy(Self.isDigit), found != md5 else { return nil }
        return "has the MD5 \(found) as its ETag, but the index says \(md5)"
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }

    /// Checks a build that came from another machine.
    func check(_ id: String) throws(TilesetsError) {
        try BuildName.check(name)
        let isMD5 = md5.map { $0.utf8.count == 32 && $0.utf8.allSatisfy(Self.isDigit) } ?? true
        let texts = [address, document?.address, date].compactMap(\.self)
        guard isMD5, texts.allSatisfy({ $0.utf8.count <= 4_096 && $0.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } })
        else { throw TilesetsError(.badValue, "Tileset '\(id)': the description of its build is damaged.") }
        if let document { try HostPolicy.check(document.address) }
    }
}
