internal import Digests
internal import Errors
internal import Files
public import Foundation
internal import GRDB
internal import PackageFiles
public import Packages
internal import StyleFormat
internal import Tiles

/// Writes MapLibre Native's offline database: a file that apps install, or merge into their own database, and use
/// without a network.
public enum OfflineDatabaseExport {
    /// Writes, flushes and verifies a database with one region; the file gets its name only after that.
    ///
    /// The bytes are a function of tiles, style pack and options. Memory: about 40 MB and 100 bytes for each run of tiles in a column
    /// of the deepest zoom. Blocks for a long time: call it on a thread of its own.
    ///
    /// - Parameters:
    ///   - tiles: A merged MBTiles file for each source that the style draws and ``OfflineOptions/without`` does not
    ///     name. The first one determines the region's area.
    ///   - stylePack: The folder of a style pack.
    ///   - target: The file to make; a temporary file next to it is renamed to this name.
    ///   - replacing: Whether a file of that name may be replaced.
    ///   - progress: Told the number of tiles written, now and then. Throw from it (`CancellationError`) to stop.
    /// - Throws: `PackagesError`: `exists`, `bad-source`, `bad-spec`, `disk-full`, `io`, `verification-failed`; `StylesError`
    ///   for the style pack.
    public static func write(
        from tiles: [OfflineTiles], stylePack: URL, to target: URL, options: OfflineOptions = OfflineOptions(),
        replacing: Bool = false, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> ExportReceipt {
        guard replacing || !FileManager.default.fileExists(atPath: target.path) else {
            throw PackagesError(.exists, "'\(target.path)' exists already; remove it, or allow it to be replaced.")
        }
        guard options.modified > 0, options.modified < OfflineOptions.never,
            options.expiresAfter.map({ (0...OfflineOptions.never).contains($0) }) ?? true, !tiles.isEmpty,
            (1...2).contains(options.pixelRatio)
        else {
            throw PackagesError(
                .badSpec,
                "An offline database needs tiles, a date from 1970 to 2096, an expiry of at least 0 s, and a pixel ratio of 1 or 2."
            )
        }
        let style = try ClientStyle(
            try StylePack(stylePack), address: options.styleURL, without: options.without, key: options.key)
        let inputs = try TileInput.pair(tiles, style)
        let temporary = TemporaryName.nextTo(target)
        do {
            let written = try OfflineBuilder.write(temporary, options: options) { builder in
                try fill(builder, style: style, inputs: inputs, options: options, progress: progress)
            }
            try Durable.sync(file: temporary)
            let (report, content) = try OfflineDatabaseVerify.read(temporary)
            guard report.isVerified, content == written.content, report.tiles == written.tiles else {
                let first = report.problems.first?.description ?? "its tiles differ from those that were written"
                throw PackagesError(
                    .verificationFailed,
                    "The offline database of '\(inputs[0].name)' failed its verification: \(first).")
            }
            let (digest, size) = try Digest.ofFile(temporary)
            try Durable.rename(temporary, to: target)
            return ExportReceipt(format: .maplibre, digest: digest, size: size, tiles: written.tiles)
        } catch {
            unlink(temporary.path)
            throw named(error, target)
        }
    }

    private struct Written {
        let tiles: UInt64
        let content: String
    }

    private static func fill(
        _ builder: OfflineBuilder, style: ClientStyle, inputs: [TileInput], options: OfflineOptions,
        progress: (UInt64) throws -> Void
    ) throws -> Written {
        for resource in style.resources {
            try builder.add(
                url: resource.url, kind: ResourceKind.number(resource.kind), bytes: resource.bytes,
                etag: resource.etag, modified: resource.modified)
        }
        var spans: [TileSpan] = []
        for (index, input) in inputs.enumerated() {
            var span = TileSpan(input.source)
            // Clients store the density only of raster tiles, and only for templates that contain it.
            let ratio =
                input.source.type != "vector" && input.source.template.contains("{ratio}") ? options.pixelRatio : 1
            func add(_ tile: TileID, _ bytes: [UInt8]?) throws {
                let row = input.source.isTMS ? tile.tmsY : tile.y
                try builder.add(
                    template: input.source.template, pixelRatio: ratio, zoom: tile.zoom, column: tile.x, row: row,
                    bytes: bytes)
                span.add(tile)
                if builder.tileCount % 1_024 == 0 { try progress(UInt64(builder.tileCount)) }
            }
            try input.tiles(add)
            guard let zooms = span.zooms else {
                throw PackagesError(.badSource, "'\(input.file.path)' has no tiles.")
            }
            if index == 0, let mask = options.emptyTiles {
                for tile in mask.tiles(in: zooms) where !span.contains(tile) { try add(tile, nil) }
            }
            spans.append(span)
        }
        let definition = try Region.definition(style, spans, ratio: options.pixelRatio)
        let name = String(decoding: try JSONEncoder().encode(["name": inputs[0].name]), as: UTF8.self)
        try builder.add(definition: try definition.text(), description: options.description ?? Array(name.utf8))
        try progress(UInt64(builder.tileCount))
        return Written(tiles: UInt64(builder.tileCount), content: builder.contentHash())
    }

    private static func named(_ error: any Error, _ target: URL) -> any Error {
        switch error {
        case let error as StorageError:
            PackagesError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
            PackagesError(
                .diskFull, "No space left to write '\(target.path)'. Free some space and convert again.", cause: error)
        case let error as DatabaseError:
            PackagesError(
                .database, "SQLite cannot write '\(target.path)': \(error.message ?? "unknown error").", cause: error)
        default: error
        }
    }
}
