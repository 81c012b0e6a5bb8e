import Errors
import TileBodies
import Tiles
import Tilesets
import Transfer

/// Decides what an HTTP answer means for its tile.
struct ResponseJudge: Sendable {
    /// What earlier fetches of a tile cost.
    struct Earlier: Sendable {
        var fetches: Int
        var received: Int
        /// Whether the tile is requested unconditionally.
        var isUnconditional = false
    }

    /// What an answer means for its tile and for the server.
    struct Judgement: Sendable {
        let verdict: Verdict
        let evidence: FirstAnswers.Evidence
        let status: Int?
    }

    enum Verdict: Sendable {
        case settled(FetchedTile)
        /// The body was not a whole tile, or the answer is contradictory: fetch it again.
        case again(TileID, Earlier)
        /// A tag without a tile; cannot happen with our own requests.
        case unknown
    }

    let format: TileFormat
    /// Statuses of 400 to 499 that say that there is no tile.
    let emptyStatuses: Set<Int>

    /// - Parameters:
    ///   - known: What the requests were conditional on, by tile.
    ///   - isWatched: Whether it is asked what the answer says about the server.
    func judge(
        _ result: TransferResult, earlier: [TileID: Earlier], known: [TileID: TileValidators], isWatched: Bool,
        _ checker: BodyChecker
    ) -> Judgement {
        let verdict = verdict(result, earlier: earlier, known: known, checker)
        guard isWatched else { return Judgement(verdict: verdict, evidence: .none, status: nil) }
        switch (verdict, result.outcome) {
        case (.settled(let tile), let outcome):
            let answer = try? outcome.get()
            return Judgement(
                verdict: verdict, evidence: Self.evidence(of: tile.outcome, answer), status: answer?.status)
        case (.again, .success(let answer)) where answer.status == 200:
            // A body that is no tile, fetched again: a refusal like those that are settled.
            return Judgement(verdict: verdict, evidence: .refusal(Self.words(answer)), status: 200)
        case (.again, _), (.unknown, _): return Judgement(verdict: verdict, evidence: .none, status: nil)
        }
    }

    /// What the result for a tile says about the server.
    private static func evidence(
        of outcome: FetchedTile.Outcome, _ answer: TransferResponse?
    ) -> FirstAnswers.Evidence {
        guard case .failed(let cause, let detail) = outcome else { return .good }
        switch cause.cause.fault {
        case .tile, .job:
            guard let answer else { return .refusal(String(detail.prefix(80))) }
            return .refusal(words(answer))
        case .origin, .worker, .packhorse, .noFault: return .none
        }
    }

    /// An answer in words: `403 (text/html)`, `200: LayerNotDefined: …`.
    private static func words(_ answer: TransferResponse) -> String {
        if let message = message(of: answer) { return "\(answer.status): \(message.text)" }
        let type = answer.headers.mediaType ?? "no media type"
        return "\(answer.status) (\(type.prefix(40)))"
    }

