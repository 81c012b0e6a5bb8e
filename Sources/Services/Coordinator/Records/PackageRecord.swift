import Digests
import Foundation
import GRDB
import Scheduling
import Tiles

/// A package with its key; its files are rows of their own.
struct PackageRecord: Sendable {
    let job: JobID
    let index: PackageIndex
    let package: Package

    static let table = RecordTable<PackageRecord>(
        "package", key: ["job", "idx"],
        [
            RecordField("job", log: 0) { $0.job },
            RecordField("idx", log: 1) { $0.index },
            RecordField("id", log: 2) { $0.package.id },
            RecordField("tiles", log: 3) { $0.package.tiles },
            RecordField("state", log: 4) { $0.package.state },
            RecordField("attempts", log: 5) { $0.package.attempts },
            RecordField("losses", log: 6) { $0.package.losses },
            RecordField("token", log: 7) { $0.package.token },
            RecordField("owner", log: 8) { $0.package.owner == 0 ? nil : $0.package.owner },
            RecordField("manifest", log: 9) { $0.package.manifest },
            RecordField("digest", log: 10) { $0.package.merged?.digest },
            RecordField("size", log: 11) { $0.package.merged?.size },
            RecordField("merged_tiles", log: 12) { $0.package.merged?.tiles },
            RecordField("tiles_hash", log: 13) { $0.package.merged?.tilesHash },
            RecordField("version", log: 14) { $0.package.version },
            RecordField("path", log: 15) { $0.package.path },
            RecordField("cause", log: 16) { $0.package.trouble?.cause },
            RecordField("detail", log: 17) { $0.package.trouble?.detail },
            RecordField("remark", log: 18) { $0.package.merged?.remark },
        ])

    static func package(_ field: RecordReader, _ files: [MergedFile]) throws -> Package {
        let digest: Digest? = try field("digest")
        let merged = try digest.map {
            MergedPackage(
                digest: $0, size: try field("size"), tiles: try field("merged_tiles"),
                tilesHash: try field("tiles_hash"), files: files, remark: try field("remark") ?? "")
        }
        return Package(
            id: try field("id"), tiles: try field("tiles"), state: try field("state"),
            attempts: try field("attempts"), losses: try field("losses"), token: try field("token"),
            owner: try field("owner"), manifest: try field("manifest"), merged: merged, version: try field("version"),
            path: try field("path"), trouble: try field.trouble())
    }
}

extension StateStore {
    static func put(_ package: Package, job: JobID, index: PackageIndex, in db: Database) throws {
        try PackageRecord.table.put(PackageRecord(job: job, index: index, package: package), db)
        try db.cachedStatement(sql: "DELETE FROM package_file WHERE job = ? AND idx = ?")
            .execute(arguments: [job.key, index.number])
        for file in package.merged?.files ?? [] {
            try db.cachedStatement(
                sql: """
                    INSERT INTO package_file (job, idx, part, format, digest, size, tiles, tiles_hash, first, common)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                job.key, index.number, Int64(file.part?.number ?? 0), file.format, Data(file.digest.bytes),
                Int64(clamping: file.size), file.part?.tiles.recorded, file.part?.tilesHash,
                file.part?.first.recorded, file.part?.common,
            ])
        }
    }

    /// The packages of a job, in order.
    static func packages(of job: Int64, _ db: Database) throws -> [Package] {
        let files = try files(of: job, db)
        return try Row.fetchAll(db, sql: "SELECT * FROM package WHERE job = ? ORDER BY idx", arguments: [job]).map {
            row in
            let index: Int64 = try row.value("idx")
            return try PackageRecord.package(RecordReader(row) { "package \(job)/\(index)" }, files[index] ?? [])
        }
    }

    /// The part of a package that a file has; `nil` for the whole one.
    private static func part(_ field: RecordReader) throws -> MergedPart? {
        let number: UInt32 = try field("part")
        guard number > 0 else { return nil }
        return MergedPart(
            number: number, tiles: try field("tiles"), tilesHash: try field("tiles_hash"), first: try field("first"),
            common: try field("common"))
    }

    /// The files of a job's packages in addition to MBTiles, by the index of the package.
    private static func files(of job: Int64, _ db: Database) throws -> [Int64: [MergedFile]] {
        var files: [Int64: [MergedFile]] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM package_file WHERE job = ? ORDER BY idx, part, format", arguments: [job])
        for row in rows {
            let index: Int64 = try row.value("idx")
            let field = RecordReader(row) { "a file of package \(job)/\(index)" }
            files[index, default: []].append(
                MergedFile(
                    format: try field("format"), digest: try field("digest"), size: try field("size"),
                    part: try part(field)))
        }
        return files
    }
}
