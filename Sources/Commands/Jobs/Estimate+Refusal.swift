import Errors
import Origins
import TileBodies
import Tilesets

extension Estimate {
    /// Causes that speak of what came: the server answers, and not with tiles of the tileset's format.
    private static let unusable = Set(
        [
            TileBodiesError.Code.htmlPage, .wrongType, .truncated, .tooLarge, .badCoding, .badMVT, .badPNG, .badJPEG,
            .badWebP,
        ]
        .map(\.description))

    /// Why a sample is worthless: every tile of it failed, or none is there.
    ///
    /// - Returns: An error of exit code 65 when the address answers, but not with tiles; 69 when it does not serve.
    static func refusal(_ sample: OriginSampler.Sample, of tileset: Tileset) -> CLIError? {
        let asked = sample.zooms.reduce(0) { $0 + $1.asked }
        let failed = sample.zooms.reduce(0) { $0 + $1.failed }
        let stored = sample.zooms.reduce(0) { $0 + $1.stored }
        guard asked > 0, stored == 0 else { return nil }
        let (count, place) = (Units.count(asked, of: "sampled tile"), "tileset '\(tileset.id)' (\(tileset.address))")
        guard failed > 0 else {
            return CLIError(
                .badData,
                "\(place) has none of the \(count): each was answered with 'there is no tile' (HTTP 204, 404 or 410; no row in a file)",
                hint: "check the address, the zooms and the area: fetch one tile of the area with curl")
        }
        let causes = sample.zooms.reduce(into: Set<String>()) { $0.formUnion($1.causes.keys) }
        let isUnusable = causes.isSubset(of: unusable)
        let empty = asked - failed > 0 ? ", the others are not there" : ""
        return CLIError(
            isUnusable ? .badData : .unavailable,
            "\(failed == asked ? "every one" : Units.count(UInt64(failed))) of \(count) of \(place) failed\(empty): "
                + "\(causes.sorted().joined(separator: ", ")); \(sample.detail ?? "no details")",
            hint: "check the address and the key of the tileset, and whether its server runs: fetch one tile with curl")
    }
}

extension Tileset {
    /// Where the tiles are, without secrets: the first template, or the file.
    fileprivate var address: String {
        switch source {
        case .http(let templates, _): templates.first ?? "no address"
        case .mbtiles(let path), .pmtiles(let path): path
        case .remotePMTiles(let url): url
        }
    }
}
