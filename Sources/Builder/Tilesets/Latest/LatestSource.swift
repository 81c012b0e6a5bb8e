import Errors
import Foundation
internal import TextFormats

/// How the newest build of a source is found: the value of `latest` of a tileset file.
public struct LatestSource: Sendable, Hashable, Codable {
    /// The forms of documents, and of none.
    public enum Form: String, Sendable, Hashable, Codable, CaseIterable {
        /// A JSON list of builds.
        case index
        /// A text that names the build.
        case text
        /// A TileJSON whose tile addresses name the build.
        case tileJSON = "tilejson"
        /// An index of archives with a version.
        case archives
        /// An address with a date, looked for backwards.
        case date
    }

    /// How the newest build is found.
    public let form: Form
    /// The address of the document; of `date` the address with the date.
    public let document: String
    /// The address of a build, with `{build}`; `nil` where the document has addresses.
    public let address: String?
    /// The member of an index that has the list; `nil` = its only list, or the document itself.
    public var items: String?
    /// The member that names the build; `nil` = `key`.
    public var key: String?
    /// The member that orders builds; `nil` = as ``key``.
    public var order: String?
    /// The member with the bytes of the archive.
    public var size: String?
    /// The member with the MD5 of the archive.
    public var md5: String?
    /// Members and the values that a build must have.
    public var match: [String: String]?

    init(_ form: Form, at document: String, address: String? = nil) {
        (self.form, self.document, self.address) = (form, document, address)
    }

    /// The text that stands for it as the address of a source; ``init(text:)`` reads it back.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Reads ``text``; `nil` for any other text.
    public init?(text: String) {
        // Another text is no such source.
        guard let found = try? JSONDecoder().decode(LatestSource.self, from: Data(text.utf8)) else { return nil }
        self = found
    }

    /// Whether a build of an index fits ``match``: each value is equal, or goes on after a dot, as version 4.1 of 4.
    func admits(_ members: [String: JSONValue]) -> Bool {
        for (name, wanted) in match ?? [:] {
            var found = ""
            if case .string(let text)? = members[name] { found = text }
            if case .number(let number)? = members[name] {
                found = Int(exactly: number).map(String.init) ?? "\(number)"
            }
            guard found == wanted || found.hasPrefix(wanted + ".") else { return false }
        }
        return true
    }

    /// Whether the address of a build leads to tiles and not to an archive.
    static func leadsToTiles(_ address: String) -> Bool { address.contains("{z}") }

    /// The source that the address of a build leads to.
    static func source(at address: String) -> TileSource {
        TileSource(leadsToTiles(address) ? .templates : .remotePMTiles, [address])
    }

    /// Checks what is asked first.
    func check(_ tileset: Tileset) throws(TilesetsError) {
        let asked = form == .date ? document.replacing("{date", with: "date").replacing("}", with: "") : document
        if asked.lowercased().hasPrefix("s3://") { return }
        try HostPolicy.check(asked)
        try tileset.checkAddress(asked, needsKey: document.contains("{key}"))
        if let address, !address.lowercased().hasPrefix("s3://") {
            let plain = address.replacing("{build}", with: "build").replacing("{s}", with: "a")
            try HostPolicy.check(plain)
            try tileset.checkAddress(plain, needsKey: address.contains("{key}"))
        }
    }
}
