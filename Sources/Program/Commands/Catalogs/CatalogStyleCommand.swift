import ArgumentParser
import Catalog
internal import CommandSupport
internal import Digests
import Files
import Foundation
import StyleFormat
internal import TextFormats

/// `packhorse catalog style`: puts a style pack into a catalog.
struct CatalogStyleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "style", abstract: "Put a style pack into a catalog, for clients to install.",
        discussion: """
            The pack is verified and published as one ZIP archive with a version, a hash and the catalog's signature. All packages share it.
            Publishing the same pack again changes nothing.
            Example: packhorse catalog style ./data/catalog ./style --id streets
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "The style pack: its folder, or its ZIP archive.") var pack: String
    @Option(help: "The style's id in the catalog: lower-case letters, digits and hyphens.") var id: String

    func run() throws {
        let catalog = try catalog.open()
        let url = URL(filePath: pack)
        _ = try StylePackCheck.run(url)
        let place = try StylePackLocation(url)
        defer { withExtendedLifetime(place) {} }
        let opened = try StylePack(place.folder)
        // The same files always result in the same bytes, whichever program made the archive.
        let scratch = TemporaryName.forUse(as: "style")
        defer { unlink(scratch.path) }
        try StoredZip.write(opened.files, of: opened.folder, to: scratch)
        let (digest, size) = try Digest.ofFile(scratch)
        let done = try catalog.publish(
            style: id, name: opened.index.name, file: scratch, digest: digest, size: size)
        Console.result("styles/\(done.version)/\(id).zip")
        Console.note(
            "style '\(id)' version \(done.version)\(done.unchanged ? ", unchanged" : ""), \(Units.bytes(size))")
    }
}
