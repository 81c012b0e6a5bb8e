public import Digests
public import Errors
public import Foundation

extension Digest {
    /// Hashes bytes held in memory.
    public init(of bytes: UnsafeRawBufferPointer) {
        var hasher = DigestHasher()
        hasher.update(bytes)
        self = hasher.finish()
    }

    /// Hashes bytes held in memory.
    public init(of bytes: [UInt8]) { self = bytes.withUnsafeBytes { Digest(of: $0) } }

    /// Hashes bytes held in memory.
    public init(of bytes: ArraySlice<UInt8>) { self = bytes.withUnsafeBytes { Digest(of: $0) } }

    /// Hashes bytes held in memory.
    public init(of bytes: Data) { self = bytes.withUnsafeBytes { Digest(of: $0) } }

    /// Hashes a whole file, reading 1 MiB at a time.
    ///
    /// Blocks for the time of reading the file.
    /// - Throws: `io` when it cannot be read.
    public static func ofFile(_ url: URL) throws(StorageError) -> (digest: Digest, size: UInt64) {
        let file = try FileDescriptor(reading: url)
        var hasher = DigestHasher()
        var offset: UInt64 = 0
        while offset < file.size {
            let bytes = try file.read(at: offset, count: Int(min(1 << 20, file.size - offset)))
            hasher.update(bytes)
            offset += UInt64(bytes.count)
        }
        return (hasher.finish(), offset)
    }
}
