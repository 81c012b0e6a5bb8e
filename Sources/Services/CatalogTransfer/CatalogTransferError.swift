package import Errors

/// What went wrong while a catalog was read or copied.
package typealias CatalogTransferError = PackhorseError<CatalogTransferErrorCode>

/// A stable, kebab-case reason.
package enum CatalogTransferErrorCode: String, ErrorCode {
    /// There is no catalog at the place.
    case noCatalog = "no-catalog"
    /// An address of a kind that is not read.
    case badAddress = "bad-address"
    /// The catalog contradicts itself, or a file is not what the catalog says.
    case badCatalog = "bad-catalog"
    /// The target holds another catalog than an earlier state of this one.
    case otherCatalog = "other-catalog"
    /// Another publisher has replaced lists of the target since they were read; push again.
    case pushedByAnother = "pushed-by-another"
    /// The catalog changed while it was read; try again.
    case changed = "catalog-changed"
    /// The server did not give what was asked for.
    case unavailable
    /// The key that the catalog needs is not given.
    case wrongKey = "wrong-key"
    /// A file may not be read by this user, or a server refuses it without a token that it knows.
    case permission
    /// The operating system refused a file operation.
    case io

    /// The exit code of a command that ends with this.
    package var exitStatus: ExitStatus {
        switch self {
        case .noCatalog: .noInput
        case .badAddress: .usage
        case .badCatalog, .otherCatalog: .badData
        case .changed, .pushedByAnother: .temporary
        case .unavailable: .unavailable
        case .wrongKey: .configuration
        case .permission: .permission
        case .io: .inputOutput
        }
    }
}
