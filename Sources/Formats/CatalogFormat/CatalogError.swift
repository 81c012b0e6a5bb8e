public import Errors

/// What went wrong with a catalog, and what to do about it.
public typealias CatalogError = PackhorseError<CatalogErrorCode>

/// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
public enum CatalogErrorCode: String, ErrorCode {
    /// No space is left on the file system.
    ///
    /// Free some and publish again.
    case diskFull = "disk-full"
    /// The operating system refused a file operation.
    case io
    /// There is no catalog in the folder.
    case missing = "catalog-missing"
    /// There is no such package in the catalog.
    case missingPackage = "missing-package"
    /// `packages.json` was not written by this module; it is not changed.
    case corrupt = "catalog-corrupt"
    /// The id, mask, names or base URL is not allowed in a list.
    case badRequest = "bad-request"
    /// The file to publish has another size or digest than announced.
    case badFile = "bad-file"
    /// A package of another tileset has this id, and replacing it was not allowed.
    case otherTileset = "other-tileset"
    /// A package of another area has this id, and replacing it was not allowed.
    case otherArea = "other-area"
    /// The package has less than half of the tiles or bytes of the listed version, or lacks its attribution or vector
    /// layers, and that was not allowed.
    case packageShrunk = "package-shrunk"
    /// The catalog was changed by someone else while a change was being made; nothing was changed.
    ///
    /// The same command may work now.
    case changed = "catalog-changed"
    /// The package was published again after the promotion that would be undone.
    case publishedLater = "published-later"
    /// The catalog is signed, and there is no key to sign the changed catalog.
    case signingKey = "signing-key"
    /// A key file cannot be read or made.
    case keyFile = "key-file"
    /// There is no such key file.
    case keyMissing = "key-missing"
    /// A secret key's file can be read by others.
    case keyPermissions = "key-permissions"
    /// A file or text is not a key of a catalog.
    case badKey = "bad-key"
    /// A catalog is not what the holder of the key signed.
    case badSignature = "bad-signature"

    /// The exit code of a command that ends with this.
    public var exitStatus: ExitStatus {
        switch self {
        case .diskFull: .cannotCreate
        case .io: .inputOutput
        case .changed: .temporary
        case .missing, .missingPackage, .keyMissing: .noInput
        case .corrupt, .badRequest, .badFile, .otherTileset, .otherArea, .packageShrunk, .badSignature,
            .publishedLater:
            .badData
        case .signingKey, .keyFile, .badKey: .configuration
        case .keyPermissions: .permission
        }
    }
}
