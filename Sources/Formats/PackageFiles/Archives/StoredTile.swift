package import Foundation

/// What a file has for a tile.
package enum StoredTile<Body> {
    /// The body, and when it becomes stale where the file says so.
    case body(Body, expires: Date?)
    /// The server has no such tile.
    case empty
    /// The file does not know.
    case absent

    /// The body alone.
    package var body: Body? { if case .body(let body, _) = self { body } else { nil } }
}

extension StoredTile: Sendable where Body: Sendable {}
