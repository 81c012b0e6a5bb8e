import CRegionData

/// Bytes of the region tree: the ones compiled into the binary, without a copy, or an array (tests).
///
/// Sendable because both are immutable: the pointer case is made only in ``boundaries``, ``manifest`` and ``towns`` from `const` C arrays of
/// CRegionData, which live as long as the process.
struct ResourceBytes: @unchecked Sendable {
    private enum Storage {
        case embedded(UnsafeBufferPointer<UInt8>)
        case array([UInt8])
    }

    private let storage: Storage

    init(_ bytes: [UInt8]) { storage = .array(bytes) }

    private init(embedded: UnsafeBufferPointer<UInt8>) { storage = .embedded(embedded) }

    /// The bytes of regions.bin.
    static var boundaries: ResourceBytes {
        ResourceBytes(embedded: UnsafeBufferPointer(start: ph_regions_bin_start(), count: ph_regions_bin_size))
    }

    /// The bytes of regions.json.
    static var manifest: ResourceBytes {
        ResourceBytes(embedded: UnsafeBufferPointer(start: ph_regions_json_start(), count: ph_regions_json_size))
    }

    /// The bytes of towns.bin.
    static var towns: ResourceBytes {
        ResourceBytes(embedded: UnsafeBufferPointer(start: ph_towns_bin_start(), count: ph_towns_bin_size))
    }

    var count: Int {
        switch storage {
        case .embedded(let bytes): bytes.count
        case .array(let bytes): bytes.count
        }
    }

    /// The byte at a position; 0 outside, so that no reader can trap here.
    subscript(position: Int) -> UInt8 {
        guard position >= 0, position < count else { return 0 }
        return switch storage {
        case .embedded(let bytes): bytes[position]
        case .array(let bytes): bytes[position]
        }
    }

    /// A number of three bytes, the lowest first; bytes outside are 0.
    func number24(at position: Int) -> Int {
        Int(self[position]) | Int(self[position + 1]) << 8 | Int(self[position + 2]) << 16
    }

    /// Lends the bytes.
    func withBytes<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(RegionsError) -> Result
    ) throws(RegionsError) -> Result {
        switch storage {
        case .embedded(let bytes): try body(bytes)
        case .array(let bytes):
            try bytes.withUnsafeBufferPointer { (bytes) throws(RegionsError) in try body(bytes) }
        }
    }
}
