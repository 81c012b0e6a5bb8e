/// A step of a copy patch: bytes that the patch has, then bytes of the old file.
struct CopyRun: Hashable, BitwiseCopyable {
    /// How many bytes of the new file come from the patch.
    var literal: UInt64
    /// Where the copied bytes begin in the old file.
    var source: UInt64
    /// How many bytes are copied from there.
    ///
    /// 0 only at the end of a script, and while a patch is made: then `source` says what the literals before are like.
    var copied: UInt64
}

/// The script of a copy patch as it is stored: for each step three varints, least significant seven bits first.
///
/// The first is the number of literal bytes, the second the number of copied ones. The third, absent where nothing is
/// copied, is how far the source lies from the end of the copy before (from 0 at first), with the sign in the lowest bit.
struct CopyScriptCoder {
    /// The end of the copy before.
    private var last: UInt64 = 0

    mutating func encode(_ run: CopyRun, into bytes: inout [UInt8]) {
        Self.add(run.literal, to: &bytes)
        Self.add(run.copied, to: &bytes)
        guard run.copied > 0 else { return }
        let step = Int64(bitPattern: run.source &- last)
        Self.add(UInt64(bitPattern: step << 1 ^ step >> 63), to: &bytes)
        last = run.source + run.copied
    }

    /// The next step, read with `byte`; `nil` when the bytes are no step, or copy from beyond `limit`.
    ///
    /// - Parameter byte: The next byte of the script; `nil` at its end.
    mutating func decode(limit: UInt64, _ byte: () throws -> UInt8?) rethrows -> CopyRun? {
        guard let literal = try Self.number(byte), let copied = try Self.number(byte) else { return nil }
        guard copied > 0 else { return CopyRun(literal: literal, source: 0, copied: 0) }
        guard let coded = try Self.number(byte) else { return nil }
        let step = Int64(bitPattern: coded >> 1) ^ -Int64(bitPattern: coded & 1)
        // Sizes of files are below 2^63, so a source that wraps around is beyond any of them.
        let source = last &+ UInt64(bitPattern: step)
        guard source <= limit, copied <= limit - source else { return nil }
        last = source + copied
        return CopyRun(literal: literal, source: source, copied: copied)
    }

    /// Writes a varint.
    static func add(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Reads a varint; `nil` when the bytes are none in its shortest form, or more than 64 bits.
    static func number(_ byte: () throws -> UInt8?) rethrows -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard let next = try byte() else { return nil }
            if shift == 63, next > 1 { return nil }
            value |= UInt64(next & 0x7F) << shift
            // The shortest form only, so that a script has one form.
            if next < 0x80 { return next == 0 && shift > 0 ? nil : value }
        }
        return nil
    }
}
