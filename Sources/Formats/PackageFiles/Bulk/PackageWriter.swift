/// A writer of packages: takes bodies by ascending number, tiles ascending by zoom, column and TMS row, and metadata at
/// any time.
package protocol PackageWriter {
    func add(body: UnsafeRawBufferPointer, number: UInt32) throws
    func add(zoom: Int, column: Int, row: Int, number: UInt32) throws
    func add(metadata rows: [(name: String, value: String)]) throws
}

extension PackageWriter {
    package func add(body: [UInt8], number: UInt32) throws {
        try body.withUnsafeBytes { try add(body: $0, number: number) }
    }
}
