internal import CommandSupport
import Errors
import Origins
internal import TextFormats
import Tilesets

extension Estimate {
    /// Causes of invalid content: the server answers, but not with tiles of the tileset's format.
    private static let unusable: Set<FailureCause> = [
        .htmlPage, .serviceException, .rejectedBody, .wrongType, .truncated, .tooLarge, .badCoding, .badMVT, .badMLT,
        .badImage, .leftOut,
    ]

    /// Why a sample cannot be used: every tile of it failed, or no tile exists.
    ///
    /// - Parameter mayBeEmpty: Whether a sample in which no tile exists can be used.
    /// - Returns: An error of exit code 65 when the address answers, but not with tiles; 69 when it does not answer.
    static func refusal(
        _ sample: OriginSampler.Sample, of tileset: Tileset, mayBeEmpty: Bool
    ) -> CLIError? {
        let asked = sample.zooms.reduce(0) { $0 + $1.asked }
        let failed = sample.zooms.reduce(0) { $0 + $1.failed }
        let stored = sample.zooms.reduce(0) { $0 + $1.stored }
        guard asked > 0, stored == 0 else { return nil }
        let (count, place) = (Units.count(asked, of: "sampled tile"), "tileset '\(tileset.id)' (\(tileset.address))")
        guard failed > 0 else {
            guard !mayBeEmpty else { return nil }
            return CLIError(
                .badData,
                "\(place) has none of the \(count): each was answered with 'there is no tile' (HTTP 204, 404 or 410; no row in a file)",
                hint: "check the address, the zooms and the area, for example by fetching one tile with curl")
        }
        let causes = sample.zooms.reduce(into: Set<CauseCode>()) { $0.formUnion($1.causes.keys) }
        let isUnusable = causes.allSatisfy { unusable.contains($0.cause) }
        let empty = asked - failed > 0 ? ", the others do not exist" : ""
        return CLIError(
            isUnusable ? .badData : .unavailable,
            "\(failed == asked ? "every one" : Units.count(UInt64(failed))) of \(count) of \(place) failed\(empty): "
                + "\(causes.map(\.description).sorted().joined(separator: ", ")); \(sample.detail ?? "no details")",
            hint:
                "check the address and the key of the tileset and whether its server is running, for example by fetching one tile with curl"
        )
    }
}

extension Tileset {
    /// The location of the tiles, without secrets: the first template, or the file.
    fileprivate var address: String { source.addresses.first ?? "no address" }
}
