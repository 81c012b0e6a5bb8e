internal import ClusterClient
internal import Errors
internal import HummingbirdCore
internal import Tilesets
internal import WebRequests
internal import Wire

/// Answers how large a map will be, from a few tiles of its server.
///
/// It answers 200 also when nothing could be sampled: the page shows the reason, and a browser would report a refused request.
enum SampleResponder {
    private struct View: Encodable, Sendable {
        let tiles: UInt64
        /// 0 when nothing was sampled.
        let sampled: Int
        let bytes: UInt64?
        let margin: UInt64?
        let files: [MapSample.File]
        let seconds: Double?
        /// Why nothing was sampled.
        let reason: String?
        /// Seconds after which asking again may help.
        let retryAfter: Int?
    }

    static func sample(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let services = routed.services
        let wish = try await ExtractWish.read(routed)
        guard let sampler = services.sampler else {
            return none(wish, "This gateway asks no tile server.", mayAskAgain: false)
        }
        let key = "\(wish.id) \(wish.zooms)"
        let question = MapSample.Question(
            tileset: wish.tileset, mask: wish.mask, zooms: wish.zooms, formats: wish.formats, count: MapSampler.count)
        let caller = routed.caller
        let outcome = await sampler.outcome(key, question) {
            do throws(Problem) {
                try services.access.checkRate(caller, .samples)
                return try await busy(services)
            } catch { return error.detail }
        }
        switch outcome {
        case .none(let reason, let mayAskAgain): return none(wish, reason, mayAskAgain: mayAskAgain)
        case .sample(let found):
            return APIResponder.json(
                View(
                    tiles: wish.count, sampled: found.sampled, bytes: found.bytes, margin: found.margin,
                    files: found.files, seconds: found.seconds, reason: nil, retryAfter: nil))
        }
    }

    /// The limits of a tile server hold for the whole cluster, and a job of any tileset may use the same server: a sample is no second
    /// program beside a job.
    ///
    /// A paused job fetches until its leases have ended.
    private static func busy(_ services: GatewayServices) async throws(Problem) -> String? {
        let jobs = try await services.cluster.ask { client in
            try await client.jobs(PBListJobs.make { $0.states = ["fetching"] }, limit: 2_000).jobs
        }
        return jobs.contains { $0.priority >= 0 || $0.batchesLeased > 0 } ? "A job fetches tiles now." : nil
    }

    private static func none(_ wish: ExtractWish, _ reason: String, mayAskAgain: Bool) -> Response {
        APIResponder.json(
            View(
                tiles: wish.count, sampled: 0, bytes: nil, margin: nil, files: [], seconds: nil, reason: reason,
                retryAfter: mayAskAgain ? 3 : nil))
    }
}
