import Errors
import PMTiles
import TileBodies
import Tiles
import Tilesets

/// A PMTiles archive on a web server: its header, directories and metadata.
final class RemotePMTiles: Sendable {
    /// Leaves that are fetched together.
    private static let leavesAtOnce = 16
    let file: RemoteFile
    let header: PMTilesHeader
    let coding: BodyCoding
    let root: PMTilesDirectory
    private let leaves: LeafCache

    /// Reads the header and the root directory, which are in the first 16 KiB.
    ///
    /// - Throws: ``OriginsError``.
    init(_ file: RemoteFile) throws(OriginsError) {
        self.file = file
        do throws(ArchiveError) {
            let head = Array(file.head.prefix(PMTilesHeader.size))
            header = try PMTilesHeader(head, fileSize: file.version.length, path: file.name)
            coding = try header.bodyCoding(of: file.name)
        } catch {
            throw OriginsError(error)
        }
        guard header.root.end <= UInt64(file.head.count) else {
            throw OriginsError(
                .badArchive,
                "PMTiles file '\(file.name)': its root directory ends at byte \(header.root.end); it must be within the first 16,384 bytes."
            )
        }
        do throws(ArchiveError) {
            let packed = Array(file.head[Int(header.root.offset)..<Int(header.root.end)])
            root = try header.directory(packed, at: header.root.offset, of: file.name)
        } catch {
            throw OriginsError(error)
        }
        leaves = LeafCache(file, header)
    }

    /// The entries of tiles, by tile id; tiles that the archive does not have are left out.
    ///
    /// Fetches the leaf directories that are not known yet.
    ///
    /// - Parameter ids: Ascending.
    /// - Throws: ``OriginsError``, `CancellationError`.
    func entries(of ids: [UInt64]) async throws -> [UInt64: PMTilesDirectory.Entry] {
        var found: [UInt64: PMTilesDirectory.Entry] = [:]
        try await collectEntries(for: ids, in: root, depth: 1, into: &found)
        return found
    }

    /// Few leaves at a time, because those of a hostile archive are large.
    private func collectEntries(
        for ids: [UInt64], in directory: PMTilesDirectory, depth: Int,
        into found: inout [UInt64: PMTilesDirectory.Entry]
    ) async throws {
        var pointers: [(entry: PMTilesDirectory.Entry, ids: [UInt64])] = []
        for id in ids {
            guard let entry = directory.entry(for: id) else { continue }
            if entry.run > 0 {
                found[id] = entry
            } else if pointers.last?.entry == entry {
                pointers[pointers.count - 1].ids.append(id)
            } else {
                pointers.append((entry, [id]))
            }
        }
        guard pointers.isEmpty || depth < PMTilesHeader.maxDepth else {
            throw OriginsError(
                .badArchive,
                "PMTiles file '\(file.name)' nests its directories deeper than \(PMTilesHeader.maxDepth).")
        }
        for start in stride(from: 0, to: pointers.count, by: Self.leavesAtOnce) {
            let part = pointers[start..<min(start + Self.leavesAtOnce, pointers.count)]
            let below = try await leaves.directories(of: part.map(\.entry))
            for (directory, pointer) in zip(below, part) {
                try await collectEntries(for: pointer.ids, in: directory, depth: depth + 1, into: &found)
            }
        }
    }

    /// What header and metadata say.
    func metadata() async throws(OriginsError) -> SourceMetadata {
        var text: [UInt8] = []
        do {
            if header.metadata.length > 0 {
                guard header.metadata.length <= PMTilesHeader.maxDirectory else {
                    throw OriginsError(
                        .badArchive, "PMTiles file '\(file.name)' has \(header.metadata.length) bytes of metadata.")
                }
                let packed =
                    header.metadata.end <= UInt64(file.head.count)
                    ? Array(file.head[Int(header.metadata.offset)..<Int(header.metadata.end)])
                    : try await file.read(header.metadata.offset..<header.metadata.end)
                // Tiles need no metadata, so such as cannot be unpacked count as none.
                text = (try? header.unpack(packed, at: header.metadata.offset, of: file.name)) ?? []
            }
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(.unreadable, "The metadata of '\(file.name)' was not read: \(error)", cause: error)
        }
        var metadata = SourceMetadata(header, metadata: text)
        metadata.widenZooms(to: header.zooms(with: root))
        return metadata
    }
}
