internal import CDeflate
internal import CZlib

/// The packer of a body: the settings that pack its raw bytes into exactly the same body again.
///
/// The raw value is part of the format of ``BodyDelta``.
enum Packing: UInt8, CaseIterable {
    /// Not packed, or packed by an unknown packer: the body itself is used as raw bytes.
    case stored = 0
    /// ``Gzip``: raw tiles that Packhorse packed.
    case own = 1
    /// zlib's level 6 with the memory level of Boost, which tilemaker uses.
    case zlibSixNine = 2
    /// zlib's defaults: Java, Python's gzip at level 6, nginx.
    case zlibSixEight = 3
    /// zlib's best with the memory level of Boost.
    case zlibBestNine = 4
    /// zlib's best: gzip -9, Python's gzip.
    case zlibBestEight = 5

    /// Bytes of a gzip header without optional fields.
    static let header = 10

    private var settings: (level: Int32, memory: Int32)? {
        switch self {
        case .stored, .own: nil
        case .zlibSixNine: (6, 9)
        case .zlibSixEight: (6, 8)
        case .zlibBestNine: (9, 9)
        case .zlibBestEight: (9, 8)
        }
    }

    /// How many bytes of a packed body must be stored in addition to its raw bytes.
    var told: Int { settings == nil ? 0 : Self.header }

    /// Packs raw bytes with these settings; `nil` if zlib fails.
    func pack(_ raw: [UInt8], header: [UInt8]) -> [UInt8]? {
        switch self {
        case .stored: return raw
        case .own: return Gzip.compress(raw)
        case .zlibSixNine, .zlibSixEight, .zlibBestNine, .zlibBestEight:
            guard let settings, let stream = Self.deflate(raw, settings) else { return nil }
            let sum = raw.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
            let trailer = [sum, UInt32(truncatingIfNeeded: raw.count)].flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
            }
            return header + stream + trailer
        }
    }

    private static func deflate(_ raw: [UInt8], _ settings: (level: Int32, memory: Int32)) -> [UInt8]? {
        var stream = z_stream()
        guard raw.count <= Int(Int32.max),
            deflateInit2_(
                &stream, settings.level, Z_DEFLATED, -15, settings.memory, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, UInt(raw.count)))
        var isWhole = false
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            raw.withUnsafeBufferPointer { input in
                // zlib does not write to its input; only the const is missing in its header.
                stream.next_in = input.baseAddress.map { UnsafeMutablePointer(mutating: $0) }
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(bound)
                isWhole = CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = bound - Int(stream.avail_out)
            }
        }
        return isWhole ? packed : nil
    }
}
