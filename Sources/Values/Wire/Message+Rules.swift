// The rules that no option of packhorse.proto can express: relations between fields, ranges and names. The generated
// `checkFields()` calls them for each message with the option `has_rules`, after the checks of its single fields.
internal import Tiles

extension PBHello {
    func checkRules() throws(WireError) { try WireCheck.formats(exports) }
}

extension PBReady {
    func checkRules() throws(WireError) {
        for number in [credit, mergeCredit] { try WireCheck.count(Int(number), atMost: 4096, "credits") }
    }
}

extension PBHeldShare {
    func checkRules() throws(WireError) { try WireCheck.rates([perSecond, burst], of: "a held share") }
}

extension PBRateGrant {
    func checkRules() throws(WireError) { try WireCheck.rates([perSecond, burst, bytesPerSecond], of: origin) }
}

extension PBOriginLimit {
    func checkRules() throws(WireError) { try WireCheck.rates([perSecond, bytesPerSecond], of: origin) }
}

extension PBChunk {
    func checkRules() throws(WireError) {
        try WireCheck.count(data.count, atMost: MessageType.maxChunkBytes, "bytes")
        guard !offset.addingReportingOverflow(UInt64(data.count)).overflow else {
            throw WireError(.badValue, "The chunk's end is beyond the largest file size.")
        }
    }
}

extension PBCommit {
    func checkRules() throws(WireError) {
        guard result != nil else { throw WireError(.badValue, "The commit has no result.") }
    }
}

extension PBFetchResult {
    func checkRules() throws(WireError) {
        let settled = stored.addingReportingOverflow(empty)
        guard !settled.overflow, !settled.partialValue.addingReportingOverflow(failed).overflow,
            failed >= UInt64(failures.count)
        else { throw WireError(.badValue, "The commit's tile counts do not add up.") }
        guard hasParts else { return }
        let count = parts.cells.count
        guard settled.partialValue == 0, failed == 0, parts.zoomMin.count == count, parts.zoomMax.count == count,
            parts.tiles.count == count
        else { throw WireError(.badValue, "The commit's plan has tiles, or lists of different lengths.") }
    }
}

extension PBMergeResult {
    func checkRules() throws(WireError) {
        let isInParts = files.contains { $0.part > 0 }
        guard isInParts else { return try WireCheck.formats(files.map(\.format)) }
        var (number, first): (UInt32, UInt64?) = (0, nil)
        for part in files.chunked() {
            let begin = part[0]
            number += 1
            guard begin.part == number, begin.firstTile > first ?? 0 || first == nil,
                let tile = TileID(hilbertID: begin.firstTile), begin.commonZooms <= tile.zoom,
                tile.zoom == TileID(hilbertID: files[0].firstTile)?.zoom,
                part.allSatisfy({ $0.firstTile == begin.firstTile && $0.commonZooms == files[0].commonZooms })
            else { throw WireError(.badValue, "The parts of the package are not runs that follow one another.") }
            try WireCheck.formats(part.map(\.format))
            first = begin.firstTile
        }
    }
}

extension [PBPackageFile] {
    /// The files of each part, as they follow one another.
    fileprivate func chunked() -> [[PBPackageFile]] {
        var chunks: [[PBPackageFile]] = []
        for file in self {
            if chunks.last?.first?.part == file.part {
                chunks[chunks.count - 1].append(file)
            } else {
                chunks.append([file])
            }
        }
        return chunks
    }
}

extension PBTileFailure {
    func checkRules() throws(WireError) { try WireCheck.tile(tile) }
}

extension PBOffer {
    func checkRules() throws(WireError) {
        guard work != nil else { throw WireError(.badValue, "The offer has no work.") }
    }
}

extension PBFetchWork {
    func checkRules() throws(WireError) {
        try WireCheck.tile(cell)
        try WireCheck.zooms(zoomMin, zoomMax)
        guard zoomMax >= cell.zoom else {
            throw WireError(
                .badValue,
                "The offer's zooms \(zoomMin) to \(zoomMax) end above its cell \(cell.zoom)/\(cell.x)/\(cell.y).")
        }
        guard hasPart else { return }
        try WireCheck.tile(part.cell)
        try WireCheck.zooms(part.zoomMin, part.zoomMax)
        let end = UInt64(part.first).addingReportingOverflow(tiles)
        guard !toPlan, part.zoomMax >= part.cell.zoom, !end.overflow, end.partialValue <= part.tiles else {
            throw WireError(.badValue, "The offer's part is not within its plan.")
        }
    }
}

extension PBSubmit {
    func checkRules() throws(WireError) {
        try WireCheck.zooms(zoomMin, zoomMax)
        guard (0...1).contains(allowedMissing) else {
            throw WireError(.badValue, "The allowed share of missing tiles is \(allowedMissing), not 0 to 1.")
        }
        guard tileset.count <= MessageType.maxTilesetBytes else {
            throw WireError(
                .tooLarge,
                "The tileset's description has \(tileset.count) bytes; the limit is \(MessageType.maxTilesetBytes),"
                    + " because every offer contains it. Shorten its vector_layers.")
        }
        try WireCheck.formats(formats)
    }
}

extension PBPublishOptions {
    func checkRules() throws(WireError) { try WireCheck.edition(edition) }
}

extension PBPackageRequest {
    func checkRules() throws(WireError) {
        try WireCheck.formats(formats)
        guard !hasBounds || bounds.isFinite else {
            throw WireError(.badValue, "The bounds of package '\(id.prefix(80))' are not finite numbers.")
        }
    }
}
