import ArgumentParser
internal import CommandSupport
internal import Digests
import Foundation
import PackageFiles
internal import TextFormats

/// `packhorse apply`: creates the new version of a package from the old one and a patch.
struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Create the new version of a package from the old one and a patch.",
        discussion: """
            The old package is only read. The new one gets its name when it is complete and checked. A patch that is damaged or for another
            version is refused with exit code 65.

            Examples:
              packhorse apply EE-1-2.mbtiles EE.mbtiles -o EE-2.mbtiles
              packhorse apply EE-1-2.mbtiles EE.mbtiles --in-place
              packhorse apply EE-1-2.pmtiles.patch EE.pmtiles -o EE-2.pmtiles
            """)

    @Argument(help: "The patch.") var patch: String
    @Argument(help: "The old package.") var old: String
    @Option(name: .shortAndLong, help: "The package to write.") var output: String?
    @Flag(help: "Replace the old package, in one step and only when the new one is complete.") var inPlace = false
    @Option(help: "The expected SHA-256 of the new package, as listed in the catalog.") var sha256: String?
    @Flag(help: "Replace an existing output.") var force = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard inPlace != (output != nil) else {
            throw ValidationError("give the output: -o NEW, or --in-place")
        }
        guard sha256.map({ Digest(hex: $0) != nil }) ?? true else {
            throw ValidationError("--sha256 must have 64 hexadecimal digits")
        }
    }

    func run() throws {
        let (patch, old) = (URL(filePath: patch), URL(filePath: old))
        try FileKind.requireFile(patch)
        try FileKind.requireFile(old)
        // A symbolic link keeps pointing to the package.
        let target = output.map { URL(filePath: $0) } ?? old.resolvingSymlinksInPath()
        try OutputLocation.checkFile(target, replacing: force || inPlace, inputs: [patch])
        let line = TileLine("written")
        defer { line.end() }
        let made = try Patch.apply(
            patch, to: old, into: target, replacing: force || inPlace, expecting: sha256.flatMap { Digest(hex: $0) }
        ) { line.show($0) }
        line.end()
        let report = Report(
            path: target.path, tiles: made.tiles, size: made.size, sha256: made.digest.hex,
            aggTilesHash: made.tilesHash)
        if json { return Console.result(try JSONText.pretty(report)) }
        Console.result("package   \(report.path)")
        Console.result("tiles     \(Units.count(made.tiles)), \(Units.bytes(made.size))")
        if let hash = made.tilesHash { Console.result("hash      \(hash)") }
        Console.result("sha256    \(made.digest.hex)")
    }

    /// What the command prints.
    private struct Report: Encodable {
        let path: String
        let tiles: UInt64
        let size: UInt64
        let sha256: String
        let aggTilesHash: String?
    }
}
