public import Errors

/// What turns one tile's body into its next version, unpacked, so that a small change of the map is a small change of bytes.
///
/// A delta is one byte that says how the new body is packed, its gzip header where the packer does not decide it, and the
/// gzipped copy script between the raw bytes. It exists only where packing the raw bytes again gives the very same body, so it
/// is tried when it is made. Whoever applies it needs a zlib or libdeflate that packs alike, and compares hashes.
public struct BodyDelta {
    /// The packing that fitted last is tried first: one server packs all its tiles alike.
    private var likely = Packing.own

    /// Makes deltas for one package.
    public init() {}

    /// The delta, `nil` where it is not smaller than the new body or cannot give it back exactly.
    public mutating func make(from old: [UInt8], to new: [UInt8]) -> [UInt8]? {
        let raw = Self.unpacked(new)
        guard raw.count <= Gzip.defaultLimit, let packing = identify(new, raw: raw) else { return nil }
        let delta =
            [packing.rawValue] + new.prefix(packing.told)
            + Gzip.compress(CopyScript.make(from: Self.unpacked(old), to: raw))
        guard delta.count < new.count else { return nil }
        // The proof, by the same way that a client goes.
        do throws(TileBodiesError) {
            return try Self.apply(delta, to: old) == new ? delta : nil
        } catch {
            return nil
        }
    }

    /// The new body.
    ///
    /// Total on hostile bytes.
    ///
    /// - Throws: ``TileBodiesError`` `bad-delta`, `bad-coding`, `too-large`.
    public static func apply(_ delta: [UInt8], to old: [UInt8]) throws(TileBodiesError) -> [UInt8] {
        guard let first = delta.first, let packing = Packing(rawValue: first), delta.count > packing.told else {
            throw TileBodiesError(.badDelta, "a delta of \(delta.count) bytes begins with no packing that is known")
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
