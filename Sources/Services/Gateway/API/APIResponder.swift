internal import CatalogFormat
internal import ClusterClient
internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import TextFormats
internal import TileBodies
internal import Tiles
internal import Tilesets
internal import WebRequests
internal import Wire

/// Answers below `/v1`.
struct APIResponder: Sendable {
    let parts: GatewayParts

    func respond(_ exchange: Exchange) async throws(Problem) -> Response {
        switch exchange.endpoint {
        case .status: try await status()
        case .jobs: try await jobs(exchange)
        case .submit: try await SubmitResponder(parts: parts).submit(exchange, isEstimate: false)
        case .estimate: try await SubmitResponder(parts: parts).submit(exchange, isEstimate: true)
        case .job: try await job(exchange) { $0 }
        case .jobPackages: try await job(exchange) { PackageList(packages: $0.packages) }
        case .jobFailures: try await job(exchange, failures: 10_000) { FailureList(failures: $0.failures) }
        case .jobCoverage: try await coverage(exchange)
        case .schedulePut: try await SubmitResponder(parts: parts).schedule(exchange)
        case .jobOrder, .jobOrders, .failedOrder, .workerOrder, .backup, .scheduleDrop, .packageWithdrawal:
            try await OrderResponder(parts: parts).respond(exchange)
        case .failed: try await failed(exchange)
        case .schedules:
            try await list("schedules") { try await $0.schedules() }
        case .workers: try await list("workers") { try await $0.workers() }
        case .origins: try await list("origins") { try await $0.origins() }
        case .events: try await EventResponder(parts: parts).respond(exchange)
        case .tilesets: tilesets(for: exchange.caller)
        case .regions, .region: try RegionResponder(world: parts.world).respond(exchange)
        case .regionOutline: try await RegionResponder(world: parts.world).outline(exchange)
        case .packages, .package: try PackageResponder(parts: parts).respond(exchange)
        default: throw Problem(.internalError, "The endpoint '\(exchange.endpoint.rawValue)' has no handler.")
        }
    }

    // MARK: - Jobs

    private struct PackageList: Encodable { let packages: [PBPackageStatus] }
    private struct FailureList: Encodable { let failures: [PBTileFailure] }

    private func job(
        _ exchange: Exchange, failures: UInt32 = 100, _ part: (PBJobStatus) -> some Encodable
    ) async throws(Problem) -> Response {
        let number = try exchange.job
        let view = try await parts.cluster.read("job \(number) \(failures)") {
            try await $0.job(number, failures: failures).withoutPaths
        }
        return Self.json(part(view))
    }

    private func coverage(_ exchange: Exchange) async throws(Problem) -> Response {
        let number = try exchange.job
        let size = UInt32(try exchange.number("size", 1...512) ?? 512)
        let document = try await parts.cluster.read("coverage \(number) \(size)") { client in
            ServedDocument(
                CoverageDocument.encode(try await client.coverage(number, size: size)),
                mediaType: CoverageDocument.mediaType)
        }
        return try DocumentResponder.respond(document, to: exchange.request)
    }

    private func jobs(_ exchange: Exchange) async throws(Problem) -> Response {
        let path = exchange.path
        let limit = try exchange.number("limit", 1...1_000) ?? 100
        let before = try exchange.number("before", 1...Int.max)
        let (state, label) = (path.parameter("state"), path.parameter("label"))
        let known = ["fetching", "merging", "publishing", "done", "failed", "cancelled", "paused"]
        if let state, !known.contains(state) {
            throw Problem(.badParameter, "state is one of \(known.joined(separator: ", ")).")
        }
        let key = "jobs \(state ?? "") \(before ?? 0) \(limit) \(label ?? "")"
        let found = try await parts.cluster.read(key) { client in
            let question = PBListJobs.make {
                $0.before = UInt64(before ?? 0)
                $0.states = state.map { [$0] } ?? []
                $0.label = label ?? ""
            }
            let page = try await client.jobs(question, limit: limit)
            return JobPage(jobs: page.jobs.map(\.withoutPaths), next: page.next)
        }
        var response = Self.json(found)
        if found.next != 0 {
            let query = [state.map { "state=\($0)" }, "before=\(found.next)", "limit=\(limit)"].compactMap(\.self)
            response.headers.set(.link, "</v1/jobs?\(query.joined(separator: "&"))>; rel=\"next\"")
        }
        return response
    }

