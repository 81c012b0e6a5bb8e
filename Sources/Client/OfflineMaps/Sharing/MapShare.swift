package import Foundation

/// What a store can give to another device: the publisher's list with its signature, and the installed files that the list
/// names.
package struct MapShare: Sendable {
    /// A file of the list.
    package struct Listed: Hashable, Sendable {
        /// Where it is in the catalog.
        package var path: String
        /// The package or the style.
        package var id: String
        /// Of a part its own id, `CA-2`; otherwise the same.
        package var fileID: String
        /// The data group; `nil` for the base map and for a style.
        package var group: String?
        /// The language; `nil` where the package has none.
        package var language: String?
        /// The version that it is a file of.
        package var version: Int32
        /// `mbtiles`, `pmtiles`; `opaque` for a companion, `style` for a style.
        package var format: String
        /// What a companion is for; `nil` for others.
        package var kind: String?
        /// Whether it belongs to the newest version of the list.
        package var isNewest: Bool
        /// Exact bytes.
        package var size: UInt64
        /// SHA-256, 64 lower-case hexadecimal digits.
        package var sha256: String
    }

    /// A file of the list that is installed.
    package struct File: Hashable, Sendable {
        /// What the list says.
        package var listed: Listed
        /// Where it is on this device.
        ///
        /// Its bytes never change; an update removes it.
        package var place: URL
    }

    /// `catalog.json` as its publisher wrote it.
    package var list: Data
    /// `catalog.json.sig`; `nil` for a list without a signature.
    package var signature: Data?
    /// All files of the list by their paths.
    package var listed: [String: Listed]
    /// Those that are installed, by their paths.
    package var files: [String: File]

    /// How many files of newest versions are installed.
    var newestFiles: Int { files.values.count { $0.listed.isNewest } }
}
