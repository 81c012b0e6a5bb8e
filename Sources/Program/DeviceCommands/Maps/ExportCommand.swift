import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import OfflineMaps
import PackageFiles
internal import TextFormats
import TileBodies
import Tiles

/// `packhorse device export`.
struct DeviceExportCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write tiles of a store as one MBTiles file, or as a folder of single files.",
        discussion: """
            Takes what readers get: of several packages with a tile, the newest. Without an area it takes everything of
            the tileset. The files in a folder are named by --name.
            Examples:
              packhorse device export --tileset demo -o demo.mbtiles --store ./maps
              packhorse device export --tileset demo --box 24.5,59.3,25.0,59.5 --zoom 0-10 --files ./tiles --store ./maps
            """)

    @Option(help: "The tileset; not needed when the store has only one.") var tileset: String?
    @Option(
        name: [.customShort("o"), .long], help: "The MBTiles file: its name ends with .mbtiles, or has no extension.")
    var output: String?
    @Option(help: ArgumentHelp("The folder for single files.", valueName: "folder")) var files: String?
    @Option(help: "The names of single files: {z}, {x}, {y} and {ext} are replaced.") var name =
        "Tile-{z}-{x}-{y}.{ext}"
    @Option(parsing: .unconditional, help: ArgumentHelp("Only tiles of this box.", valueName: "west,south,east,north"))
    var box: String?
    @Option(help: ArgumentHelp("Only tiles of this region of the store.", valueName: "name")) var region: String?
    @Option(help: "Only these zooms; default: all of the tileset.") var zoom: String?
    @Flag(help: "Replace an existing MBTiles file.") var force = false
    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (output == nil) != (files == nil) else {
            throw ValidationError("Give -o FILE.mbtiles, or --files FOLDER.")
        }
        if let output, let ending = Self.otherEnding(of: output) {
            throw ValidationError(
                "-o '\(output)' ends with \(ending), and the output is an MBTiles file; end the name with .mbtiles, and write other formats from that file with packhorse convert."
            )
        }
        guard box == nil || region == nil else { throw ValidationError("--box and --region exclude each other.") }
        guard ["{z}", "{x}", "{y}"].allSatisfy(name.contains) else {
            throw ValidationError("--name must have {z}, {x} and {y}.")
        }
        let parts = name.partsBetweenSlashes()
        guard parts.first != "", !parts.contains("..") else {
            throw ValidationError("--name must stay in the folder.")
        }
    }

    /// The extension of a name that says another format than MBTiles; `nil` for a name that says none.
    private static func otherEnding(of name: String) -> String? {
        let file = URL(filePath: name)
        return ["mbtiles", ""].contains(file.pathExtension.lowercased()) ? nil : ".\(file.pathExtension)"
    }

    /// What was written, as printed.
    private struct View: Encodable {
        let path: String
        let tiles: UInt64
        let empty: UInt64
        let bytes: UInt64
    }

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let chosen = try chosen(store.resources.tilesets)
        var zooms = chosen.zooms
        if let zoom {
            let wanted = try ZoomRange(parsing: zoom)
            guard let both = wanted.intersection(zooms) else {
                throw CLIError(.noInput, "the tileset '\(chosen.id)' has the zooms \(zooms), not \(wanted)")
            }
            zooms = both
        }
        var mask = chosen.mask.maxZoom < zooms.max ? chosen.mask.expanded(toZoom: zooms.max) : chosen.mask
        if let box {
            mask = mask.intersection(
                TileMask(covering: MercatorShape(try BoundingBox(parsing: box)), maxZoom: mask.maxZoom))
        } else if let region {
            let covered = try await DeviceRegion.named(region, in: store).covered
            mask = mask.intersection(
                covered.maxZoom < mask.maxZoom
                    ? covered.expanded(toZoom: mask.maxZoom) : covered.clipped(toZoom: mask.maxZoom))
        }
        let path = output ?? files ?? ""
        let sink: any ExportSink
        if let output {
            let file = URL(filePath: output)
            try OutputLocation.checkFile(file, replacing: force)
            sink = try ExportedDatabase(
                file, name: chosen.id, bounds: mask.bounds ?? chosen.bounds, zooms: zooms,
                attribution: chosen.attributions.first)
        } else {
            let folder = URL(filePath: path, directoryHint: .isDirectory)
            try OutputLocation.makeFolder(folder)
            sink = ExportedFiles(folder, name)
        }
        var (count, empty, bytes) = (UInt64(0), UInt64(0), UInt64(0))
        do {
            for tile in mask.tiles(in: zooms) {
                try Task.checkCancellation()
                switch try store.tiles.tile(tile, of: chosen.id) {
                case .found(let found):
                    try sink.add(tile, found)
                    (count, bytes) = (count + 1, bytes + UInt64(found.body.count))
                case .empty: empty += 1
                case .absent: break
                }
            }
            guard count > 0 else { throw CLIError(.noInput, "the store has no tile of '\(chosen.id)' there") }
            try sink.end()
        } catch {
            sink.giveUp()
            throw error
        }
        if json {
            return Console.result(try JSONText.pretty(View(path: path, tiles: count, empty: empty, bytes: bytes)))
        }
        Console.result("\(path): \(Units.count(count, of: "tile")), \(Units.bytes(bytes))")
    }

    private func chosen(_ tilesets: [InstalledTileset]) throws -> InstalledTileset {
        let names = tilesets.map(\.id).joined(separator: ", ")
        if let tileset {
            guard let found = tilesets.first(where: { $0.id == tileset }) else {
                throw CLIError(.noInput, "the tileset '\(tileset)' is not installed", hint: "installed: \(names)")
            }
            return found
        }
        guard let only = tilesets.first else { throw CLIError(.noInput, "no tiles are installed") }
        guard tilesets.count == 1 else {
            throw CLIError(.usage, "several tilesets are installed", hint: "give one of --tileset \(names)")
        }
        return only
    }
}
