public import Foundation
internal import TextFormats
internal import TileBodies

extension ResourceResolver {
    /// A resource by the address that the style has for it: installed, else viewed before, else from the network.
    ///
    /// What comes from the network is kept in the ambient cache; equal requests are joined into one. A resource that
    /// has expired is asked for again while a request may be sent; else it is the answer, marked as stale.
    ///
    /// - Parameter asks: Whether a request may be sent, if the network rule allows it.
    /// - Returns: `nil` when it is not here and no request may be sent for it, and when the server does not have it.
    /// - Throws: `network` when the request failed and nothing is here; `damaged` when the installed resource cannot be
    ///   read, and it is nowhere else.
    public func load(_ url: URL, asks: Bool = true) async throws(StoreError) -> Resource? {
        var damage: StoreError?
        do throws(StoreError) {
            if let found = try resource(url) { return found }
        } catch { damage = error }
        do throws(StoreError) {
            if let found = try await viewed(url, asks: asks) { return found }
        } catch { throw damage ?? error }
        if let damage { throw damage }
        return nil
    }

    private func viewed(_ url: URL, asks: Bool) async throws(StoreError) -> Resource? {
        guard let web, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else { return nil }
        var request = WebRequest(address: url.absoluteString, kind: .init(guessing: url))
        for (template, tileset) in snapshot.templates {
            guard let tile = template.tile(request.address) else { continue }
            (request.kind, request.place) = (.tile, AmbientEntry.Place(tileset: tileset, tile: tile))
            break
        }
        do throws(FetchError) {
            switch try await web.load(request, asks: asks) {
            case .body(let entry, let isStale):
                return Self.resource(entry, isStale: isStale, request.kind)
            case .empty: return .empty
            case .absent: return nil
            }
        } catch {
            if error.cause == .notFound { return nil }
            throw .failing(
                error.cause, "A resource of a map cannot be loaded: \(Sentence.inner(error.message))", below: error)
        }
    }

    private static func resource(_ entry: AmbientEntry, isStale: Bool, _ kind: ResourceRequest.Kind) -> Resource {
        let bytes = entry.body ?? Data()
        guard kind == .tile else {
            let type = entry.mediaType ?? StoredBody.imageType(bytes) ?? kind.mediaType
            return Resource(body: bytes, mediaType: type, etag: entry.etag, isStale: isStale)
        }
        let body = StoredBody(viewed: bytes, mediaType: entry.mediaType)
        return Resource(
            body: body.bytes, mediaType: body.mediaType, coding: body.coding, etag: entry.etag, isStale: isStale)
    }
}

extension ResourceRequest.Kind {
    /// The media type of a body whose server does not name it.
    fileprivate var mediaType: String {
        switch self {
        case .catalog, .style, .source: "application/json"
        case .glyphs: "application/x-protobuf"
        case .package, .patch, .pack, .tile, .sprite, .image, .other: "application/octet-stream"
        }
    }

    /// What an address asks for, by the form that the addresses of maps have.
    init(guessing url: URL) {
        let parts = url.path.lowercased().partsBetweenSlashes(omittingEmpty: true)
        let name = parts.last ?? ""
        let stem = name.prefix { $0 != "." && $0 != "@" }
        func isNumber(_ text: some StringProtocol) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        if parts.count >= 3, isNumber(parts[parts.count - 3]), isNumber(parts[parts.count - 2]), isNumber(stem) {
            self = .tile
        } else if name.hasSuffix(".pbf"), stem.split(separator: "-").count == 2,
            stem.split(separator: "-").allSatisfy({ isNumber($0) })
        {
            self = .glyphs
        } else if name.hasPrefix("sprite") {
            self = .sprite
        } else if TileFormat(ofAddress: name)?.traits.isVector == false {
            self = .image
        } else if name.hasSuffix(".json") {
            self = name.hasPrefix("style") ? .style : .source
        } else {
            self = .other
        }
    }
}
