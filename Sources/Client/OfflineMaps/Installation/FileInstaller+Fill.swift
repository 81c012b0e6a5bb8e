internal import Errors
internal import Files
internal import Foundation
internal import GRDB
internal import TileBodies
internal import Tiles

extension FileInstaller {
    /// Adds a single tile to the pack that is being filled, or a resource to the style that is being filled.
    ///
    /// - Parameters:
    ///   - details: Of the tile; `file.sha256` names the part file of its pack.
    ///   - answer: The server's answer; `nil` when the server has no such tile.
    ///   - absence: The status of that answer: 404 or 410.
    /// - Returns: Bytes of the tile; `nil` when the server has none, or its tile has not changed.
    /// - Throws: `bad-file` with the cause `badBytes` for bytes that are no tile; `disk-full`, `storage`.
    static func fill(
        _ details: DownloadDetails, _ answer: FetchedBody?, absence: Int = 404, in folder: StoreFolder
    ) throws(StoreError) -> UInt64? {
        if let resource = details.resource { return try fill(resource, details, answer: answer, in: folder) }
        guard let place = details.tile, let tile = TileID(zoom: place.zoom, x: place.column, y: place.row),
            let part = folder.part(sha256: details.file.sha256)
        else { throw StoreError(.storage, "A tile of '\(details.file.path)' has no place in the store.") }
        let expires = answer?.expires.map { Int64($0.timeIntervalSince1970) } ?? Planner.packExpiry
        var known = FilledPack.Known(
            status: 200, etag: answer?.etag, modified: answer?.modified.map { Int64($0.timeIntervalSince1970) },
            expires: expires)
        var body: Data?
        if let answer, answer.status == 304 {
            known.etag = answer.etag ?? details.headers["If-None-Match"]
        } else if let answer, answer.status != 204, !answer.body.isEmpty {
            guard isTile(answer.body) else {
                throw StoreError.failing(.badBytes, "'\(details.address)' was answered with something that is no tile.")
            }
            body = answer.body
        } else {
            known.status = answer == nil ? absence : 204
        }
        do {
            try begin(part, from: details.base)
            try FilledPack.put(tile, known, body: body, into: part)
        } catch { throw storeError(error, "A tile cannot be added to '\(details.file.path)'.") }
        return body.map { UInt64($0.count) }
    }

    /// Makes the part file of a pack, as a copy of its current version where there is one.
    private static func begin(_ part: URL, from base: URL?) throws(StorageError) {
        guard access(part.path, F_OK) != 0 else { return }
        // A journal of an earlier part file of this name must not be applied to the new one.
        try Durable.remove(URL(filePath: part.path + "-journal"))
        guard let base, access(base.path, F_OK) == 0 else { return }
        let copy = TemporaryName.nextTo(part)
        try Durable.copy(base, to: copy)
        // Another tile may have made the file meanwhile: then its file stays.
        let isTaken = link(copy.path, part.path) != 0 && errno == EEXIST
        try Durable.remove(copy)
        guard isTaken || access(part.path, F_OK) == 0 else {
            throw StorageError(.io, "Cannot make '\(part.path)'.")
        }
    }

    /// Completes a pack that was filled; its part file is then ready to be moved.
    static func finishFilled(_ details: DownloadDetails, _ part: URL) throws(StoreError) {
        do {
            try begin(part, from: details.base)
            guard access(part.path, F_OK) == 0 else {
                // An empty pack would say that it has everything.
                throw StoreError(.storage, "The tiles of '\(details.file.path)' are gone.")
            }
            let format = try FilledPack.sample(part).flatMap { body in
                TileFormat(content: [UInt8](body)) ?? Self.format(of: body)
            }
            try FilledPack.finish(
                part, keeping: details.file.mask ?? TileMask(full: TileID.maxZoom),
                name: details.file.tileset ?? "tiles", format: format?.rawValue,
                attribution: details.file.attribution)
        } catch { throw storeError(error, "The pack '\(details.file.path)' cannot be completed.") }
    }

    /// Notes of a pack that was filled the tiles that it has or that are known to be empty, and its expiry.
    static func noteTiles(of file: URL, in installed: inout InstalledFile) {
        let known = FilledPack.known(file)
        installed.mask = TileMask(tiles: Array(known.keys), maxZoom: installed.zooms?.max ?? TileID.maxZoom)
        installed.expires = known.values.map(\.expires).min()
    }

    /// Whether bytes begin as a tile does, and not as a page or a message.
    static func isTile(_ body: Data) -> Bool { format(of: body) != nil }

    private static func format(of body: Data) -> TileFormat? {
        let known = body.withUnsafeBytes { raw in TileFormat(beginning: raw) ?? TileFormat(vectorTile: raw) }
        if let known { return known }
        // A vector tile without gzip begins with its first layer: field 3 of wire type 2 (MVT 2.1).
        return body.first == 0x1A ? .mvt : nil
    }

    static func storeError(_ error: any Error, _ message: String) -> StoreError {
        if let error = error as? StoreError { return error }
        if let error = error as? StorageError { return .storage(error, message) }
        let isFull = (error as? DatabaseError)?.resultCode == .SQLITE_FULL
        return StoreError(isFull ? .diskFull : .storage, "\(message) \(error)", cause: error, isRetriable: isFull)
    }
}
