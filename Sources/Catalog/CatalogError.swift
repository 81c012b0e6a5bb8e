internal import Shards

/// What went wrong with a catalog, and what to do about it.
public struct CatalogError: Error, Sendable, CustomStringConvertible {
    /// A stable, kebab-case reason: safe as a metric label and for mapping to exit codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Reason: String, Sendable {
            case diskFull = "disk-full"
            case io = "io"
            case missing = "catalog-missing"
            case missingPackage = "missing-package"
            case corrupt = "catalog-corrupt"
            case badRequest = "bad-request"
            case badFile = "bad-file"
            case otherTileset = "other-tileset"
            case otherArea = "other-area"
            case packageShrunk = "package-shrunk"
            case signingKey = "signing-key"
            case keyFile = "key-file"
            case keyMissing = "key-missing"
            case keyPermissions = "key-permissions"
            case badKey = "bad-key"
            case badSignature = "bad-signature"
        }
        private let reason: Reason
        /// No space is left on the file system.
        ///
        /// Free some and publish again.
        public static let diskFull = Code(reason: .diskFull)
        /// The operating system refused a file operation.
        public static let io = Code(reason: .io)
        /// There is no catalog in the folder.
        public static let missing = Code(reason: .missing)
        /// There is no such package in the catalog.
        public static let missingPackage = Code(reason: .missingPackage)
        /// `packages.json` was not written by this module; it is not changed.
        public static let corrupt = Code(reason: .corrupt)
        /// The id, mask, names or base URL is not allowed in a list.
        public static let badRequest = Code(reason: .badRequest)
        /// The file to publish has another size or digest than announced.
        public static let badFile = Code(reason: .badFile)
        /// A package of another tileset has this id, and replacing it was not allowed.
        public static let otherTileset = Code(reason: .otherTileset)
        /// A package of another area has this id, and replacing it was not allowed.
        public static let otherArea = Code(reason: .otherArea)
        /// The package has less than half of the tiles or bytes of the listed version, and that was not allowed.
        public static let packageShrunk = Code(reason: .packageShrunk)
        /// The catalog is signed, and there is no key to sign the changed catalog.
        public static let signingKey = Code(reason: .signingKey)
        /// A key file cannot be read or made.
        public static let keyFile = Code(reason: .keyFile)
        /// There is no such key file.
        public static let keyMissing = Code(reason: .keyMissing)
        /// A secret key's file can be read by others.
        public static let keyPermissions = Code(reason: .keyPermissions)
        /// A file or text is not a key of a catalog.
        public static let badKey = Code(reason: .badKey)
        /// A catalog is not what the holder of the key signed.
        public static let badSignature = Code(reason: .badSignature)
        /// The kebab-case text of the code.
        public var description: String { reason.rawValue }
    }

    /// The reason, for programs.
    public let code: Code
    /// What failed, which thing, what was found and what to do, for people.
    public let message: String
    /// The error below, when there was one.
    public let cause: (any Error)?

    /// Makes an error from its parts.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }

    /// Runs file work and converts its errors.
    static func naming<Result>(_ work: () throws(ShardsError) -> Result) throws(CatalogError) -> Result {
        do { return try work() } catch {
            throw CatalogError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
        }
    }
}
