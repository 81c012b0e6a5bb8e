public import CatalogFormat
public import Errors
internal import Foundation

/// The withdrawn packages of an edition, as its list of earlier versions has them.
public struct CatalogWithdrawals: Sendable {
    /// The name of that list in the folder of the edition.
    public static let fileName = "versions.json"

    /// The version after the last one of each withdrawn package, by its id.
    public let versions: [String: Int32]

    /// Reads the list of an edition.
    ///
    /// - Throws: `catalog-corrupt` for anything else.
    public init(decoding bytes: [UInt8]) throws(CatalogError) {
        do { versions = try JSONDecoder().decode(CatalogHistory.self, from: Data(bytes)).removed ?? [:] } catch {
            throw CatalogError(.corrupt, "'\(Self.fileName)' is not a list of versions.", cause: error)
        }
    }
}
