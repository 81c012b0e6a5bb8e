internal import Errors
internal import Origins

/// Lists of the blocks of archives.
extension FuzzTarget {
    /// Reads a list as a whole and in pieces of seven bytes: the blocks are the same, and fill the bodies without gaps.
    static func blocks(_ bytes: [UInt8]) -> Verdict {
        guard bytes.count >= 8 else { return .refused("short") }
        let bodies = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[$1]) << (8 * UInt64($1)) }
        let list = Array(bytes.dropFirst(8))
        let (whole, pieces) = (read(list, bodies, piece: max(list.count, 1)), read(list, bodies, piece: 7))
        guard let whole else { return pieces == nil ? .refused("bad-archive") : .wrong("it is accepted in pieces") }
        guard whole == pieces else { return .wrong("other blocks in pieces") }
        var end: UInt64 = 0
        for block in whole {
            guard block.offset == end, block.length > 0 else { return .wrong("a gap") }
            end += block.length
        }
        return end == bodies ? .accepted : .wrong("not all bodies")
    }

    /// `nil` for a list that is refused.
    private static func read(_ list: [UInt8], _ bodies: UInt64, piece: Int) -> [BlockListReader.Block]? {
        do throws(OriginsError) {
            var reader = try BlockListReader(fileBytes: UInt64(list.count), bodyBytes: bodies)
            var blocks: [BlockListReader.Block] = []
            for start in stride(from: 0, to: list.count, by: piece) {
                blocks += try reader.take(Array(list[start..<min(start + piece, list.count)]))
            }
            try reader.finish()
            return blocks
        } catch {
            return nil
        }
    }
}
