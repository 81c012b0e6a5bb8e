import CatalogFormat
import Errors

/// What is said when there is no catalog at a place, with a remedy for this kind of place.
extension CatalogLocation {
    /// The error for a catalog without `catalog.json`.
    package var missingIndex: CatalogTransferError {
        if case .folder = self {
            return CatalogTransferError(
                .noCatalog, "the catalog in '\(name)' has no \(CatalogIndex.fileName)",
                hint:
                    "start a coordinator on this folder once; it writes the file: packhorse coordinator --data FOLDER --catalog '\(name)'"
            )
        }
        return CatalogTransferError(
            .noCatalog, "there is no catalog at '\(name)': the server has no \(CatalogIndex.fileName) there",
            hint:
                "check the address: it is that of the folder with \(CatalogIndex.fileName) on the web server, for example https://maps.example.com/offline/"
        )
    }

    /// The error for an address that names no server.
    static func noServer(_ text: String) -> CatalogTransferError {
        CatalogTransferError(
            .badAddress, "'\(text.prefix(200))' is not the address of a web server",
            hint: "write the whole address: https://maps.example.com/offline/")
    }

    /// What to do when a server refuses its catalog with 401 or 403.
    package static let tokenHint = "set PACKHORSE_CATALOG_TOKEN to a valid token of that server, or ask who runs it"

    /// The error for an address with a name and a password, which are not repeated.
    static var hasUser: CatalogTransferError {
        CatalogTransferError(
            .badAddress, "an address with a user or a password is not read",
            hint: "write the address without them; for a server that wants a token set PACKHORSE_CATALOG_TOKEN")
    }

    /// The error for a text that is an address, but not of a web server; `nil` for others.
    static func refusal(ofAddress text: String) -> CatalogTransferError? {
        guard text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) != nil else { return nil }
        let isBucket = text.lowercased().hasPrefix("s3://")
        return CatalogTransferError(
            .badAddress, "'\(text.prefix(200))' is not the address of a web server",
            hint: isBucket
                ? "give the http(s) address at which the bucket is served"
                : "give a folder, or an address that begins with http:// or https://")
    }

    /// The error for a folder that does not exist.
    static func missingFolder(_ path: String, named text: String) -> CatalogTransferError {
        // "maps.example.com/offline" looks like an address without its beginning.
        let first = text.prefix { $0 != "/" }
        let isHost = first.contains(".") && !first.hasPrefix(".")
        return CatalogTransferError(
            .noCatalog, "'\(path)' does not exist",
            hint: isHost
                ? "for a web server, write the whole address: https://\(text)"
                : "give the folder of a catalog, a coordinator's data folder, or the http(s) address of a catalog")
    }

    /// The error for a folder without lists.
    static func noLists(_ path: String) -> CatalogTransferError {
        CatalogTransferError(
            .noCatalog, "'\(path)' is not a catalog: it has no packages.json",
            hint: "give the folder that has packages.json and catalog.json, or the coordinator's data folder above it")
    }

    /// The error for a server that gave no answer.
    ///
    /// - Parameter reason: What was seen, without a full stop.
    package func unreachable(_ reason: String, cause: (any Error)? = nil) -> CatalogTransferError {
        CatalogTransferError(
            .unavailable, "the catalog at '\(name)' cannot be read: \(reason)",
            hint: "check the address and the network", cause: cause)
    }
}
