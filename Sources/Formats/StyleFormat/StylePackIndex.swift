package import Digests
internal import Files
internal import Foundation

/// `style-pack.json`: the list of a pack's content.
public struct StylePackIndex: Sendable, Hashable, Codable {
    /// The version of the layout that this build writes and reads.
    public static let formatVersion = 1

    /// One resource.
    public struct Entry: Sendable, Hashable, Codable {
        /// The absolute URL a client asks for, `{key}` in place of the key.
        public var url: String
        /// What it is.
        public var kind: StyleResource.Kind
        /// The file in the pack; `nil` if it does not exist on the server and clients do not need it.
        public var path: String?
        /// Bytes; 0 when absent.
        public var size: UInt64
        /// Of the bytes, 64 hexadecimal digits; `nil` when absent.
        public var sha256: String?
        /// `ETag`, as sent.
        public var etag: String?
        /// `Last-Modified`, as sent.
        public var modified: String?

        package init(
            url: String, kind: StyleResource.Kind, path: String?, size: UInt64, sha256: String?, etag: String?,
            modified: String?
        ) {
            self.url = url
            self.kind = kind
            self.path = path
            self.size = size
            self.sha256 = sha256
            self.etag = etag
            self.modified = modified
        }

        /// Whether the server answered that the resource does not exist.
        public var isAbsent: Bool { path == nil }
    }

    /// See ``formatVersion``.
    public var format: Int
    /// The style's name.
    public var name: String?
    /// The style's address; `nil` for a style from a file that is not served.
    public var style: String?
    /// Whether ranges of ideographs were asked for.
    public var ideographs: Bool
    /// Which sprites were asked for.
    public var pixelRatios: [Int]
    /// Of `style.json`, the style rewritten for the pack's own files.
    public var rewritten: String
    /// Everything, sorted by URL.
    public var entries: [Entry]
    /// SHA-256 of the index's own bytes with these 64 digits read as '0'.
    public var seal: String

    enum CodingKeys: String, CodingKey {
        case format, name, style, ideographs, rewritten, entries, seal
        case pixelRatios = "pixel_ratios"
    }

    /// Bytes of all files but the rewritten style and the index.
    public var bytes: UInt64 { entries.reduce(0) { $0 &+ $1.size } }

    private static let open = String(repeating: "0", count: 64)

    /// The file's bytes, sealed.
    package func encoded() throws -> [UInt8] {
        var copy = self
        copy.seal = Self.open
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let bytes = [UInt8](try encoder.encode(copy)) + [0x0A]
        let mark = Array("\"\(Self.open)\"".utf8)
        return bytes.replacing(mark, with: Array("\"\(Digest(of: bytes).hex)\"".utf8), maxReplacements: 1)
    }

    /// Reads and proves an index.
    ///
    /// - Throws: ``StylesError`` `bad-style-pack`.
    package init(_ bytes: [UInt8]) throws(StylesError) {
        // The parser's error is not for users; the error below says what to do.
        guard bytes.count <= 32 << 20, let index = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
            throw StylesError(.badPack, "\(PackPath.index) cannot be read; make the pack again.")
        }
        guard index.format == Self.formatVersion else {
            throw StylesError(
                .badPack, "\(PackPath.index) has format \(index.format); this build reads \(Self.formatVersion).")
        }
        let opened = bytes.replacing(Array(index.seal.utf8), with: Array(Self.open.utf8))
        guard Digest(hex: index.seal) == Digest(of: opened) else {
            throw StylesError(
                .badPack, "\(PackPath.index) was changed after it was written; make the pack again.")
        }
        let files = index.entries.compactMap(\.path)
        guard files.allSatisfy(PackPath.isInside), Set(files).count == files.count,
            zip(index.entries, index.entries.dropFirst()).allSatisfy({ $0.url < $1.url })
        else {
            throw StylesError(
                .badPack, "\(PackPath.index) names files outside the pack, or one twice; make the pack again.")
        }
        self = index
    }

    package init(
        name: String?, style: String?, choice: StyleChoice, rewritten: Digest, entries: [Entry]
    ) {
        format = Self.formatVersion
        self.name = name
        self.style = style
        ideographs = choice.ideographs
        pixelRatios = choice.pixelRatios.sorted()
        self.rewritten = rewritten.hex
        self.entries = entries.sorted { $0.url < $1.url }
        seal = Self.open
    }
}
