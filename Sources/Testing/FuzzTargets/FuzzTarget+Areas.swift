internal import AreaFiles
internal import Errors
internal import Tiles

/// Files with areas, as users bring them.
extension FuzzTarget {
    /// The formats by the first byte of an input; `?` is the one that the content has.
    private static let areaFormats: [UInt8: String] = [
        UInt8(ascii: "g"): "gpx", UInt8(ascii: "k"): "kml", UInt8(ascii: "z"): "kmz", UInt8(ascii: "p"): "poly",
        UInt8(ascii: "w"): "wkt", UInt8(ascii: "s"): "geojsonseq", UInt8(ascii: "j"): "geojson",
        UInt8(ascii: "c"): "points",
    ]

    /// A byte that selects the format, then the file: what comes in small pieces is the same as what comes at once.
    static func area(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let file = Array(bytes.dropFirst())
        do throws(AreaFileError) {
            guard let whole = try shape(file, first, pieces: max(1, file.count)) else { return .refused("selector") }
            let (mask, bounds) = (whole.mask(6), whole.bounds)
            guard let again = try? shape(file, first, pieces: 5), again.mask(6) == mask, again.bounds == bounds else {
                return .wrong("small pieces give another shape")
            }
            if whole.lines.positions < 200, let margin = try? Margin([.init(zoom: 0, meters: 20_000)]) {
                guard mask.subtracting(whole.mask(6, within: margin)).isEmpty else {
                    return .wrong("a margin takes tiles away")
                }
            }
            return .accepted
        } catch {
            return .refused("\(error.code)")
        }
    }

    /// - Returns: `nil` for an unknown selector.
    private static func shape(
        _ file: [UInt8], _ selector: UInt8, pieces: Int
    ) throws(AreaFileError) -> AreaShape? {
        var position = 0
        let input = AreaInput {
            defer { position = min(file.count, position + pieces) }
            return Array(file[position..<min(file.count, position + pieces)])
        }
        let format: AreaFormat
        if selector == UInt8(ascii: "?") {
            format = try AreaFormat(of: input)
            // What other programs read is refused before anything is read.
            guard !format.needsProgram else { return nil }
        } else {
            guard let kind = areaFormats[selector], let named = AreaFormat(kind: kind) else { return nil }
            format = named
        }
        return try format.read(input, .init(waypoints: true)).shape
    }
}