    private struct JobPage: Encodable, Sendable {
        let jobs: [PBJobStatus]
        /// `before` of the next page; 0 on the last one.
        let next: UInt64
    }

    private func failed(_ exchange: Exchange) async throws(Problem) -> Response {
        let job = try exchange.number("job", 1...Int.max) ?? 0
        let after = try exchange.number("after", 0...Int.max) ?? 0
        let limit = try exchange.number("limit", 1...1_000) ?? 100
        struct Page: Encodable, Sendable {
            let batches: [PBFailedBatch]
            /// `after` of the next page; absent on the last one.
            let next: UInt64?
        }
        let page = try await parts.cluster.read("failed \(job) \(after) \(limit)") { client in
            let answer = try await client.failedWork(
                .make {
                    $0.job = UInt64(job)
                    $0.after = UInt64(after)
                    $0.limit = UInt32(limit)
                })
            let last = answer.batches.last.map { $0.job << 32 | ($0.batch + 1) }
            return Page(batches: answer.batches, next: answer.more ? last : nil)
        }
        return Self.json(page)
    }

    // MARK: - Others

    private func status() async throws(Problem) -> Response {
        struct Status: Encodable, Sendable {
            let version = ProgramVersion.current
            let coordinator: PBHealth?
            let openJobs: Int?
            let workers: Int?
            let catalogSequence: Int64?
            let packages: Int
            let missingTilesets: [String]
        }
        let index = parts.watch.current.snapshot?.index
        guard parts.link != nil else {
            return Self.json(
                Status(
                    coordinator: nil, openJobs: nil, workers: nil, catalogSequence: index?.sequence,
                    packages: index?.packages.count ?? 0, missingTilesets: parts.tilesets.missing))
        }
        let health = try await parts.cluster.read("health") { try await $0.health() }
        let workers = try await parts.cluster.read("workers") { try await $0.workers() }
        let open = try await parts.cluster.read("open jobs") { client in
            try await client.jobs(
                PBListJobs.make { $0.states = ["fetching", "merging", "publishing", "paused"] }, limit: 2_000
            ).jobs.count
        }
        return Self.json(
            Status(
                coordinator: health, openJobs: open, workers: workers.count, catalogSequence: index?.sequence,
                packages: index?.packages.count ?? 0, missingTilesets: parts.tilesets.missing))
    }

    private func list<Item: Encodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (ControlClient) async throws -> [Item]
    ) async throws(Problem) -> Response {
        Self.json([name: try await parts.cluster.read(name, body)])
    }

    private func tilesets(for caller: Caller) -> Response {
        struct View: Encodable {
            let id: String
            let name: String?
            let format: String
            let minZoom: Int
            let maxZoom: Int
            let attribution: String?
        }
        struct Views: Encodable {
            let tilesets: [View]
            /// Why others cannot be submitted now.
            let missing: [String]
            /// The most tiles of an extract.
            let extractTiles: UInt64
        }
        let views = parts.tilesets.all.filter { caller.mayUse(tileset: $0.id) }.map {
            View(
                id: $0.id, name: $0.name, format: $0.format.rawValue, minZoom: $0.zooms.min, maxZoom: $0.zooms.max,
                attribution: $0.attribution)
        }
        return Self.json(
            Views(tilesets: views, missing: parts.tilesets.missing, extractTiles: parts.options.extractTiles))
    }

    /// A document with keys in snake case, as the commands print it.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // The views have finite numbers and text only, which can always be encoded.
        let bytes: [UInt8] = (try? encoder.encode(value)).map { [UInt8]($0) + [0x0A] } ?? []
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Exchange {
    /// The job of the path.
    var job: UInt64 {
        get throws(Problem) {
            guard let number = parameters["job"].flatMap({ UInt64($0) }), number > 0 else {
                throw Problem(.badParameter, "The number of a job is expected in the path.")
            }
            return number
        }
    }

    /// Refuses parameters that the table of routes does not name for the endpoint.
    func allowOnlyItsParameters() throws(Problem) {
        let names = RouteTable.rows.first { $0.endpoint == endpoint }?.query ?? []
        guard let other = path.parameters.first(where: { !names.contains($0.name) }) else { return }
        let known = names.isEmpty ? "there are none" : "it has \(names.joined(separator: ", "))"
        throw Problem(.badParameter, "The endpoint has no parameter '\(other.name.prefix(60))'; \(known).")
    }

    /// A number of the query.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = path.parameter(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(.badParameter, "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
