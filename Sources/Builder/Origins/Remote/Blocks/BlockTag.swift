import PMTiles

/// The ETag that tiles of an archive with a list of blocks get: which bytes their body is, whatever build and address it has.
///
/// Two bodies with the same tag are the same bytes of a block with the same hash and length. So a kept tile is unchanged in a newer build
/// exactly when the tag that the newer list gives it is the one that it has.
extension RangePlan {
    /// The tag of a body; `nil` when no block has the whole of it.
    func tag(of place: Range<UInt64>) -> String? {
        guard let block = block(with: place) else { return nil }
        let digits = String(block.hash, radix: 16)
        let hash = String(repeating: "0", count: 16 - digits.count) + digits
        return "\"block-\(hash)-\(block.length)-\(place.lowerBound - block.offset)-\(place.count)\""
    }

    /// Whether each block that lies in a stretch of the file has the hash that the list says.
    ///
    /// - Parameters:
    ///   - bytes: Those of the stretch.
    ///   - start: Their place in the file.
    func agrees(with bytes: [UInt8], at start: UInt64) -> Bool {
        let end = start + UInt64(bytes.count)
        var index = firstBlock(from: start)
        while index < blocks.count, blocks[index].place.upperBound <= end {
            let first = Int(blocks[index].offset - start)
            guard XXH64.hash(bytes, in: first..<first + Int(blocks[index].length)) == blocks[index].hash else {
                return false
            }
            index += 1
        }
        return true
    }
}

/// Bytes of an archive are not those of its list of blocks: nothing that the list says counts from then on.
package struct RefutedBlocks: Error {
    /// In a line.
    package let note = BlockListNote.notUsed(BlockListNote.refuted)
}
