import ArgumentParser
import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Foundation
import ObjectStore
import S3
internal import TextFormats

/// `packhorse catalog push`: publishes a catalog to an S3 bucket or a folder.
struct CatalogPushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Publish a catalog to an S3 bucket or a folder.",
        discussion: """
            Sends files first, without existing ones, then the lists, the signature and catalog.json: a client sees the old catalog or
            the new one. It can be interrupted and repeated, and sends only what the target lacks. Another catalog there, and another
            publisher at the same time, are refused (other-catalog, pushed-by-another). Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
            or from a profile of ~/.aws/credentials.
            The addresses in packages.json are those of the coordinator's --catalog-url, unless --url gives the public address of the
            target. catalog.json contains the digests of the lists, so a signed catalog needs --signing-key with --url. Clients of catalog.json
            need no address.
            Examples:
              packhorse catalog push ./data/catalog s3://maps/offline --dry-run
              packhorse catalog push ./data/catalog s3://maps/offline --s3-endpoint https://s3.example.org
              packhorse catalog push ./data/catalog /srv/www/offline --prune
              packhorse catalog push ./data/catalog s3://maps/offline --url https://maps.example.com/offline/
            """)

    @Argument(help: "The catalog's folder, or a coordinator's data folder.") var catalog: String
    @Argument(help: "Bucket and prefix, s3://bucket/prefix, or a folder.") var target: String
    @OptionGroup var s3: S3Options
    @Option(
        help: ArgumentHelp(
            "The address of the target for clients, written into the pushed packages.json. Default: as in the catalog."
        ))
    var url: String?
    @Option(
        help: ArgumentHelp(
            "Sign the pushed catalog.json with this key; needed by --url when the catalog is signed. Default: $PACKHORSE_SIGNING_KEY.",
            valueName: "file"))
    var signingKey: String?
    @Flag(
        help:
            "Take the place over from another catalog: replace its lists, and its files that have the same names."
    ) var replace = false
    @Flag(
        help:
            "Remove files from the target that the catalog no longer names: packages, patches, tile packs, style packs."
    ) var prune =
        false
    @Flag(help: "Show what would be sent; change nothing.") var dryRun = false
    @Flag(name: .shortAndLong, help: "Print a line for each sent or removed file instead of a progress bar.")
    var verbose = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        // The message below says what a valid address is.
        if let url, (try? Catalog.checked(base: url)) == nil {
            throw ValidationError(
                "--url '\(url)' is not an absolute http(s) URL; expected for example https://maps.example.com/offline/")
        }
        guard url != nil || signingKey == nil else {
            throw ValidationError("--signing-key needs --url: without it the catalog's own signature is pushed.")
        }
    }

    func run() async throws {
        let place = try PushPlace(self.target)
        let target = try open(place)
        let source = try CatalogSource(catalog)
        guard let folder = source.folder else {
            throw CLIError(.usage, "'\(catalog)' is an address; this command needs the catalog's folder")
        }
        guard !place.isNested(with: folder) else {
            throw CLIError(
                .usage, "'\(self.target)' and the catalog '\(catalog)' are nested in each other",
                hint: "choose another folder")
        }
        if let place = target as? FolderTarget, !dryRun { try OutputLocation.makeFolder(place.folder) }
        let address = try url.map {
            // The key of the environment signs only a catalog that is already signed. A key option always signs.
            let isSigned = FileKind.isThere(folder.appending(path: CatalogIndex.signatureName))
            let key = signingKey != nil || isSigned ? try SigningKeyOption.read(signingKey) : nil
            return CatalogPush.Address(url: try Catalog.checked(base: $0), key: key)
        }
        let (dryRun, prune, replace, json, verbose) = (dryRun, prune, replace, json, verbose)
        let meter = ProgressMeter(verbose ? .none : Console.isTerminal ? .bar : .plain)
        try await Interruptible.run {
            let push = CatalogPush(
                source: source, folder: folder, target: target, address: address, replaces: replace)
            let done = try await push.run(dryRun: dryRun, prune: prune) { step in
                if verbose { Console.note(step.line) } else { meter.show(step.bar) }
            }
            meter.end()
            for warning in done.warnings { Console.warning(warning) }
            if json { return Console.result(try JSONText.pretty(done)) }
            let verb = dryRun ? "would send" : "sent"
            Console.result(
                "\(verb) \(Units.count(done.sent.count, of: "file")), \(Units.bytes(done.bytes)); "
                    + "\(Units.count(done.skipped, of: "file")) existed already"
                    + (done.removed.isEmpty
                        ? ""
                        : "; \(dryRun ? "would remove" : "removed") \(Units.count(done.removed.count, of: "file"))"))
        }
    }

    /// Opens the bucket, or the folder.
    private func open(_ place: PushPlace) throws -> any PushTarget {
        switch place {
        case .folder(let path):
            guard !s3.isGiven else {
                throw CLIError(
                    .usage, "'\(target)' is not a bucket",
                    hint: "write s3://bucket/prefix, or a folder without the S3 options")
            }
            return FolderTarget(folder: URL(filePath: path, directoryHint: .isDirectory))
        case .bucket(let location): return BucketTarget(bucket: try s3.bucket(location))
        }
    }
}
