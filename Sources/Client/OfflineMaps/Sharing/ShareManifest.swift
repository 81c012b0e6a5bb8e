internal import CatalogFormat
package import Foundation

/// `share.json`: what a share has.
///
/// It is not signed and decides nothing: a device reads it to say why a file of the list is not there.
package struct ShareManifest: Codable, Sendable, Equatable {
    /// The name of the document.
    package static let fileName = "share.json"
    /// More bytes are not read.
    package static let maxBytes = 4 << 20
    /// The value of `format`.
    static let formatName = "packhorse-share"

    /// A package, a companion or a style that the share has.
    package struct Entry: Codable, Sendable, Hashable {
        package let id: String
        package let group: String?
        package let language: String?
        /// What a companion is for.
        package let kind: String?
        package let format: String
        package let version: Int32
        /// Whether the list has no newer version.
        package let newest: Bool
    }

    var format = Self.formatName
    /// Ascending by what people read.
    package let entries: [Entry]

    /// Files that a share in a folder has put there, relative to it: it removes no others.
    ///
    /// Absent for a server.
    package var paths: [String]?

    /// Describes files that can be given away; a package in parts is one entry.
    package init(_ files: [MapShare.Listed]) {
        var seen: Set<Entry> = []
        for file in files {
            seen.insert(
                Entry(
                    id: file.id, group: file.group, language: file.language, kind: file.kind, format: file.format,
                    version: file.version, newest: file.isNewest))
        }
        entries = seen.sorted { ($0.words, $0.version) < ($1.words, $1.version) }
    }

    /// Reads a document of another machine.
    ///
    /// - Returns: `nil` for anything that is no such document.
    package init?(decoding bytes: Data) {
        // Another document at this place says nothing about a share.
        guard bytes.count <= Self.maxBytes, let read = try? JSONDecoder().decode(Self.self, from: bytes),
            read.format == Self.formatName, read.entries.allSatisfy(\.isPlain),
            read.paths?.allSatisfy(CatalogIndex.isInside) ?? true
        else { return nil }
        self = read
    }

    /// The document.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        // Texts and numbers can always be encoded.
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// The most entries that are named one by one.
    private static let namedEntries = 20

    /// `EE, LV, style streets`.
    package var words: String {
        guard !entries.isEmpty else { return "nothing" }
        let names = entries.map(\.words)
        let more = names.count > Self.namedEntries ? ["\(names.count - Self.namedEntries) more"] : []
        return (names.prefix(Self.namedEntries) + more).joined(separator: ", ")
    }
}

extension ShareManifest.Entry {
    /// `EE`, `EE terrain de`, `EE, pmtiles`, `routing.valhalla of EE`, `style streets`; an older version with its number.
    package var words: String {
        let name =
            if let kind {
                "\(kind) of \(id)"
            } else if format == "style" {
                "style \(id)"
            } else {
                ([id] + [group, language].compactMap { $0 }).joined(separator: " ")
                    + (format == CatalogEntry.mainFile.format ? "" : ", \(format)")
            }
        return newest ? name : "\(name) in the older version \(version)"
    }

    /// Whether its texts can be printed.
    fileprivate var isPlain: Bool {
        [id, group ?? "", language ?? "", kind ?? "", format].allSatisfy { text in
            text.utf8.count <= 200 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        }
    }
}
