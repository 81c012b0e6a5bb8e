public import Errors
public import Tiles

extension Tileset {
    /// The most archives of a source, after it was narrowed to an area.
    static let maxArchives = 4_096

    /// The archives of a source that consists of several; empty for other sources.
    ///
    /// - Throws: ``TilesetsError`` for a text that is no archive.
    public func archives() throws(TilesetsError) -> [ArchivePart] {
        guard source.scheme == .archives else { return [] }
        var parts: [ArchivePart] = []
        for text in source.addresses {
            guard let part = ArchivePart(text) else {
                throw TilesetsError(.badValue, "Tileset '\(id)': '\(text.prefix(80))' is no archive with its zooms.")
            }
            parts.append(part)
        }
        return parts
    }

    /// The tileset with those of its archives alone that tiles of a mask can be in; other sources stay as they are.
    ///
    /// Workers open what is left, and no other archive.
    /// - Throws: ``TilesetsError`` `.badValue` when none is left, or too many.
    public func narrowed(to mask: TileMask, zooms: ZoomRange) throws(TilesetsError) -> Tileset {
        guard source.scheme == .archives else { return self }
        var tileset = self
        var texts: [String] = []
        for part in try archives() {
            // Before a template becomes a list.
            let count = part.count(for: mask, zooms: zooms)
            guard count <= UInt64(Self.maxArchives) else { throw tooManyArchives(count) }
            texts += part.parts(for: mask, zooms: zooms).map(\.text)
        }
        tileset.source = TileSource(.archives, texts)
        try tileset.checkArchives()
        return tileset
    }

    /// A tileset of one of the archives, as if it were alone.
    public func alone(_ part: ArchivePart) -> Tileset {
        var tileset = self
        let scheme: SourceScheme =
            part.isRemote ? .remotePMTiles : part.address.lowercased().hasSuffix(".mbtiles") ? .mbtiles : .pmtiles
        tileset.source = TileSource(scheme, part.address)
        return tileset
    }

    /// Checks the archives of a source of several.
    func checkArchives() throws(TilesetsError) {
        let parts = try archives()
        guard !parts.isEmpty else {
            throw TilesetsError(
                .badValue,
                "Tileset '\(id)': none of its archives has tiles of this area and these zooms. Choose others, or add an archive."
            )
        }
        guard parts.count <= Self.maxArchives else { throw tooManyArchives(UInt64(parts.count)) }
        for part in parts {
            if let cell = part.cellZoom, cell > part.zooms.min {
                throw TilesetsError(
                    .badValue,
                    "Tileset '\(id)': the archive '\(part.address)' is divided by tiles of zoom \(cell), so it cannot have zoom \(part.zooms.min)."
                )
            }
            let isTemplate = part.address.contains("{x}") && part.address.contains("{y}")
            if case .cells = part.extent, !isTemplate {
                throw TilesetsError(
                    .badTemplate,
                    "Tileset '\(id)': the archive '\(part.address)' has cell_zoom, so its url needs {x} and {y}.")
            }
            try checkAddress(of: part)
        }
    }

    private func tooManyArchives(_ count: UInt64) -> TilesetsError {
        TilesetsError(
            .badValue,
            "Tileset '\(id)': \(count) archives are needed; at most \(Self.maxArchives) can be read in one job. Choose a smaller area."
        )
    }

    private func checkAddress(of part: ArchivePart) throws(TilesetsError) {
        var plain = part.address
        if case .cells = part.extent {
            for name in ["{z}", "{x}", "{y}"] { plain = plain.replacing(name, with: "0") }
        }
        if plain.contains("{x}") || plain.contains("{y}") {
            throw TilesetsError(
                .missingKey,
                "Tileset '\(id)': the archive '\(part.address)' has {x} and {y}; say which tiles they count: cell_zoom: 6."
            )
        }
        let alone = alone(ArchivePart(part.zooms, part.extent, at: plain))
        if part.isRemote { try alone.checkRemoteFile() } else { try alone.checkFile() }
    }
}