    private func verdict(
        _ result: TransferResult, earlier: [TileID: Earlier], known: [TileID: TileValidators], _ checker: BodyChecker
    ) -> Verdict {
        guard let tile = TileID(hilbertID: result.tag) else { return .unknown }
        let before = earlier[tile] ?? Earlier(fetches: 0, received: 0)
        let response: TransferResponse
        switch result.outcome {
        case .failure(let error):
            // Transfer treats these as final; but a single occurrence is no proof of that.
            if [.tooLarge, .tooManyRedirects].contains(error.code), before.fetches < HTTPOrigin.maxRefetches {
                return .again(tile, before.next(received: before.received))
            }
            let outcome = FetchedTile.Outcome.failed(
                cause: CauseCode(FailureCause(error.code)), detail: error.message)
            return .settled(FetchedTile(tile: tile, outcome: outcome, received: before.received))
        case .success(let answer): response = answer
        }
        let received = before.received + response.received
        if response.status == 304, !before.isUnconditional, let asked = known[tile] {
            guard asked.agree(with: response.headers.etag) else {
                // "Not modified" with a different ETag is contradictory. An unconditional request cannot get that
                // answer again.
                var next = before.next(received: received)
                next.isUnconditional = true
                return .again(tile, next)
            }
            return .settled(FetchedTile(tile: tile, outcome: .unchanged, received: received))
        }
        if response.status == 200 {
            do throws(TileBodiesError) {
                let outcome = try checkBody(of: response, checker)
                return .settled(
                    FetchedTile(tile: tile, outcome: outcome, received: received, layers: checker.checkedLayers))
            } catch {
                let message = Self.message(of: response)
                if message?.meaning == .noTile {
                    return .settled(FetchedTile(tile: tile, outcome: .empty, received: received))
                }
                if before.fetches < HTTPOrigin.maxRefetches {
                    return .again(tile, before.next(received: received))
                }
                let detail =
                    "\(message.map { "the map service says \"\($0.text)\"" } ?? error.message), \(before.fetches + 1) times in a row"
                let cause = message == nil ? FailureCause(error.code) : .serviceException
                let outcome = FetchedTile.Outcome.failed(cause: CauseCode(cause), detail: detail)
                return .settled(FetchedTile(tile: tile, outcome: outcome, received: received))
            }
        }
        return .settled(FetchedTile(tile: tile, outcome: outcome(of: response), received: received))
    }

    private func checkBody(
        of response: TransferResponse, _ checker: BodyChecker
    ) throws(TileBodiesError) -> FetchedTile.Outcome {
        let coding: BodyCoding
        switch response.headers.codings {
        case []: coding = .identity
        case ["gzip"]: coding = .gzip
        case ["deflate"]: coding = .deflate
        case let others:
            return .failed(
                cause: CauseCode(.unsupportedCoding),
                detail:
                    "the server sent Content-Encoding '\(others.joined(separator: ", ").prefix(40))' although only gzip was offered"
            )
        }
        let body: [UInt8]
        do throws(TileBodiesError) {
            body = try checker.check(response.body, coding: coding, declared: format)
        } catch {
            guard error.code == .emptyBody else { throw error }
            return .empty
        }
        return .stored(
            body: body, etag: Self.short(response.headers.etag), lastModified: Self.short(response.headers.lastModified)
        )
    }

    private func outcome(of response: TransferResponse) -> FetchedTile.Outcome {
        let message = Self.message(of: response)
        let said = message.map { ": the map service says \"\($0.text)\"" } ?? ""
        switch response.status {
        case let status where emptyStatuses.contains(status): return .empty
        case _ where message?.meaning == .noTile: return .empty
        case 204, 404, 410:
            // A service that does not know the layer has no tile of it either, but that is no sea.
            guard message?.meaning == .wrongRequest else { return .empty }
            return .failed(
                cause: CauseCode(.serviceException), detail: "the server answered \(response.status)\(said)")
        case 401, 403, 407:
            return .failed(
                cause: CauseCode(.forbidden),
                detail: "the server answered \(response.status)\(said); check the tileset's headers and key")
        default:
            return .failed(
                cause: CauseCode(status: response.status),
                detail: "the server answered \(response.status) (attempts: \(response.attempts))\(said)")
        }
    }

    /// What a map service says in place of a tile; `nil` for other bodies.
    private static func message(of response: TransferResponse) -> ServiceMessage? {
        guard Gzip.isGzip(response.body) else { return ServiceMessage(in: response.body) }
        // A body that does not unpack is no message.
        return (try? Gzip.decompress(response.body, limit: 1 << 20)).flatMap(ServiceMessage.init(in:))
    }

    /// Validators longer than any real one are dropped.
    private static func short(_ text: String?) -> String? {
        text.flatMap { $0.utf8.count <= TileValidators.longest ? $0 : nil }
    }
}

extension ResponseJudge.Earlier {
    /// One fetch more.
    fileprivate func next(received: Int) -> ResponseJudge.Earlier {
        ResponseJudge.Earlier(fetches: fetches + 1, received: received, isUnconditional: isUnconditional)
    }
}
