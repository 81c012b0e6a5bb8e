package import Tilesets

/// A tileset that clients may submit, and how its description is read.
package struct TilesetSource: Sendable {
    /// A description that was read.
    package struct Found: Sendable {
        let tileset: Tileset
        /// The tileset file as JSON, of a source whose address changes with each build; `nil` for others.
        let following: String?

        package init(_ tileset: Tileset, following: String?) {
            self.tileset = tileset
            self.following = following
        }
    }

    let read: @Sendable () async throws -> Found

    /// A tileset whose address stays.
    ///
    /// - Parameter read: Reads files and asks servers; called again after an error that may pass.
    package init(read: @escaping @Sendable () async throws -> Tileset) {
        self.read = { Found(try await read(), following: nil) }
    }

    private init(found read: @escaping @Sendable () async throws -> Found) { self.read = read }

    /// The same for a tileset of any kind.
    package static func ofAnyKind(_ read: @escaping @Sendable () async throws -> Found) -> TilesetSource {
        TilesetSource(found: read)
    }
}
