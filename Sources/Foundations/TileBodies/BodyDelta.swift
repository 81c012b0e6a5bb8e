public import Errors
internal import TextFormats

/// A delta between two versions of a tile's body, computed on unpacked bytes, so that a small change of the map gives a
/// small delta.
///
/// A delta is one byte for the packing of the new body, the gzip header if the packing does not determine it, and the
/// gzipped copy script between the raw bytes. A delta exists only if packing the raw bytes again gives exactly the same
/// body; this is tested when it is made. A program that applies it needs a zlib or libdeflate that compresses in the
/// same way, and compares hashes.
public struct BodyDelta {
    /// The packing that matched last is tried first: one server packs all its tiles in the same way.
    private var likely = Packing.own

    /// Makes deltas for one package.
    public init() {}

    /// The delta; `nil` if it is not smaller than the new body, or cannot reproduce it exactly.
    public mutating func make(from old: [UInt8], to new: [UInt8]) -> [UInt8]? {
        let raw = Self.unpacked(new)
        guard raw.count <= Gzip.defaultLimit, let packing = identify(new, raw: raw) else { return nil }
        let delta =
            [packing.rawValue] + new.prefix(packing.told)
            + Gzip.compress(CopyScript.make(from: Self.unpacked(old), to: raw))
        guard delta.count < new.count else { return nil }
        // The proof: applies the delta as a client does.
        do throws(TileBodiesError) {
            return try Self.apply(delta, to: old) == new ? delta : nil
        } catch {
            return nil
        }
    }

    /// The new body.
    ///
    /// Safe on hostile bytes.
    ///
    /// - Throws: ``TileBodiesError`` `bad-delta`, `bad-coding`, `too-large`.
    public static func apply(_ delta: [UInt8], to old: [UInt8]) throws(TileBodiesError) -> [UInt8] {
        guard let first = delta.first, let packing = Packing(rawValue: first), delta.count > packing.told else {
            throw TileBodiesError(
                .badDelta, "a delta of \(Units.count(delta.count, of: "byte")) begins with an unknown packing")
        }
        let header = Array(delta[1..<1 + packing.told])
        let script = try Gzip.decompress(Array(delta[(1 + packing.told)...]))
        let raw = try CopyScript.apply(script, to: unpacked(old), limit: Gzip.defaultLimit)
        guard let body = packing.pack(raw, header: header) else {
            throw TileBodiesError(.badDelta, "zlib cannot pack \(raw.count) bytes")
        }
        return body
    }

    /// The raw bytes of a body that is one gzip stream, and any other body as it is.
    private static func unpacked(_ body: [UInt8]) -> [UInt8] {
        guard Gzip.isGzip(body) else { return body }
        do throws(TileBodiesError) { return try Gzip.decompress(body) } catch { return body }
    }

    private mutating func identify(_ body: [UInt8], raw: [UInt8]) -> Packing? {
        guard Gzip.isGzip(body), raw != body else { return .stored }
        let header = Array(body.prefix(Packing.header))
        for packing in [likely] + Packing.allCases.filter({ $0 != likely && $0 != .stored }) {
            if packing.pack(raw, header: header) == body {
                likely = packing
                return packing
            }
        }
        return nil
    }
}
