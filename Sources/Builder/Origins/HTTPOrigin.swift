import Errors
import TileBodies
import Tiles
import Tilesets
import Transfer

/// Tiles from an HTTP server.
final class HTTPOrigin: TileOrigin {
    /// How many times a body that is not a whole tile is fetched again.
    static let maxRefetches = 2
    private let client: TransferClient
    private let judge: ResponseJudge
    private let checkPool: BodyCheckPool
    private let templates: [URLTemplate]
    private let language: String?
    private let key: String?
    private let window: Int
    private let first = FirstAnswers()

    init(
        _ tileset: Tileset, environment: [String: String], budget: OriginBudget?, lanes: Int, layers: LayerCache?,
        onAnswer: (@Sendable (Duration) -> Void)? = nil
    ) throws(OriginsError) {
        do throws(TilesetsError) {
            templates = try tileset.templates()
            key = try tileset.key(environment: environment)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        guard !templates.isEmpty else {
            throw OriginsError(.tileset, "Tileset '\(tileset.id)' has no tile URL.")
        }
        client = try TransferClient.open(
            tileset, environment: environment, budget: budget, onAnswer: onAnswer)
        judge = ResponseJudge(format: tileset.format, emptyStatuses: Set(tileset.emptyStatuses ?? []))
        checkPool = BodyCheckPool(
            lanes: lanes, limit: max(64 << 20, tileset.maxTileBytes), tileset, layers: layers,
            takesAnyPicture: tileset.mixesPictures ?? false)
        language = tileset.language
        window = min(1_024, max(64, tileset.politeness.concurrency * 8))
    }

    func trust() { first.trust() }

    /// - Throws: ``OriginsError`` `.allRefused`.
    func fetch(
        _ tiles: any Sequence<TileID> & Sendable, known: [TileID: TileValidators], failedBefore: Bool,
        deliver: @Sendable ([FetchedTile]) async throws -> Void
    ) async throws {
        try first.check()
        let download = client.download()
        defer { download.cancel() }
        var iterator = tiles.makeIterator()
        var underWay = 0
        var earlier: [TileID: ResponseJudge.Earlier] = [:]
        var again: [TransferRequest] = []
        var isExhausted = false
        while true {
            try Task.checkCancellation()
            var requests = again
            let isWatched = !first.isProven
            let window = isWatched ? min(window, FirstAnswers.window) : window
            while !isExhausted, underWay + requests.count < window {
                guard let tile = iterator.next() else {
                    isExhausted = true
                    break
                }
                requests.append(request(for: tile, known[tile], failedBefore))
            }
            underWay += requests.count
            download.submit(requests)
            let results = await download.next(wanted: min(64, window / 2))
            try Task.checkCancellation()
            if results.isEmpty { return }
            underWay -= results.count
            let before = earlier
            let judgements = await checkPool.run { [judge] checker in
                results.map { judge.judge($0, earlier: before, known: known, isWatched: isWatched, checker) }
            }
            again = []
            var settled: [FetchedTile] = []
            for judgement in judgements {
                switch judgement.verdict {
                case .settled(let tile):
                    settled.append(tile)
                    if !earlier.isEmpty { earlier[tile.tile] = nil }
                case .again(let tile, let state):
                    earlier[tile] = state
                    again.append(request(for: tile, state.isUnconditional ? nil : known[tile], failedBefore))
                case .unknown: break
                }
            }
            if isWatched { try first.add(judgements.map { ($0.evidence, $0.status) }) }
            if !settled.isEmpty { try await deliver(settled) }
        }
    }

    private func request(for tile: TileID, _ known: TileValidators?, _ failedBefore: Bool) -> TransferRequest {
        let template = templates[(tile.x + tile.y + tile.zoom) % templates.count]
        var request = TransferRequest(
            tag: tile.hilbertID, url: template.expand(tile, language: language, key: key),
            headers: known?.headers ?? [])
        request.hasFailedBefore = failedBefore
        return request
    }
}
