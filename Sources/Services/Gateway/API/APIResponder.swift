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
enum APIResponder {
    // MARK: - Jobs

    private struct PackageList: Encodable { let packages: [PBPackageStatus] }
    private struct FailureList: Encodable { let failures: [PBTileFailure] }

    static func job(_ routed: RoutedRequest) async throws(Problem) -> Response { json(try await view(routed)) }

    static func jobPackages(_ routed: RoutedRequest) async throws(Problem) -> Response {
        json(PackageList(packages: try await view(routed).packages))
    }

    static func jobFailures(_ routed: RoutedRequest) async throws(Problem) -> Response {
        json(FailureList(failures: try await view(routed, failures: 10_000).failures))
    }

    private static func view(_ routed: RoutedRequest, failures: UInt32 = 100) async throws(Problem) -> PBJobStatus {
        let number = try routed.job
        return try await routed.services.cluster.read("job \(number) \(failures)") {
            try await $0.job(number, failures: failures).withoutPaths
        }
    }

    static func coverage(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let number = try routed.job
        let size = UInt32(try routed.number("size", 1...512) ?? 512)
        let document = try await routed.services.cluster.read("coverage \(number) \(size)") { client in
            ServedDocument(
                CoverageDocument.encode(try await client.coverage(number, size: size)),
                mediaType: CoverageDocument.mediaType)
        }
        return try DocumentResponder.respond(document, to: routed.request)
    }

    static func jobs(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let path = routed.path
        let limit = try routed.number("limit", 1...1_000) ?? 100
        let before = try routed.number("before", 1...Int.max)
        let (state, label) = (path.parameter("state"), path.parameter("label"))
        let known = ["fetching", "merging", "publishing", "done", "failed", "cancelled", "paused"]
        if let state, !known.contains(state) {
            throw Problem(.badParameter, "state is one of \(known.joined(separator: ", ")).")
        }
        let key = "jobs \(state ?? "") \(before ?? 0) \(limit) \(label ?? "")"
        let found = try await routed.services.cluster.read(key) { client in
            let question = PBListJobs.make {
                $0.before = UInt64(before ?? 0)
                $0.states = state.map { [$0] } ?? []
                $0.label = label ?? ""
            }
            let page = try await client.jobs(question, limit: limit)
            return JobPage(jobs: page.jobs.map(\.withoutPaths), next: page.next)
        }
        var response = json(found)
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

    static func failed(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let job = try routed.number("job", 1...Int.max) ?? 0
        let after = try routed.number("after", 0...Int.max) ?? 0
        let limit = try routed.number("limit", 1...1_000) ?? 100
        struct Page: Encodable, Sendable {
            let batches: [PBFailedBatch]
            /// `after` of the next page; absent on the last one.
            let next: UInt64?
        }
        let page = try await routed.services.cluster.read("failed \(job) \(after) \(limit)") { client in
            let answer = try await client.failedWork(
                .make {
                    $0.job = UInt64(job)
                    $0.after = UInt64(after)
                    $0.limit = UInt32(limit)
                })
            let last = answer.batches.last.map { $0.job << 32 | ($0.batch + 1) }
            return Page(batches: answer.batches, next: answer.more ? last : nil)
        }
        return json(page)
    }

    // MARK: - Others

    static func status(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let services = routed.services
        struct Status: Encodable, Sendable {
            let version = ProgramVersion.current
            let coordinator: PBHealth?
            let openJobs: Int?
            let workers: Int?
            let catalogSequence: Int64?
            let packages: Int
            let missingTilesets: [String]
        }
        let index = services.watch.current.snapshot?.index
        guard services.link != nil else {
            return json(
                Status(
                    coordinator: nil, openJobs: nil, workers: nil, catalogSequence: index?.sequence,
                    packages: index?.packages.count ?? 0, missingTilesets: services.tilesets.missing))
        }
        let health = try await services.cluster.read("health") { try await $0.health() }
        let workers = try await services.cluster.read("workers") { try await $0.workers() }
        let open = try await services.cluster.read("open jobs") { client in
            try await client.jobs(
                PBListJobs.make { $0.states = ["fetching", "merging", "publishing", "paused"] }, limit: 2_000
            ).jobs.count
        }
        return json(
            Status(
                coordinator: health, openJobs: open, workers: workers.count, catalogSequence: index?.sequence,
                packages: index?.packages.count ?? 0, missingTilesets: services.tilesets.missing))
    }

    static func schedules(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await list("schedules", routed) { try await $0.schedules() }
    }

    static func firings(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let id = routed["schedule"]
        return json(["firings": try await routed.services.cluster.ask { try await $0.schedule(id) }.firings])
    }

    static func workers(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await list("workers", routed) { try await $0.workers() }
    }

    static func origins(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await list("origins", routed) { try await $0.origins() }
    }

    private static func list<Item: Encodable & Sendable>(
        _ name: String, _ routed: RoutedRequest, _ body: @escaping @Sendable (ControlClient) async throws -> [Item]
    ) async throws(Problem) -> Response {
        json([name: try await routed.services.cluster.read(name, body)])
    }

    static func session(_ routed: RoutedRequest) -> Response {
        struct View: Encodable {
            /// Whether the catalog, its files, tiles and styles need a token.
            let isPrivate: Bool
            /// None without a token.
            let roles: [String]
        }
        return json(
            View(
                isPrivate: routed.services.options.isPrivate, roles: routed.caller.roles.map(\.rawValue).sorted()))
    }

    static func tilesets(_ routed: RoutedRequest) -> Response {
        let (services, caller) = (routed.services, routed.caller)
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
            /// The address of this server that `--public-url` names.
            let publicUrl: String?
        }
        let views = services.tilesets.all.filter { caller.mayUse(tileset: $0.id) }.map {
            View(
                id: $0.id, name: $0.name, format: $0.format.rawValue, minZoom: $0.zooms.min, maxZoom: $0.zooms.max,
                attribution: $0.attribution)
        }
        return json(
            Views(
                tilesets: views, missing: services.tilesets.missing, extractTiles: services.options.extractTiles,
                publicUrl: services.options.publicURL))
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
