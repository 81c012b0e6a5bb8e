internal import CatalogFormat
internal import ClusterClient
internal import Errors
internal import Foundation
internal import Logging
internal import Packages
internal import Telemetry
internal import Tiles
internal import Tilesets
internal import Wire

/// The shell around ``HeldExtracts``: submits jobs, watches them and the catalog, and wakes those who wait.
actor ExtractService {
    /// What happens to a waiting request.
    enum Signal: Sendable {
        case byte
        case serve
        case refuse(HeldExtracts.Refusal)
        case cut
    }

    /// A package that can be built on request.
    struct Extract: Sendable {
        let id: String
        let tileset: Tileset
        let mask: TileMask
        /// What people call it; `nil` = its id.
        var name: String?
        var formats: [PackageFormat] = [.mbtiles]
    }

    /// What the coordinator last said of the job that builds a package.
    struct Progress: Sendable {
        let tiles: UInt64
        /// Of them those that need no more work; 0...`tiles`.
        let settled: UInt64
        /// Why it makes no progress now; empty while it does.
        let waiting: String
    }

    private let services: GatewayServices
    private var held: HeldExtracts
    private var requests: [UInt64: AsyncStream<Signal>.Continuation] = [:]
    private var extracts: [String: Extract] = [:]
    /// When each build began, and why the last ones failed; the newest ``maxEnds``.
    private var began: [String: ContinuousClock.Instant] = [:]
    private(set) var ends: [String: String] = [:]
    /// By package, while its job runs.
    private(set) var progress: [String: Progress] = [:]
    private var next: UInt64 = 0
    private let start = ContinuousClock.now
    private static let maxEnds = 1_000

    init(_ services: GatewayServices, rules: ExtractRules = ExtractRules()) {
        self.services = services
        held = HeldExtracts(rules)
    }

    private var now: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// How many requests are held.
    var heldCount: Int { held.heldCount }

    /// The jobs that are running, by package.
    var jobs: [String: UInt64] { held.jobs }

    /// Whether a package is being built.
    func isBuilding(_ id: String) -> Bool { held.isBuilding(id) }

    /// Requests a package that is not published.
    ///
    /// - Returns: What happens; the stream ends after `serve`, `refuse` or `cut`.
    func request(_ extract: Extract, _ client: RateBuckets.Client, isRanged: Bool) -> (UInt64, AsyncStream<Signal>) {
        next += 1
        let request = next
        let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
        // A caller that drops the stream does not wait any more.
        continuation.onTermination = { [weak self] reason in
            guard case .cancelled = reason else { return }
            Task { await self?.cancel(request) }
        }
        requests[request] = continuation
        extracts[extract.id] = extract
        ends[extract.id] = nil
        apply(held.handle(.asked(request, extract.id, client, isRanged: isRanged), now: now))
        return (request, stream)
    }

    /// The client has gone.
    func cancel(_ request: UInt64) {
        requests.removeValue(forKey: request)?.finish()
        apply(held.handle(.left(request), now: now))
    }

    /// Compares the requests with the clock, the catalog and the jobs.
    func refresh() async {
        apply(held.handle(.tick, now: now))
        guard !held.jobs.isEmpty else { return }
        for (id, job) in held.jobs.sorted(by: { $0.key < $1.key }) {
            if isPublished(id) {
                finish(id)
                continue
            }
            // An answer that does not come is asked for again at the next call.
            guard
                let view = try? await services.cluster.read(
                    "job \(job) 0", { try await $0.job(job, failures: 0) })
            else { continue }
            guard view.isOver else {
                progress[id] = Progress(tiles: view.tiles, settled: view.settled, waiting: view.waiting)
                continue
            }
            // The package is put into the catalog before its job ends; so a list that is read now has it.
            await services.watch.refresh()
            if isPublished(id) {
                finish(id)
            } else {
                fail(id, view.reason.isEmpty ? "the job is \(view.state)" : view.reason)
            }
        }
    }

    private func isPublished(_ id: String) -> Bool {
        services.watch.current.snapshot?.maps.versions(.newest(id: id), edition: ExtractName.edition).isEmpty == false
    }

    private func finish(_ id: String) {
        progress[id] = nil
        if let since = began.removeValue(forKey: id) {
            services.metrics.extract(.built, seconds: (ContinuousClock.now - since) / .seconds(1))
        }
        extracts[id] = nil
        apply(held.handle(.published(id), now: now))
    }

    private func fail(_ id: String, _ reason: String) {
        began[id] = nil
        progress[id] = nil
        extracts[id] = nil
        if ends.count >= Self.maxEnds { ends.removeAll() }
        ends[id] = reason
        services.metrics.extract(.failed, seconds: nil)
        services.logger.warning(
            "Extract failed", metadata: [LogKey.package: "\(id)", LogKey.errorMessage: "\(reason)"])
        apply(held.handle(.failed(id, reason: reason), now: now))
    }

    private func apply(_ effects: [HeldExtracts.Effect]) {
        for effect in effects {
            switch effect {
            case .submit(let id): submit(id)
            case .sendByte(let request): requests[request]?.yield(.byte)
            case .serve(let request, _): end(request, .serve)
            case .refuse(let request, let refusal):
                if refusal == .late { services.metrics.extract(.gaveUp, seconds: nil) }
                end(request, .refuse(refusal))
            case .cut(let request): end(request, .cut)
            }
        }
    }

    private func end(_ request: UInt64, _ signal: Signal) {
        guard let continuation = requests.removeValue(forKey: request) else { return }
        continuation.yield(signal)
        continuation.finish()
    }

    private func submit(_ id: String) {
        guard let extract = extracts[id] else { return }
        // The task ends with the answer, in three seconds at the latest.
        Task {
            // Its job may have ended since the catalog was last looked at, also one of another gateway; a second job
            // would make a second version.
            await services.watch.refresh()
            guard !isPublished(id) else {
                finish(id)
                return
            }
            began[id] = .now
            let event: HeldExtracts.Event
            do throws(Problem) {
                let job = try await send(extract)
                event = .submitted(id, job: job)
            } catch {
                began[id] = nil
                event = .notSubmitted(
                    id,
                    error.code == .coordinatorAway ? .away : .refused(code: error.code.rawValue, error.detail))
            }
            apply(held.handle(event, now: now))
        }
    }

    private func send(_ extract: Extract) async throws(Problem) -> UInt64 {
        var area = try AreaRequest.area(extract.mask, id: extract.id, label: "extract")
        if let name = extract.name { area = area.renamed(names: ["en": name]) }
        let request: PBSubmit
        do {
            guard let zooms = ZoomRange(min: 0, max: extract.mask.maxZoom)?.intersection(extract.tileset.zooms) else {
                throw Problem(.wrongRequest, "The mask has no zoom of the tileset.")
            }
            var draft = try JobDraft(
                areas: [area], zooms: zooms, tileset: extract.tileset, label: "extract \(extract.name ?? extract.id)")
            draft.formats = extract.formats
            draft.publish.edition = PBEdition(group: ExtractName.group, language: "")
            // Without a request id the coordinator joins it with an unfinished job for the same package, as another gateway
            // may have submitted one at the same time.
            // The gateway has its own limit, which may be higher than that of the coordinator for boxes.
            let tiles = extract.mask.count(in: zooms)
            request = draft.request(SubmitPolicy(requestID: "", tileLimit: tiles, priority: 10))
        } catch let error as Problem { throw error } catch {
            throw Problem(.wrongRequest, (error as? any CodedError)?.message ?? "\(error)")
        }
        return try await services.cluster.ask { try await $0.submit(request).job }
    }
}
