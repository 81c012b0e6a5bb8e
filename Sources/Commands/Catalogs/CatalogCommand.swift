import ArgumentParser
import Catalog
import Foundation

/// `packhorse catalog`: what is done to a catalog as a whole.
struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "Sign, prove, prune, fill and publish a catalog, and withdraw packages.",
        discussion: """
            A catalog is a folder: packages.json for CARTO's client, catalog.json with everything there is, and files that never
            change. Any web server can serve it.
            Example: packhorse catalog verify ./data/catalog
            """,
        subcommands: [
            CatalogVerifyCommand.self, CatalogKeygenCommand.self, CatalogPushCommand.self, CatalogPruneCommand.self,
            CatalogRemoveCommand.self, CatalogPatchCommand.self, CatalogImportCommand.self, CatalogStyleCommand.self,
        ])
}

/// The catalog that a command changes.
struct CatalogOptions: ParsableArguments {
    @Argument(help: "The catalog's folder, or a coordinator's data folder.") var catalog: String
    @Option(
        help: ArgumentHelp(
            "Sign catalog.json with this key; a signed catalog needs it. Default: $PACKHORSE_SIGNING_KEY.",
            valueName: "file"))
    var signingKey: String?

    /// Opens it; the addresses in its list stay as they are.
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
        commandName: "keygen", abstract: "Make the key pair that signs a catalog (Ed25519).",
        discussion: """
            FILE.key holds the secret (readable by its owner only), FILE.pub the public half for clients; neither is ever
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
        try OutputPlace.makeFolder(secret.deletingLastPathComponent())
        do {
            try key.write(to: secret)
            try open.write(to: secret.deletingPathExtension().appendingPathExtension("pub"))
        } catch {
            throw CLIError(.cannotCreate, error.message)
        }
        Console.result("\(open)")
    }
}

/// `packhorse catalog verify`: proves every byte that a client could fetch.
struct CatalogVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Prove every byte that a client could fetch: signature, lists, files, masks, tiles. Exit 65 otherwise.",
        discussion: """
            Behind a web server every file is downloaded, proven and let go of. A warning tells when packages.json names its files at another
            address than the one given: CARTO's client fetches them there.
            Examples:
              packhorse catalog verify ./data/catalog --public-key keys/catalog.pub
              packhorse catalog verify https://maps.example.com/offline/ --public-key ed25519-public:…
            """)

    @Argument(help: "The catalog's folder or its http(s) address.") var catalog: String
    @Option(help: "The key that must have signed it: a file, or its text. Without one no signature is checked.")
    var publicKey: String?
    @Flag(help: "The result as JSON.") var json = false

    func run() async throws {
        let key = try SigningKeyOption.readPublic(publicKey)
        let (catalog, json) = (catalog, json)
        try await Interruptible.run {
            try await CatalogCheck.run(try CatalogSource(catalog), key: key).tell(json: json)
        }
    }
}

/// `packhorse catalog prune`: lets old versions go.
struct CatalogPruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Remove old versions, their patches, and files that no list names.",
        discussion: """
            The newest version of a package always stays. A coordinator does the same for each package it publishes, by its
            --keep-versions.
            Example: packhorse catalog prune ./data/catalog --keep 2 --dry-run
            """)

    @OptionGroup var catalog: CatalogOptions
    @Option(help: "Versions of each package that stay, the newest included.") var keep = 3
    @Flag(help: "Tell what would go; change nothing.") var dryRun = false
    @Flag(help: FileList.help) var all = false
    @Flag(help: "The result as JSON.") var json = false

    func validate() throws {
        guard keep >= 1 else { throw ValidationError("--keep must be at least 1.") }
    }

    func run() throws {
        try catalog.open().prune(keep: keep, dryRun: dryRun).tell(dryRun: dryRun, all: all, json: json)
    }
}

extension CatalogPruning {
    /// Sums up what goes, and names it.
    func tell(dryRun: Bool, all: Bool, json: Bool) throws {
        if json { return Console.result(try JSONText.pretty(self)) }
        let sum =
            "\(Units.count(files.count, of: "file")), \(Units.bytes(bytes)), \(Units.count(versions.count, of: "version"))"
        FileList.tell(files, sum: "\(dryRun ? "would remove" : "removed") \(sum)", all: all)
    }
}
