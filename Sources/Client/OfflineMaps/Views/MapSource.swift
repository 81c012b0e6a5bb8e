internal import Foundation
internal import Synchronization
internal import TextFormats
internal import TileBodies
public import Tiles

/// The tiles of one tileset for a map view: from the store, then from the ambient cache, then from the network.
///
/// What comes from the network is kept in the ambient cache. Equal requests are joined into one.
public final class MapSource: Sendable {
    /// Lets the store load the whole pack that has a tile; returns when the pack is readable or cannot be loaded.
    typealias PackLoading = @Sendable (TileID) async -> Void

    private let tiles: TileReader
    private let web: WebResources
    private let tileset: String
    private let online: OnlineSource?
    private let template: TileTemplate?
    private let use: StoreUse
    private let isDense: Bool
    private let loadPack: PackLoading?
    /// Lets a few packs be loaded at once: tiles of one pack then find it.
    private let packGate = RequestGate(perSecond: 1_000, parallel: 2)
    /// Tiles that no pack gave, and until when no pack is asked for.
    private let missing = Mutex<[TileID: ContinuousClock.Instant]>([:])

    /// Joins the parts.
    ///
    /// - Parameters:
    ///   - isDense: Whether `{ratio}` of the address becomes `@2x`.
    ///   - loadPack: Called with a tile that the store does not have, for ``StoreUse/readAndUpdate``.
    init(
        _ tiles: TileReader, _ web: WebResources, tileset: String, online: OnlineSource?, use: StoreUse,
        isDense: Bool = false, loadPack: PackLoading? = nil
    ) {
        self.tiles = tiles
        self.web = web
        self.tileset = tileset
        self.online = online
        self.use = use
        self.isDense = isDense
        self.loadPack = loadPack
        template = online.flatMap { TileTemplate($0.template, isTMS: $0.isTMS) }
    }

    /// A tile.
    ///
    /// A tile that has expired is asked for again while a request may be sent; else it is the answer, marked as stale.
    /// 204 and 404 of the server are remembered as an empty tile.
    ///
    /// - Returns: `absent` when the tile is not here and no request may be sent for it.
    /// - Throws: `network` when the request failed and the tile is not here; `damaged` when the store has the tile in a file
    ///   that cannot be read, and it is nowhere else; `invalid-arguments` for an address without {z}, {x} and {y}.
    public func tile(_ id: TileID) async throws(StoreError) -> TileAnswer {
        if let online, template == nil {
            throw .failing(
                .invalidArguments, "'\(online.template)' is not the address of tiles: {z}, {x} and {y} are needed.")
        }
        let stored = stored(id)
        if let answer = stored.answer { return answer }
        if use == .readAndUpdate, web.permission.allowsRequests, let answer = await loaded(id) { return answer }
        do throws(StoreError) {
            let answer = try await viewed(id)
            if case .absent = answer, let damage = stored.damage { throw damage }
            return answer
        } catch { throw stored.damage ?? error }
    }

    /// What the store has; no answer for a tile that it does not have.
    private func stored(_ id: TileID) -> (answer: TileAnswer?, damage: StoreError?) {
        guard use != .disabled else { return (nil, nil) }
        do throws(StoreError) {
            let answer = try tiles.tile(id, of: tileset)
            if case .absent = answer { return (nil, nil) }
            return (answer, nil)
        } catch { return (nil, error) }
    }

    /// What the store has after its pack was loaded.
    private func loaded(_ id: TileID) async -> TileAnswer? {
        guard let loadPack, missing.withLock({ $0[id] }).map({ $0 < .now }) ?? true else { return nil }
        let answer = await packGate.pass { () async -> TileAnswer? in
            // The pack may have come for another tile meanwhile.
            if let answer = stored(id).answer { return answer }
            await loadPack(id)
            return stored(id).answer
        }
        guard let answer, !Task.isCancelled else { return nil }
        if answer == nil {
            missing.withLock { missing in
                if missing.count >= 10_000 { missing = [:] }
                missing[id] = .now + .seconds(60)
            }
        }
        return answer
    }

    /// What was viewed before, or comes from the server.
    private func viewed(_ id: TileID) async throws(StoreError) -> TileAnswer {
        let place = AmbientEntry.Place(tileset: tileset, tile: id)
        guard let online, let template, online.zooms?.contains(id.zoom) ?? true else {
            guard let entry = web.ambient.entry(place) else { return .absent }
            return answer(entry, isStale: !entry.isFresh(Date()))
        }
        let request = WebRequest(
            address: template.address(of: id, isDense: isDense), kind: .tile, headers: online.headers, place: place,
            timeout: online.timeout, gate: web.gate(online))
        do throws(FetchError) {
            // Whole packs only: a single tile is not asked for.
            switch try await web.load(request, asks: use != .readAndUpdate) {
            case .body(let entry, let isStale): return answer(entry, isStale: isStale)
            case .empty: return .empty
            case .absent: return .absent
            }
        } catch {
            throw .failing(
                error.cause, "The tile \(id) of '\(tileset)' cannot be loaded: \(Sentence.inner(error.message))",
                below: error)
        }
    }

    private func answer(_ entry: AmbientEntry, isStale: Bool) -> TileAnswer {
        guard let bytes = entry.body else { return .empty }
        let body = StoredBody(viewed: bytes, mediaType: entry.mediaType)
        return .found(
            Tile(
                body: body.bytes, coding: body.coding, mediaType: body.mediaType,
                origin: Origin(tileset: tileset, isAmbient: true), isStale: isStale))
    }
}

extension StoredBody {
    /// A body from a server; servers name vector tiles in several ways.
    init(viewed bytes: Data, mediaType: String?) {
        let image = StoredBody.imageType(bytes)
        let isVector = image == nil && mediaType.map { TileFormat(word: $0)?.traits.isVector == true } ?? true
        self.init(bytes, isVector: isVector, mediaType: image ?? mediaType)
    }
}
