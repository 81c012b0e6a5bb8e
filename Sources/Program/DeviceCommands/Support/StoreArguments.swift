import ArgumentParser
internal import CommandSupport
import Errors
import Foundation

/// The folder of the store.
struct StoreArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the store. Default: $PACKHORSE_STORE.", valueName: "folder"))
    var store: String?

    /// Whether a folder is named, here or by the variable.
    var isNamed: Bool { store != nil || Variable.value("PACKHORSE_STORE") != nil }

    /// The folder, whether it exists or not.
    ///
    /// - Throws: ``CLIError`` 64 when none is named.
    var folder: URL {
        get throws {
            guard let named = store ?? Variable.value("PACKHORSE_STORE") else {
                throw CLIError(
                    .usage, "no store is named", hint: "give its folder: --store ./maps, or set PACKHORSE_STORE")
            }
            return URL(filePath: named, directoryHint: .isDirectory).standardizedFileURL
        }
    }
}

/// The catalog of a store, and whose catalogs are accepted; the store keeps both for later commands once they were
/// right.
struct CatalogArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The catalog: its folder or http(s) address. Default: the one that the store keeps.",
            valueName: "address"))
    var catalog: String?

    @Option(
        help: ArgumentHelp(
            "A public key that may have signed the catalog: a file, or its text. The store keeps it. May be repeated.",
            valueName: "key"))
    var publicKey: [String] = []

    @Flag(help: "Accept catalogs of this store without a signature, also when it has keys.") var unsigned = false
    @Flag(help: "Accept a catalog that is older than the last one.") var allowOlder = false

    func validate() throws {
        guard publicKey.isEmpty || !unsigned else {
            throw ValidationError("--unsigned and --public-key exclude each other.")
        }
    }
}
