public import Errors
public import Foundation
import PMTiles
import TileBodies
public import Tilesets

/// A PMTiles archive on a web server or in a bucket, for commands.
public struct RemoteArchive: Sendable {
    /// What its header says.
    public struct Facts: Encodable, Sendable {
        /// Its address, without secrets.
        public let url: String
        /// Bytes of the file.
        public let size: UInt64
        /// Identifies this version.
        public let version: String
        /// The tile format, a raw value of `TileFormat`; `nil` = unknown to this build.
        public let format: String?
        /// How tiles are packed: none, gzip, brotli, zstd.
        public let tileCoding: String
        /// The zooms.
        public let zoomMin: Int
        /// The deepest zoom.
        public let zoomMax: Int
        /// West, south, east, north in degrees.
        public let bounds: [Double]
        /// Tiles that have a body; 0 = unknown.
        public let tiles: UInt64
        /// Different bodies; 0 = unknown.
        public let bodies: UInt64
        /// Whether bodies lie in the order of their tiles.
        public let isClustered: Bool
        /// Its title.
        public let name: String?
        /// The attribution to show with the map.
        public let attribution: String?
    }

    /// What it says of itself.
    public let facts: Facts
    private let archive: RemotePMTiles

    /// Reads the header and the metadata.
    ///
    /// - Throws: ``OriginsError``.
    public init(_ file: TilesetFile, environment: [String: String]) async throws(OriginsError) {
        let asking = try OriginMetadata.asking(file)
        guard asking.source.scheme == .remotePMTiles else {
            throw OriginsError(.tileset, "'\(asking.id)' is not the address of a PMTiles archive.")
        }
        archive = try RemotePMTiles(try await RemoteFile(asking, environment: environment, budget: nil))
        let header = archive.header
        let metadata = try await archive.metadata()
        facts = Facts(
            url: archive.file.name, size: archive.file.version.length, version: archive.file.version.text,
            format: header.format?.rawValue, tileCoding: "\(archive.coding)", zoomMin: Int(header.minZoom),
            zoomMax: Int(header.maxZoom), bounds: header.bounds, tiles: header.addressedTiles,
            bodies: header.tileContents, isClustered: header.isClustered, name: metadata.name,
            attribution: metadata.attribution)
    }

    /// Copies the whole archive into a file; truncated parts are requested again.
    ///
    /// - Parameters:
    ///   - file: A new file; existing content is removed.
    ///   - progress: Called with the number of bytes written so far.
    /// - Throws: ``OriginsError`` `.busy` when the archive is replaced meanwhile, `CancellationError`.
    public func download(to file: URL, progress: @escaping @Sendable (UInt64) -> Void) async throws {
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw OriginsError(.unreadable, "'\(file.path)' cannot be written.")
        }
        let sink = Sink(try FileHandle(forWritingTo: file), progress)
        let step = RemoteFile.maxPerRequest
        let starts = stride(from: 0, to: archive.file.version.length, by: Int(step))
        let parts = starts.map { $0..<min($0 + step, archive.file.version.length) }
        try await archive.file.read(parts) { number, bytes in
            try await sink.write(bytes, at: parts[number].lowerBound)
        }
        guard try await !archive.file.hasChanged(since: .now) else {
            throw OriginsError(.busy, "The archive '\(archive.file.name)' was replaced while it was read.")
        }
        try await sink.close()
    }

    /// Writes parts at their offsets, one at a time.
    private actor Sink {
        private let handle: FileHandle
        private let progress: @Sendable (UInt64) -> Void
        private var written: UInt64 = 0

        init(_ handle: FileHandle, _ progress: @escaping @Sendable (UInt64) -> Void) {
            (self.handle, self.progress) = (handle, progress)
        }

        func write(_ bytes: [UInt8], at offset: UInt64) throws {
            try handle.seek(toOffset: offset)
            try handle.write(contentsOf: Data(bytes))
            written += UInt64(bytes.count)
            progress(written)
        }

        func close() throws { try handle.close() }
    }
}
