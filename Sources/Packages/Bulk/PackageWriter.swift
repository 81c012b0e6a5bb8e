internal import Foundation
internal import Shards

/// A writer of packages: takes bodies by ascending number, tiles ascending by zoom, column and TMS row, and metadata at
/// any time.
protocol PackageWriter {
    func add(body: UnsafeRawBufferPointer, number: UInt32) throws
    func add(zoom: Int, column: Int, row: Int, number: UInt32) throws
    func add(metadata rows: [(name: String, value: String)]) throws
}

extension PackageWriter {
    func add(body: [UInt8], number: UInt32) throws { try body.withUnsafeBytes { try add(body: $0, number: number) } }
}

/// Selects the writer for a package format version.
enum PackageWriting {
    /// Lets `body` write a new file of the package's own dialect, and flushes it to the medium.
    ///
    /// - Parameters:
    ///   - isSealed: False for version 1, which SQLite itself writes.
    ///   - readBack: Called when all tiles are in the file; it may be sealed and flushed meanwhile.
    /// - Returns: What `body` returned, and the file's SHA-256.
    static func write<Result>(
        _ url: URL, isSealed: Bool, readBack: (Result) throws -> Void = { _ in },
        _ body: (any PackageWriter) throws -> Result
    ) throws -> (Result, Digest) {
        if isSealed { return try BulkPackage.write(url, readBack: readBack, body) }
        let result = try MBTilesBuilder.write(url, isSealed: false, body)
        try Durable.sync(file: url)
        try readBack(result)
        return (result, try Digest.ofFile(url).digest)
    }
}
