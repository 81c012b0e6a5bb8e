internal import Digests
import Files
import Foundation
internal import PackageFiles
import Packages
import Shards
import TileBodies

/// Measurements of bodies: the check of vector tiles, shards, the merge, PMTiles.
struct BodyPieces {
    let bodies: BenchBodies
    /// The folder for files; it exists and is used only by this process.
    let folder: URL

    func pieces() throws -> [Piece] {
        try [mvtCheck(), shardWrite(), shardRead(), merge(), pmtiles()]
    }

    private func mvtCheck() -> Piece {
        let checker = BodyChecker()
        return Piece(
            name: "mvt check", amount: bodies.megabytes, unit: "MB/s", baseline: "libdeflate inflate of the same bytes",
            threshold: 0.6,
            run: {
                for body in bodies.distinct { _ = try checker.check(body, coding: .gzip, declared: .mvt) }
            },
            runBaseline: { for body in bodies.distinct { _ = try Gzip.decompress(body) } })
    }

    private func shardWrite() -> Piece {
        Piece(
            name: "shard write", amount: bodies.megabytes, unit: "MB/s", baseline: "SHA-256 and a plain write",
            threshold: 0.2,
            run: {
                let url = folder.appending(path: "written.shard")
                _ = try bodies.shard(at: url)
                try FileManager.default.removeItem(at: url)
            },
            runBaseline: {
                for body in bodies.distinct { _ = Digest(of: body) }
                let url = folder.appending(path: "written.plain")
                try PlainFile.write(bodies.distinct, to: url)
                try FileManager.default.removeItem(at: url)
            })
    }

    private func shardRead() throws -> Piece {
        let url = folder.appending(path: "read.shard")
        _ = try bodies.shard(at: url)
        return Piece(
            name: "shard read", amount: bodies.megabytes, unit: "MB/s", baseline: "a plain read and SHA-256",
            threshold: 0.2,
            run: {
                let reader = try ShardReader(url)
                for body in reader.bodies { _ = try reader.bytes(of: body) }
            },
            runBaseline: { try PlainFile.read(url) { piece in _ = piece.withUnsafeBytes { Digest(of: $0) } } })
    }

    private func merge() throws -> Piece {
        let input = try bodies.shard(at: folder.appending(path: "merged.shard"))
        let spec = try bodies.spec()
        return Piece(
            name: "merge", amount: bodies.megabytes, unit: "MB/s", baseline: "bare SQLite insert of the same bodies",
            threshold: 0.11,
            run: {
                let url = folder.appending(path: "merged.mbtiles")
                _ = try MBTilesMerge.run(spec, shards: [input], into: url)
                try FileManager.default.removeItem(at: url)
            },
            runBaseline: {
                let url = folder.appending(path: "bare.mbtiles")
                try BareInsert.run(bodies, to: url)
                try FileManager.default.removeItem(at: url)
            })
    }

    private func pmtiles() throws -> Piece {
        let package = folder.appending(path: "package.mbtiles")
        let input = try bodies.shard(at: folder.appending(path: "package.shard"))
        _ = try MBTilesMerge.run(try bodies.spec(), shards: [input], into: package)
        return Piece(
            name: "pmtiles export", amount: bodies.megabytes, unit: "MB/s", baseline: "plain copy of the package",
            threshold: 0.018,
            run: {
                let url = folder.appending(path: "package.pmtiles")
                _ = try PackageExport.write(from: package, format: .pmtiles, to: url)
                try FileManager.default.removeItem(at: url)
            },
            runBaseline: {
                let url = folder.appending(path: "copied.mbtiles")
                try PlainFile.copy(package, to: url)
                try FileManager.default.removeItem(at: url)
            })
    }
}
