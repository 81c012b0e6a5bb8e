internal import ClusterClient
internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Packages
internal import Tiles
internal import Tilesets
internal import WebRequests
internal import Wire

/// Submits jobs, and estimates them.
struct SubmitResponder: Sendable {
    let services: GatewayServices

    private struct Submission: Codable {
        let tileset: String
        let area: AreaRequest
        /// `0-14`; absent = the zooms of the tileset.
        let zooms: String?
        let label: String?
        let formats: [String]?
        let priority: Int32?
        let weight: UInt32?
        let after: [UInt64]?
        let tileLimit: UInt64?
        /// The name of the catalog; absent = the main one.
        let catalog: String?
        /// Whether all packages are published in one change; absent = each when it is ready.
        let together: Bool?
        /// What follows when the job is done: `push=/srv/www`, `prune=3`, `verify`, `promote=live`; absent = nothing.
        let then: [String]?
        /// Bytes: a package with a larger file is published in parts; absent = no limit.
        let maxFile: UInt64?
        /// Only workers with all of these labels work for it; absent = every worker.
        let labels: [String]?
    }

    private struct Submitted: Encodable, Sendable {
        /// Absent for an estimate.
        let job: UInt64?
        let tiles: UInt64
        let batches: UInt64
        let warnings: [String]
    }

    static func submit(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await SubmitResponder(services: routed.services).submit(routed, isEstimate: false)
    }

    static func estimate(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await SubmitResponder(services: routed.services).submit(routed, isEstimate: true)
    }

    static func schedule(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await SubmitResponder(services: routed.services).schedule(routed)
    }

    /// 201 with Location for a new job, 200 for one that exists already, and for an estimate.
    private func submit(_ routed: RoutedRequest, isEstimate: Bool) async throws(Problem) -> Response {
        let body = try await JSONBody.read(Submission.self, routed.request, most: 4 << 20)
        let draft = try self.draft(body, routed.caller)
        let key = try self.key(routed)
        let policy = Self.policy(body, requestID: key, isEstimate: isEstimate)
        let answer = try await services.cluster.ask { try await $0.submit(draft.request(policy)) }
        let view = Submitted(
            job: isEstimate ? nil : answer.job, tiles: answer.tiles, batches: answer.batches,
            warnings: draft.warnings + answer.warnings)
        guard !isEstimate else { return APIResponder.json(view) }
        var response = APIResponder.json(view, status: answer.existing ? .ok : .created)
        response.headers[.location] = "/v1/jobs/\(answer.job)"
        return response
    }

    private struct ScheduleRequest: Codable {
        /// `monthly 3 02:30`, `weekly mon 04:00 Europe/Tallinn`, `daily 01:00 jitter 30m`, `hourly 15`; UTC without a time zone.
        let every: String
        let submission: Submission
        /// `3,10m`; absent = a run that failed is not tried again.
        let retry: String?
    }

    private struct Ordered: Encodable, Sendable {
        let changed: UInt64
        let text: String
        let warnings: [String]
    }

    /// Adds a schedule, or replaces the one with this id.
    private func schedule(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let id = routed["schedule"]
        let body = try await JSONBody.read(ScheduleRequest.self, routed.request, most: 4 << 20)
        let draft = try self.draft(body.submission, routed.caller)
        let following = services.tilesets.following(body.submission.tileset)
        let policy = Self.policy(body.submission, requestID: "", isEstimate: false)
        let answer = try await services.cluster.ask { client in
            var draft = draft
            if following != nil { draft.sourceVersion = nil }
            var request = draft.request(policy)
            // The coordinator looks for the newest build at each firing.
            request.latest = following ?? ""
            let submission = try request.frame
            return try await client.putSchedule(
                .make {
                    $0.id = id
                    $0.every = body.every
                    $0.label = draft.label
                    $0.submission = Data(submission)
                    $0.retry = body.retry ?? ""
                })
        }
        return APIResponder.json(
            Ordered(changed: answer.changed, text: answer.text, warnings: draft.warnings + answer.warnings))
    }

    private static func policy(_ body: Submission, requestID: String, isEstimate: Bool) -> SubmitPolicy {
        SubmitPolicy(
            requestID: requestID, tileLimit: body.tileLimit ?? 0, priority: body.priority ?? 0, dryRun: isEstimate,
            weight: body.weight ?? 1, after: body.after ?? [], labels: body.labels ?? [])
    }

    private func draft(_ body: Submission, _ caller: Caller) throws(Problem) -> JobDraft {
        let tileset = try services.tilesets.find(body.tileset, for: caller)
        guard body.weight != 0 else { throw Problem(.wrongRequest, "'weight' is at least 1.") }
        let areas = try body.area.areas { () throws(Problem) in try services.world.tree() }
        do {
            let wanted = try body.zooms.map { try ZoomRange(parsing: $0) } ?? tileset.zooms
            guard let zooms = wanted.intersection(tileset.zooms) else {
                throw Problem(.wrongRequest, "The tileset has zooms \(tileset.zooms), not \(wanted).")
            }
            var draft = try JobDraft(areas: areas, zooms: zooms, tileset: tileset, label: body.label)
            draft.publish.catalog = body.catalog ?? ""
            draft.publish.together = body.together ?? false
            // Each once; clients of this interface always get MBTiles.
            let formats = Set(try (body.formats ?? []).map { try PackageFormat(parsing: $0) } + [.mbtiles])
            draft.formats = PackageFormat.allCases.filter(formats.contains)
            draft.publish.then = body.then ?? []
            draft.publish.maxFile = body.maxFile ?? 0
            return draft
        } catch let error as Problem { throw error } catch {
            throw Problem(.wrongRequest, (error as? any CodedError)?.message ?? "\(error)")
        }
    }

    /// The id of the request on the wire: the same key of one client is the same request.
    ///
    /// Empty without a key: then an unfinished job with exactly the same packages is joined, as with `packhorse submit`.
    private func key(_ routed: RoutedRequest) throws(Problem) -> String {
        guard let key = routed.request.headers.value(.idempotencyKey) else { return "" }
        let text = key.filter { $0 != "\"" }
        guard 1...100 ~= text.utf8.count, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Problem(.badParameter, "Idempotency-Key has 1 to 100 characters without spaces.")
        }
        return "http:\(routed.caller.token?.name ?? ""):\(text)"
    }
}
