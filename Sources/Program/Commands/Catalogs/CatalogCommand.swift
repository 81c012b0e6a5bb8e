import ArgumentParser
import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

/// `packhorse catalog`: operations on a whole catalog.
struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract:
            "Sign, verify, compare, promote, roll back, prune, fill and publish a catalog, and withdraw packages.",
        discussion: """
            A catalog is a folder: packages.json for CARTO's client, catalog.json with all packages, and files that never
            change. Any web server can serve it.
            Example: packhorse catalog verify ./data/catalog
            """,
        subcommands: [
            CatalogVerifyCommand.self, CatalogKeygenCommand.self, CatalogPushCommand.self, CatalogDiffCommand.self,
            CatalogPromoteCommand.self, CatalogRollbackCommand.self, CatalogPruneCommand.self,
            CatalogRemoveCommand.self,
            CatalogPatchCommand.self, CatalogImportCommand.self, CatalogStyleCommand.self, CatalogAttachCommand.self,
            CatalogDetachCommand.self, CatalogListCommand.self, CatalogMirrorsCommand.self,
        ])
}

/// The catalog that a command changes.
struct CatalogOptions: ParsableArguments {
    @Argument(help: "The catalog's folder, or a coordinator's data folder.") var catalog: String
    @Option(
        help: ArgumentHelp(
            "Sign catalog.json with this key; required for a signed catalog. Default: $PACKHORSE_SIGNING_KEY.",
            valueName: "file"))
    var signingKey: String?

    /// Opens the catalog.
    ///
    /// The addresses in its list do not change.
    func open(keepVersions: Int? = nil) throws -> Catalog {
        let source = try CatalogSource(catalog)
        guard let folder = source.folder else {
            throw CLIError(.usage, "'\(catalog)' is an address; this command needs the catalog's folder")
        }
        return try Catalog(
            folder, create: false, signingKey: try SigningKeyOption.read(signingKey), keepVersions: keepVersions)
    }
}

/// `packhorse catalog keygen`: the key pair that signs a catalog.
struct CatalogKeygenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen", abstract: "Create the key pair that signs a catalog (Ed25519).",
        discussion: """
            FILE.key contains the secret (readable only by its owner), FILE.pub the public half for clients. Existing files are never
            overwritten. The public key is printed.
            Examples:
              packhorse catalog keygen keys/catalog.key
              packhorse coordinator --data ./data --signing-key keys/catalog.key
              packhorse catalog verify ./data/catalog --public-key keys/catalog.pub
            """)

    @Argument(help: "The secret key's file, ending in .key.") var file: String

    func validate() throws {
        guard file.hasSuffix(".key") else { throw ValidationError("The file must end in .key: keys/catalog.key.") }
    }

    func run() throws {
        let secret = URL(filePath: file)
        let key = CatalogSecretKey()
        let open = try key.publicKey
        try OutputLocation.makeFolder(secret.deletingLastPathComponent())
        do {
            try key.write(to: secret)
            try open.write(to: secret.deletingPathExtension().appendingPathExtension("pub"))
        } catch {
            throw CLIError(.cannotCreate, error.message)
        }
        Console.result("\(open)")
    }
}

/// `packhorse catalog verify`: verifies every byte that a client could fetch.
struct CatalogVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Verify every byte that a client could fetch: signature, lists, files, masks, tiles. Exit code 65 on an error.",
        discussion: """
            On a web server every file is downloaded, verified and removed. A warning is shown if packages.json names its files at another
            address than the given one, because CARTO's client uses that address.
            Examples:
              packhorse catalog verify ./data/catalog --public-key keys/catalog.pub
              packhorse catalog verify https://maps.example.com/offline/ --public-key ed25519-public:…
            """)

    @Argument(help: "The catalog's folder or its http(s) address.") var catalog: String
    @Option(
        help:
            "The public key that must have signed the catalog: a file, or its text. Without it no signature is checked."
    )
    var publicKey: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let key = try SigningKeyOption.readPublic(publicKey)
        let (catalog, json) = (catalog, json)
        try await Interruptible.run {
            try await CatalogCheck.run(try CatalogSource(toRead: catalog), key: key).printResult(json: json)
        }
    }
}

/// `packhorse catalog prune`: removes old versions.
struct CatalogPruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Remove old versions, their patches, and files that are in no list.",
        discussion: """
            The newest version of a package is always kept. A coordinator prunes each package that it publishes, according to its
            --keep-versions.
            Example: packhorse catalog prune ./data/catalog --keep 2 --dry-run
            """)

    @OptionGroup var catalog: CatalogOptions
    @Option(help: "Number of versions of each package to keep, including the newest.") var keep = 3
    @Flag(help: "Show what would be removed; change nothing.") var dryRun = false
    @Flag(help: FileList.help) var all = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard keep >= 1 else { throw ValidationError("--keep must be at least 1.") }
    }

    func run() throws {
        try catalog.open().prune(keep: keep, dryRun: dryRun).printSummary(dryRun: dryRun, all: all, json: json)
    }
}

extension CatalogPruning {
    /// Prints the sum and the names of the removed files.
    func printSummary(dryRun: Bool, all: Bool, json: Bool) throws {
        if json { return Console.result(try JSONText.pretty(self)) }
        let sum =
            "\(Units.count(files.count, of: "file")), \(Units.bytes(bytes)), \(Units.count(versions.count, of: "version"))"
        FileList.print(files, sum: "\(dryRun ? "would remove" : "removed") \(sum)", all: all)
    }
}
