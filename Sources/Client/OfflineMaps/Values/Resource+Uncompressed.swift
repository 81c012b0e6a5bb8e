internal import Errors
public import Foundation
internal import PackageFiles
internal import TileBodies

extension Resource {
    /// The bytes without the coding that the store has, for a renderer that does not undo it.
    ///
    /// - Throws: `damaged` when the bytes cannot be unpacked, or have more than 64 MiB; then the store knows that the map is
    ///   damaged.
    public func uncompressed() throws(StoreError) -> Data { try coding.undone(in: body, reportDamage) }
}

extension Tile {
    /// The bytes without the coding that the store has, for a renderer that does not undo it.
    ///
    /// - Throws: `damaged` when the bytes cannot be unpacked, or have more than 64 MiB; then the store knows that the map is
    ///   damaged.
    public func uncompressed() throws(StoreError) -> Data { try coding.undone(in: body, reportDamage) }
}

extension Coding {
    /// Unpacks a body; at most ``ReadOnlyDatabase/maxBody`` bytes.
    fileprivate func undone(in body: Data, _ report: (@Sendable () -> Void)?) throws(StoreError) -> Data {
        guard self != .plain else { return body }
        do throws(TileBodiesError) {
            let coding: BodyCoding = self == .gzip ? .gzip : .deflate
            return Data(try coding.unpack([UInt8](body), limit: Int(ReadOnlyDatabase.maxBody)))
        } catch {
            report?()
            throw StoreError(
                .damaged, "The stored bytes cannot be unpacked: \(error.message).",
                advice: StoreError.adviceForDamage, cause: error)
        }
    }
}
