internal import Digests
internal import Files
internal import Wire

/// The cells of a job as bytes, `application/vnd.packhorse.coverage`: docs/formats/coverage.md.
enum CoverageDocument {
    static let mediaType = "application/vnd.packhorse.coverage"

    /// Numbers are little-endian.
    static func encode(_ coverage: PBCoverage) -> [UInt8] {
        var bands: [UInt8] = []
        for band in coverage.bands {
            for value in [band.zoomMin, band.zoomMax, band.cellZoom, band.shift] {
                bands.append(UInt8(clamping: value))
            }
            append(band.x, 4, to: &bands)
            append(band.y, 4, to: &bands)
            append(band.width, 2, to: &bands)
            append(band.height, 2, to: &bands)
            bands += band.cells
        }
        // The first bytes of the digest: another number for other cells.
        return Array("PHC1".utf8) + [UInt8(clamping: coverage.bands.count)] + Digest(of: bands).bytes.prefix(8) + bands
    }

    private static func append(_ value: UInt32, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * index))) }
    }
}
