public import Foundation
internal import StyleFormat
internal import TextFormats

extension ResourceResolver {
    /// The ids of the installed styles, sorted.
    public var styles: [String] { snapshot.packs.map(\.id).sorted() }

    /// An installed style with the addresses that a renderer can read.
    ///
    /// With `.served(at:)` all addresses are below one address; ``resource(served:)`` and ``load(served:)`` answer what is
    /// asked there. With `.files(of:)` the item's tiles have an address `mbtiles://` (`pmtiles://` for such a file) with
    /// today's path, and sprites and glyphs are files of the style pack; do not store it, because the folder of an app
    /// can move. Sources whose tiles are not installed keep the address of their server.
    ///
    /// - Parameter id: The id of the style, or its own address.
    /// - Throws: `not-found` for a style or an item that is not installed; `invalid-arguments` for an item that is not one
    ///   file of tiles; `damaged` for a style that cannot be read.
    public func style(_ id: String, _ form: StyleForm) throws(StoreError) -> Data {
        let snapshot = snapshot
        guard let pack = snapshot.packs.first(where: { $0.id == id || $0.pack.index.style == id })?.pack else {
            if let damage = snapshot.damaged[id] { throw damage }
            throw StoreError(
                .notFound, "The style '\(id)' is not installed.", advice: "Download it first.")
        }
        do throws(StylesError) {
            let document = try pack.style().document
            let sources = StyleSources(document, pack, maps: snapshot.maps) { tiles.layers(of: $0).source }
            let absolute = try document.absolute(base: pack.index.style)
            switch form {
            case .served(let base): return Data(try sources.served(base).apply(to: absolute))
            case .files(let item):
                return Data(try sources.files(try map(item, snapshot), pack.folder).apply(to: absolute))
            }
        } catch {
            if let reason = error.cause as? StoreError { throw reason }
            throw StoreError(
                .damaged, "The style '\(id)' cannot be read: \(Sentence.inner(error.message))",
                advice: "Install it again, or repair the store.", cause: error)
        }
    }

    /// The unit of an item with one file, and the address of its file.
    private func map(_ item: Item, _ snapshot: ResourceSnapshot) throws(StylesError) -> (
        unit: InstalledFile, address: String
    ) {
        let names = ["mbtiles": "mbtiles://", "pmtiles": "pmtiles://file://"]
        guard case .package = item else {
            throw Self.failure(.invalidArguments, "\(item.subject) is not one file of tiles; name a package.")
        }
        guard let unit = snapshot.maps.first(where: { $0.item == item }) else {
            guard !snapshot.maps.contains(where: { item.isMade(of: $0.item) }) else {
                throw Self.failure(.invalidArguments, "\(item.subject) is several files; use a style that is served.")
            }
            throw Self.failure(.notFound, "\(item.subject) is not installed.")
        }
        guard let scheme = names[unit.format.name],
            let path = unit.isOutside ? unit.path : folder.file(unit.path)?.path
        else {
            throw Self.failure(.invalidArguments, "Renderers cannot read a file '\(unit.format.name)' by its path.")
        }
        return (unit, scheme + path.partsBetweenSlashes().map(ServedAddress.encoded).joined(separator: "/"))
    }

    private static func failure(_ code: StoreError.Code, _ message: String) -> StylesError {
        StylesError(.badStyle, message, cause: StoreError(code, message))
    }

    // MARK: - What a server on the device answers

    /// What is installed for an address of a style `.served(at:)`; the network is not used.
    ///
    /// - Parameter path: The part of the address below the style's, with its query, as it was sent.
    /// - Returns: `nil` when it is not here, and for a path that no such style has.
    /// - Throws: `damaged` when it is here and cannot be read.
    public func resource(served path: String) throws(StoreError) -> Resource? {
        switch ServedAddress(path) {
        case .tile(let tileset, let tile): Resource(try tiles.tile(tile, of: tileset))
        case .original(let url): try resource(url)
        case nil: nil
        }
    }

    /// What is installed, was viewed, or comes from the network, for an address of a style `.served(at:)`.
    ///
    /// - Parameter asks: Whether a request may be sent, if the network rule allows it.
    /// - Throws: As ``load(_:asks:)`` does.
    public func load(served path: String, asks: Bool = true) async throws(StoreError) -> Resource? {
        switch ServedAddress(path) {
        case .tile(let tileset, let tile):
            if let found = Resource(try tiles.tile(tile, of: tileset)) { return found }
            guard let template = snapshot.templates.first(where: { $0.tileset == tileset })?.template,
                let url = URL(string: template.address(of: tile))
            else { return nil }
            return try await load(url, asks: asks)
        case .original(let url): return try await load(url, asks: asks)
        case nil: return nil
        }
    }
}
