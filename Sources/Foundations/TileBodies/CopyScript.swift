import Errors

/// A byte sequence encoded as copies from another sequence and literal bytes.
///
/// A varint with the length of the result, then alternately: a varint, that many literal bytes, and, unless the result
/// is complete, a varint with the length of a copy (at least 1) and a varint with the distance of its source from where
/// the last copy ended, zigzag.
enum CopyScript {
    /// Bytes that must agree before a copy is considered.
    private static let window = 8

    /// Greedy: uses the first position of each eight bytes, and extends a match as far as possible.
    ///
    /// Memory: four bytes a byte of `old`, 4 MiB at most. Time is linear.
    static func make(from old: [UInt8], to new: [UInt8]) -> [UInt8] {
        var script: [UInt8] = []
        append(UInt64(new.count), to: &script)
        var bits = 8
        while bits < 20 && 1 << bits < old.count { bits += 1 }
        var places = [Int32](repeating: -1, count: 1 << bits)
        let last = old.count - window
        if last >= 0 {
            for place in stride(from: min(last, Int(Int32.max) - 1), through: 0, by: -1) {
                places[slot(old, at: place, bits: bits)] = Int32(place)
            }
        }
        // The position in the old bytes that would continue the last copy; the begin of the pending literal bytes; the
        // current position.
        var (expected, said, at) = (0, 0, 0)
        while at + window <= new.count {
            let going = expected + (at - said)
            var from = going >= 0 && going <= last && agree(old, at: going, with: new, at: at) ? going : -1
            if from < 0 {
                let place = Int(places[slot(new, at: at, bits: bits)])
                if place >= 0 && agree(old, at: place, with: new, at: at) { from = place }
            }
            guard from >= 0 else {
                at += 1
                continue
            }
            var count = window
            while at + count < new.count && from + count < old.count && old[from + count] == new[at + count] {
                count += 1
            }
            append(UInt64(at - said), to: &script)
            script += new[said..<at]
            append(UInt64(count), to: &script)
            append(zigzag(from - expected), to: &script)
            (expected, said, at) = (from + count, at + count, at + count)
        }
        if said < new.count {
            append(UInt64(new.count - said), to: &script)
            script += new[said...]
        }
        return script
    }

    /// - Throws: `bad-delta` for whatever ``make(from:to:)`` does not write for these old bytes; `too-large`.
    static func apply(_ script: [UInt8], to old: [UInt8], limit: Int) throws(TileBodiesError) -> [UInt8] {
        var at = 0
        let length = try number(script, &at)
        guard length <= UInt64(limit) else {
            throw TileBodiesError(.tooLarge, "a delta makes \(length) bytes; the limit is \(limit)")
        }
        var result: [UInt8] = []
        result.reserveCapacity(Int(min(length, UInt64(script.count + old.count))))
        var expected = 0
        while UInt64(result.count) < length {
            let fresh = try number(script, &at)
            guard fresh <= UInt64(script.count - at), fresh <= length - UInt64(result.count) else { throw damaged() }
            result += script[at..<at + Int(fresh)]
            at += Int(fresh)
            if UInt64(result.count) == length { break }
            let count = try number(script, &at)
            let step = try number(script, &at)
            let (from, overflow) = expected.addingReportingOverflow(unzigzag(step))
            guard !overflow, from >= 0, from <= old.count, count > 0, count <= UInt64(old.count - from),
                count <= length - UInt64(result.count)
            else { throw damaged() }
            result += old[from..<from + Int(count)]
            expected = from + Int(count)
        }
        guard at == script.count else { throw damaged() }
        return result
    }

    private static func damaged() -> TileBodiesError {
        TileBodiesError(.badDelta, "a delta does not fit the old body, or is damaged")
    }

    private static func number(_ script: [UInt8], _ at: inout Int) throws(TileBodiesError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard at < script.count else { throw damaged() }
            let byte = script[at]
            at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw damaged()
    }

    private static func append(_ value: UInt64, to script: inout [UInt8]) {
        var value = value
        while value > 0x7F {
            script.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        script.append(UInt8(value))
    }

    private static func zigzag(_ value: Int) -> UInt64 { UInt64(bitPattern: Int64(value) << 1 ^ Int64(value) >> 63) }

    private static func unzigzag(_ value: UInt64) -> Int { Int(value >> 1) ^ -Int(value & 1) }

    private static func agree(_ old: [UInt8], at from: Int, with new: [UInt8], at: Int) -> Bool {
        (0..<window).allSatisfy { old[from + $0] == new[at + $0] }
    }

    private static func slot(_ bytes: [UInt8], at: Int, bits: Int) -> Int {
        var word: UInt64 = 0
        for offset in 0..<window { word = word << 8 | UInt64(bytes[at + offset]) }
        return Int((word &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits))
    }
}
