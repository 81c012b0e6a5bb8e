import Dispatch
import Errors
import Foundation
import Tiles
import Tilesets
import Transfer

/// Archives of this machine, of web servers and of buckets, each with a part of the tiles.
enum ArchivesAccess: SourceAccess {
    /// Archives that are opened at the same time.
    private static let atOnce = 8

    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        try await description(of: try OriginMetadata.asking(file), environment: environment)
    }

    /// What the first archive of the whole world says, with the zooms of all.
    static func description(
        of tileset: Tileset, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        let parts = try self.parts(tileset)
        var metadata = SourceMetadata()
        if let first = parts.first(where: { $0.extent == .world }) {
            metadata = try await self.metadata(of: tileset.alone(first), environment: environment)
            // Of one of several archives it is known that it has not all zooms.
            metadata.remarks = []
        }
        metadata.archives = parts
        metadata.zooms = parts.dropFirst().reduce(parts.first?.zooms) { found, part in
            found.flatMap { ZoomRange(min: min($0.min, part.zooms.min), max: max($0.max, part.zooms.max)) }
        }
        return SourceDescription(metadata: metadata)
    }

    private static func metadata(
        of tileset: Tileset, environment: [String: String]
    ) async throws(OriginsError) -> SourceMetadata {
        switch tileset.source.scheme {
        case .mbtiles: try SourceMetadata(mbtiles: tileset.source.address)
        case .pmtiles: try SourceMetadata(pmtiles: tileset.source.address)
        default:
            try await RemotePMTiles(try await RemoteFile(tileset, environment: environment, budget: nil)).metadata()
        }
    }

    private static func parts(_ tileset: Tileset) throws(OriginsError) -> [ArchivePart] {
        do throws(TilesetsError) { return try tileset.archives() } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
    }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        let all = try parts(tileset)
        if let template = all.first(where: { if case .cells = $0.extent { true } else { false } }) {
            throw OriginsError(
                .tileset, "Tileset '\(tileset.id)': which archives '\(template.address)' stands for was not decided.")
        }
        var shared = opening
        shared.pool = BodyCheckPool(tileset, opening)
        if let remote = all.first(where: \.isRemote) {
            shared.client = try RemoteFile.client(
                tileset.alone(remote), environment: opening.environment, budget: opening.budget,
                onAnswer: opening.observer(of: .archive))
        }
        let ready = shared
        let reopen = { @Sendable (part: ArchivePart) async throws(OriginsError) in
            try await open(part, of: tileset, ready)
        }
        return ArchivesOrigin(try await openAll(all, reopen), reopen: reopen)
    }

    private static func openAll(
        _ all: [ArchivePart],
        _ open: @escaping @Sendable (ArchivePart) async throws(OriginsError) -> ArchivesOrigin.Part
    ) async throws(OriginsError) -> [ArchivesOrigin.Part] {
        do {
            return try await withThrowingTaskGroup(of: (Int, ArchivesOrigin.Part).self) { group in
                var found: [Int: ArchivesOrigin.Part] = [:]
                for (index, part) in all.enumerated() {
                    if index >= atOnce, let (number, opened) = try await group.next() { found[number] = opened }
                    group.addTask { (index, try await open(part)) }
                }
                while let (number, opened) = try await group.next() { found[number] = opened }
                return all.indices.compactMap { found[$0] }
            }
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(.unreachable, "The archives were not opened: \(error)", cause: error)
        }
    }

    /// Opens one archive; one that does not exist is a value.
    private static func open(
        _ part: ArchivePart, of tileset: Tileset, _ opening: SourceOpening
    ) async throws(OriginsError) -> ArchivesOrigin.Part {
        let alone = tileset.alone(part)
        if !part.isRemote {
            guard FileManager.default.fileExists(atPath: part.address) else {
                return ArchivesOrigin.Part(part: part, tileset: alone, origin: nil, version: "")
            }
            let version = try await version(of: alone)
            try check(part, size: size(of: part.address))
            let origin = try await alone.source.scheme.access.open(alone, opening)
            return ArchivesOrigin.Part(part: part, tileset: alone, origin: origin, version: version)
        }
        do throws(OriginsError) {
            let origin = try await RemotePMTilesAccess.open(alone, opening)
            guard let pinned = origin as? RemoteArchiveOrigin else {
                return ArchivesOrigin.Part(part: part, tileset: alone, origin: origin, version: "")
            }
            try check(part, size: pinned.size)
            return ArchivesOrigin.Part(part: part, tileset: alone, origin: pinned, version: pinned.version)
        } catch {
            if let answered = error.cause as? AnsweredStatus, isMissing(answered.status, tileset) {
                // The index of this build names it.
                guard tileset.build == nil || part.size == nil else { throw error }
                return ArchivesOrigin.Part(part: part, tileset: alone, origin: nil, version: "")
            }
            // The version of one archive is no version of the source.
            throw OriginsError(error.code, error.message)
        }
    }

    private static func isMissing(_ status: Int, _ tileset: Tileset) -> Bool {
        [404, 410].contains(status) || tileset.emptyStatuses?.contains(status) == true
    }

    private static func check(_ part: ArchivePart, size: UInt64?) throws(OriginsError) {
        guard let wanted = part.size, let size, size != wanted else { return }
        throw OriginsError(
            .badArchive,
            "The archive '\(part.address.prefix { $0 != "?" })' has \(size) bytes, but its index says \(wanted): they are of different versions. Submit the job again, or later, when the index has been updated."
        )
    }

    private static func size(of path: String) -> UInt64? {
        // A file that is gone by now is found missing when it is read.
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? UInt64
    }

    /// The version of a file of this machine, read on a thread that may block.
    private static func version(of alone: Tileset) async throws(OriginsError) -> String {
        let found = await withCheckedContinuation {
            (waiting: CheckedContinuation<Result<String?, OriginsError>, Never>) in
            DispatchQueue.global().async {
                waiting.resume(
                    returning: Result { () throws(OriginsError) in try alone.source.scheme.access.version(of: alone) })
            }
        }
        return try found.get() ?? ""
    }
}
