import Errors
package import Foundation

/// What tilesets know about one scheme of sources.
package struct SourceRow: Sendable {
    /// What the addresses of a source lead to.
    package enum Target: Sendable {
        /// A tile each, by placeholders.
        case tiles
        /// A document with the addresses of tiles.
        case document
        /// A file of this machine.
        case file
        /// A file on a server, read in parts.
        case remoteFile
        /// Files of both kinds, each with a part of the tiles.
        case archives
    }

    /// The member of the canonical form that holds the addresses.
    package enum Key: Sendable {
        /// A list of texts.
        case list(String)
        /// One text.
        case text(String)
    }

    /// What a person writes as `url`, in one expression for messages; `nil` for a scheme with a key of its own.
    package let words: String?
    /// What its addresses begin with, lower case: such a text is no path of a tileset file.
    package let beginnings: [String]
    /// What its addresses lead to.
    package let target: Target
    /// Where the canonical form has the addresses; `nil` for a scheme whose document is read before a job is submitted.
    package let key: Key?
    /// Whether `{language}` may stand in an address.
    package let takesLanguage: Bool
    /// Reads `url` of a tileset file; relative paths begin at the folder.
    ///
    /// Returns the addresses, or `nil` when the texts are of another scheme.
    package let read: @Sendable (_ texts: [String], _ folder: URL) throws(TilesetsError) -> [String]?
    /// Checks a tileset before its source is asked what it is; of most kinds the request itself is checked.
    package let checkAsking: @Sendable (Tileset) throws(TilesetsError) -> Void
    /// Checks the addresses of a complete tileset.
    package let check: @Sendable (Tileset) throws(TilesetsError) -> Void

    init(
        words: String?, beginnings: [String], target: Target, key: Key?, takesLanguage: Bool = false,
        read: @escaping @Sendable ([String], URL) throws(TilesetsError) -> [String]?,
        checkAsking: @escaping @Sendable (Tileset) throws(TilesetsError) -> Void = { _ in },
        check: @escaping @Sendable (Tileset) throws(TilesetsError) -> Void
    ) {
        (self.words, self.beginnings, self.target, self.key) = (words, beginnings, target, key)
        (self.takesLanguage, self.read) = (takesLanguage, read)
        (self.checkAsking, self.check) = (checkAsking, check)
    }
}
