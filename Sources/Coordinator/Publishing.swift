import Foundation
import Scheduling
import Tiles

/// A merged package on its way into the catalog.
struct PublishOrder: Sendable {
    let id: String
    /// The package as a blob.
    let file: URL
    let merged: MergedPackage
    /// The mask as packages.json has it.
    let maskWire: String
    /// Localized name paths by language.
    let names: [String: String]
}

/// How a package came into the catalog.
struct Publication: Hashable, Sendable {
    let version: UInt32
    /// Inside the catalog folder.
    let path: String
    /// Whether the catalog had these very bytes already.
    let unchanged: Bool
}

/// Where finished packages go.
///
/// Publishing the same bytes again must be harmless: it is repeated after a crash.
protocol Publishing: Sendable {
    func publish(_ order: PublishOrder) throws -> Publication
    /// Where the package's newest version is, if that has these very bytes and its file is there, whole by its length; else `nil`.
    func standing(id: String, _ merged: MergedPackage) throws -> Publication?
    /// What to tell the scheduler about an error, and whether waiting may cure it.
    func trouble(_ error: any Error) -> (trouble: Trouble, mayHeal: Bool)
}
