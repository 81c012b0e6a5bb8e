internal import CZstd

/// Packs bytes with zstd so that they may copy from a prefix, which the reader has too.
///
/// Used by one thread at a time. Memory: about ten times the bytes and the prefix, at most 60 MB for 4 MiB after 8 MiB.
package final class PrefixPacker {
    private let context: OpaquePointer

    /// `nil` when this build has no zstd.
    package init?() {
        guard let context = ZSTD_createCCtx() else { return nil }
        self.context = context
    }

    deinit { ZSTD_freeCCtx(context) }

    /// The packed bytes; `nil` when they would not be fewer.
    ///
    /// One version of zstd gives the same bytes each time.
    package func pack(_ bytes: [UInt8], after prefix: [UInt8]) -> [UInt8]? {
        guard bytes.count > 1 else { return nil }
        let packed = [UInt8](unsafeUninitializedCapacity: bytes.count - 1) { buffer, filled in
            filled = bytes.withUnsafeBytes { bytes in
                prefix.withUnsafeBytes { prefix in
                    ph_zstd_pack(
                        context, buffer.baseAddress, bytes.count - 1, bytes.baseAddress, bytes.count,
                        prefix.baseAddress,
                        prefix.count)
                }
            }
        }
        return packed.isEmpty ? nil : packed
    }
}

/// Unpacks what a ``PrefixPacker`` has packed.
///
/// Used by one thread at a time.
package final class PrefixUnpacker {
    private let context: OpaquePointer

    /// Whether this build has zstd.
    package static var isAvailable: Bool { PH_HAS_ZSTD == 1 }

    /// `nil` when this build has no zstd.
    package init?() {
        guard let context = ZSTD_createDCtx() else { return nil }
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// The bytes; `nil` when they are damaged, or not exactly `count`.
    ///
    /// Safe on hostile bytes: it needs `count` bytes of memory and no more.
    package func unpack(_ packed: [UInt8], after prefix: [UInt8], count: Int) -> [UInt8]? {
        guard count > 0 else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let isWhole = packed.withUnsafeBytes { packed in
                prefix.withUnsafeBytes { prefix in
                    ph_zstd_unpack(
                        context, buffer.baseAddress, count, packed.baseAddress, packed.count,
                        prefix.baseAddress, prefix.count)
                }
            }
            filled = isWhole == 1 ? count : 0
        }
        return bytes.isEmpty ? nil : bytes
    }
}
