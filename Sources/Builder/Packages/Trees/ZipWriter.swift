internal import Digests
internal import Files
internal import Foundation
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// Writes a ZIP archive of stored files, its directory at the end, in the 64-bit form where one is needed.
///
/// Memory: 1 MB; places wait in a file without a name.
final class ZipWriter: TreeWriter {
    private let url: URL
    private let file: FileDescriptor
    private let places: Spool<Place>
    private var names: [String] = []
    private var bytes: [UInt8] = []
    private var offset: UInt64 = 0
    private static let pieceSize = 1 << 20

    /// An entry of the directory to be written.
    private struct Place: BitwiseCopyable {
        /// Its tile along ``TileID/northOrder``, or the number of another name.
        let tile: UInt64
        let isTile: Bool
        let crc: UInt32
        let size: UInt32
        let offset: UInt64
    }

    /// What tiles end with, once there is one.
    private var ending = ""

    init(_ url: URL) throws {
        self.url = url
        file = try FileDescriptor(creating: url)
        places = Spool(near: url.appendingPathExtension("places"), limit: 16_384)
    }

    func add(_ name: String, _ body: [UInt8]) throws {
        guard let size = UInt32(exactly: body.count) else {
            throw PackagesError(
                .tooLarge, "'\(name)' has \(body.count) bytes; a file of the archive has at most 4 GiB.")
        }
        let crc = Zlib.crc32(body)
        let head = ZipRecords.local(name, crc: crc, size: size)
        let tile = TreePath.parse(name)
        if let tile { ending = tile.ending } else { names.append(name) }
        try places.append(
            Place(
                tile: tile?.tile.northOrder ?? UInt64(names.count - 1), isTile: tile != nil, crc: crc, size: size,
                offset: offset))
        offset += UInt64(head.count + body.count)
        try put(head)
        try put(body)
    }

    func finish() throws {
        let start = offset
        var end = start
        try places.walk { place in
            let name =
                place.isTile
                ? TileID(northOrder: place.tile).map { TreePath.name($0, ending: ending) } ?? ""
                : names[Int(place.tile)]
            let entry = ZipRecords.central(name, crc: place.crc, size: place.size, offset: place.offset)
            end += UInt64(entry.count)
            try put(entry)
        }
        try put(ZipRecords.end(files: UInt64(places.count), directory: start..<end))
        try file.write(bytes)
        bytes = []
        try file.sync()
        try file.close()
    }

    func digest(_: [UInt8]) throws -> Digest { try Digest.ofFile(url).digest }

    private func put(_ more: [UInt8]) throws {
        bytes += more
        guard bytes.count >= Self.pieceSize else { return }
        try file.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
