package import Tilesets

/// A tileset that clients may submit, and how its description is read.
package struct TilesetSource: Sendable {
    let read: @Sendable () async throws -> Tileset

    /// - Parameter read: Reads files and asks servers; called again after an error that may pass.
    package init(read: @escaping @Sendable () async throws -> Tileset) { self.read = read }
}
