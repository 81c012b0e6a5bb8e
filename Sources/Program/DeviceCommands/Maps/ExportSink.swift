internal import CommandSupport
import Errors
import Files
import Foundation
import GRDB
import OfflineMaps
import PackageFiles
import TileBodies
import Tiles

/// Takes the tiles of an export; used by one task.
protocol ExportSink: AnyObject {
    func add(_ id: TileID, _ tile: Tile) throws
    func end() throws
    /// Removes what is unfinished.
    func giveUp()
}

/// Single files; vector tiles are unpacked, because a name says nothing about a coding.
final class ExportedFiles: ExportSink {
    private let folder: URL
    private let template: String

    init(_ folder: URL, _ template: String) {
        self.folder = folder
        self.template = template
    }

    func add(_ id: TileID, _ tile: Tile) throws {
        let format = TileFormat(word: tile.mediaType)
        let name = template.replacing("{z}", with: "\(id.zoom)").replacing("{x}", with: "\(id.x)")
            .replacing("{y}", with: "\(id.y)").replacing("{ext}", with: format?.rawValue ?? "bin")
        let file = folder.appending(path: name, directoryHint: .notDirectory)
        if name.contains("/") {
            do throws(StorageError) { try Durable.makeFolder(file.deletingLastPathComponent()) } catch {
                throw CLIError(.cannotCreate, error.message)
            }
        }
        let body: Data
        switch tile.coding {
        case .plain: body = tile.body
        case .gzip: body = Data(try BodyCoding.gzip.unpack([UInt8](tile.body), limit: 64 << 20))
        case .zlib: body = Data(try BodyCoding.deflate.unpack([UInt8](tile.body), limit: 64 << 20))
        }
        do { try body.write(to: file) } catch {
            throw CLIError(.cannotCreate, "'\(file.path)' cannot be written: \(error.localizedDescription)")
        }
    }

    func end() {}
    func giveUp() {}
}

/// One MBTiles file with the table of the specification; it gets its name when it is complete.
final class ExportedDatabase: ExportSink {
    private let file: URL
    private let temporary: URL
    private let queue: DatabaseQueue
    private let metadata: [(String, String)]
    private var format: TileFormat?
    private var pending: [(TileID, Data)] = []

    init(_ file: URL, name: String, bounds: BoundingBox, zooms: ZoomRange, attribution: String?) throws {
        self.file = file
        temporary = file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).\(getpid()).new")
        // Of a process with the same number that was killed; it is not there as a rule.
        try? FileManager.default.removeItem(at: temporary)
        queue = try DatabaseQueue(path: temporary.path)
        let box = bounds.flatEdges.map(PackageMetadata.degrees)
        metadata =
            [
                ("name", name), ("type", "baselayer"), ("version", "1.0"), ("bounds", box.joined(separator: ",")),
                ("minzoom", "\(zooms.min)"), ("maxzoom", "\(zooms.max)"),
            ] + (attribution.map { [("attribution", $0)] } ?? [])
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA application_id = \(MBTilesSchema.applicationID)")
            for statement in MBTilesSchema.metadata + MBTilesSchema.flat { try database.execute(sql: statement) }
        }
    }

    func add(_ id: TileID, _ tile: Tile) throws {
        let found = TileFormat(word: tile.mediaType)
        guard let found, format == nil || format == found else {
            throw CLIError(
                .badData, "the tile \(id) is \(tile.mediaType); an MBTiles file has tiles of one kind",
                hint: "export single files: --files FOLDER")
        }
        format = found
        // MBTiles has vector tiles as gzip.
        let body: Data
        let isPacked = found.traits.coding == .gzip
        switch tile.coding {
        case .zlib:
            let plain = try BodyCoding.deflate.unpack([UInt8](tile.body), limit: 64 << 20)
            body = Data(isPacked ? Gzip.compress(plain) : plain)
        case .plain where isPacked: body = Data(Gzip.compress([UInt8](tile.body)))
        case .plain, .gzip: body = tile.body
        }
        pending.append((id, body))
        if pending.count >= 1_000 { try flush() }
    }

    private func flush() throws {
        let rows = pending
        pending = []
        try queue.write { database in
            let statement = try database.cachedStatement(sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)")
            for (id, body) in rows {
                try statement.execute(arguments: [id.zoom, id.x, (1 << id.zoom) - 1 - id.y, body])
            }
        }
    }

    func end() throws {
        try flush()
        try queue.write { database in
            let json = format?.traits.isVector == true ? [("json", #"{"vector_layers":[]}"#)] : []
            for (name, value) in metadata + [("format", format?.rawValue ?? "pbf")] + json {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
            }
        }
        try queue.close()
        do throws(StorageError) { try Durable.rename(temporary, to: file) } catch {
            throw CLIError(.cannotCreate, error.message)
        }
    }

    func giveUp() {
        // No program uses the temporary file; one that stays does no harm.
        try? queue.close()
        for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: temporary.path + suffix) }
    }
}
