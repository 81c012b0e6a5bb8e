/// What a file is that belongs to a package and is no map: routing data, a search index, contours.
///
/// The store and the catalog carry the file as it is, and never read it.
public struct CatalogCompanion: Sendable, Hashable, Codable {
    /// What it is for: `routing.valhalla`, `search.sqlite`; words of lower-case letters and digits between dots.
    public let kind: String
    /// What follows the package's id in the file's name, with its dot: `.vtiles`; CARTO's client tells kinds by it.
    public let fileExtension: String
    /// The version of the program that reads it, as an app compares it: 1 to 64 visible characters of ASCII; `nil` if not said.
    public let engine: String?

    /// Describes a file.
    public init(kind: String, fileExtension: String, engine: String? = nil) {
        self.kind = kind
        self.fileExtension = fileExtension
        self.engine = engine
    }

    private enum CodingKeys: String, CodingKey {
        case kind, engine
        case fileExtension = "extension"
    }

    /// The name of its file's format in `catalog.json`.
    public static let format = "opaque"

    /// The data group that has the files of a kind: hyphens in place of the dots.
    public static func group(of kind: String) -> String { kind.replacing(".", with: "-") }

    /// Whether a text is a kind: 1 to 32 bytes; not `map`, which lists call the package itself.
    public static func isKind(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return 1...32 ~= text.utf8.count && text != "map"
            && words.allSatisfy { word in
                !word.isEmpty && word.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
            }
    }

    /// Whether a text can be the extension of a file: a dot, then 1 to 39 letters, digits, dots and hyphens.
    public static func isExtension(_ text: String) -> Bool {
        let dot = UInt8(ascii: ".")
        guard 2...40 ~= text.utf8.count, text.utf8.first == dot, text.utf8.dropFirst().first != dot else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == dot
                || byte == UInt8(ascii: "-")
        }
    }

    /// Whether a text can be the version of a program.
    public static func isEngine(_ text: String) -> Bool {
        1...64 ~= text.utf8.count && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether all of its texts are such.
    package var isValid: Bool {
        Self.isKind(kind) && Self.isExtension(fileExtension) && engine.map(Self.isEngine) ?? true
    }

    /// Whether a wish names its kind: the whole kind, or its first words.
    public static func kind(_ kind: String, isOf wish: String) -> Bool { kind == wish || kind.hasPrefix(wish + ".") }
}
