public import Errors

/// Checks that a fetched body is a complete tile of the declared type, and converts it to its canonical form.
///
/// Keeps libdeflate's working memory and one unpacking buffer between calls. Not Sendable: make one per worker thread.
public final class BodyChecker {
    private let inflater: Inflater
    private let packer = GzipPacker()
    private let limit: Int
    private let layers: LayerCache?
    private let choice: LayerChoice?
    private let takesAnyPicture: Bool
    private let refusal: Refusal?
    private let pictures: PictureRule?
    /// The traits of the last checked vector tile; only if there is a layer memory.
    public private(set) var checkedLayers: [LayerCache.Number]?

    /// Throws for a body that is whole, but stands for something else: `.emptyBody` for no tile, `.rejectedBody` for a refusal.
    public typealias Refusal = @Sendable ([UInt8]) throws(TileBodiesError) -> Void

    /// - Parameters:
    ///   - limit: The most bytes a body may have, packed or unpacked. Default 64 MiB.
    ///   - layers: Numbers the layers of checked vector tiles; `nil` if they are not needed.
    ///   - choice: The layers that vector tiles keep; `nil` = all. A tile with none of them is empty.
    ///   - takesAnyPicture: Whether a picture of another format than the declared one is a tile too, as in archives
    ///     with PNG and JPEG.
    ///   - refusal: Judges each canonical body, and each body that is no tile; `nil` = none is refused.
    ///   - pictures: What pictures must be besides whole; `nil` = nothing.
    public init(
        limit: Int = Gzip.defaultLimit, layers: LayerCache? = nil, choice: LayerChoice? = nil,
        takesAnyPicture: Bool = false, refusal: Refusal? = nil, pictures: PictureRule? = nil
    ) {
        self.limit = limit
        self.layers = layers
        self.choice = choice
        self.takesAnyPicture = takesAnyPicture
        self.refusal = refusal
        self.pictures = pictures
        inflater = Inflater(limit: limit)
    }

    /// Returns the canonical body of a whole tile of the declared type.
    ///
    /// - Vector tiles: the gzip bytes exactly as they were served, whether the server called them a Content-Encoding or
    ///   not; one superfluous layer of gzip is removed; anything else (raw, `deflate`, zlib without a label, several gzip
    ///   members) is packed by ``Gzip``. Every layer has been scanned.
    /// - Rasters: the image, with the Content-Encoding undone. Structure and checksums have been walked, pixels not decoded.
    ///
    /// A raw vector tile carries no length: if it was truncated exactly between two layers, this cannot be detected.
    ///
    /// A gzip body that unpacks to nothing is a legal vector tile without layers, and kept: servers store real tiles so.
    ///
    /// - Throws: ``TileBodiesError``; `.emptyBody` for a body without bytes, which callers record as an empty tile.
    public func check(
        _ body: [UInt8], coding: BodyCoding, declared: TileFormat
    ) throws(TileBodiesError) -> [UInt8] {
        guard let refusal else { return try canonical(body, coding: coding, declared: declared) }
        let whole: [UInt8]
        do throws(TileBodiesError) {
            whole = try canonical(body, coding: coding, declared: declared)
        } catch {
            try refusal(body)
            throw error
        }
        try refusal(whole)
        return whole
    }

    private func canonical(
        _ body: [UInt8], coding: BodyCoding, declared: TileFormat
    ) throws(TileBodiesError) -> [UInt8] {
        guard !body.isEmpty else { throw TileBodiesError(.emptyBody, "the body has no bytes") }
        guard body.count <= limit else {
            throw TileBodiesError(.tooLarge, "the body has \(body.count) bytes; the limit is \(limit)")
        }
        defer { inflater.release() }
        checkedLayers = nil
        switch coding {
        case .deflate, .brotli, .zstd:
            let unpacked = try body.borrow { (input) throws(TileBodiesError) in
                try inflater.unpack(input, coding)
                return [UInt8](inflater.output)
            }
            return try canonical(unpacked, coding: .identity, declared: declared)
        case .identity, .gzip:
            return declared.traits.isVector
                ? try checkVector(body, isGzip: coding == .gzip, declared)
                : try checkRaster(body, isGzip: coding == .gzip, declared)
        }
    }

    /// The layers and fields of a canonical vector tile body.
    ///
    /// - Parameters:
    ///   - format: A vector format; a picture has no layers.
    ///   - isChecked: Whether ``check(_:coding:declared:)`` returned it, in this or another process; then it
    ///   is not scanned again.
    /// - Throws: ``TileBodiesError`` as ``check(_:coding:declared:)`` does.
    public func summary(
        of body: [UInt8], as format: TileFormat = .mvt, isChecked: Bool = false
    ) throws(TileBodiesError) -> VectorTileSummary {
        try body.borrow { (input) throws(TileBodiesError) in
            try summary(of: input, as: format, isChecked: isChecked)
        }
    }

    /// The same of borrowed bytes.
    public func summary(
        of body: UnsafeRawBufferPointer, as format: TileFormat = .mvt, isChecked: Bool = false
    ) throws(TileBodiesError) -> VectorTileSummary {
        defer { inflater.release() }
        guard let layers = format.traits.layers else { return VectorTileSummary(layers: []) }
        guard Gzip.isGzip(body) else { return try layers(body, isChecked) }
        _ = try inflater.gunzip(body)
        return try layers(inflater.output, isChecked)
    }

    private enum Verdict {
        case asServed
        case packed([UInt8])
        case unwrapped([UInt8])
    }

    private func checkVector(
        _ body: [UInt8], isGzip: Bool, _ declared: TileFormat, depth: Int = 0
    ) throws(TileBodiesError) -> [UInt8] {
        let verdict = try body.borrow { (input) throws(TileBodiesError) -> Verdict in
            guard isGzip || Gzip.isGzip(input) else { return .packed(try packed(input, declared)) }
            let members = try gunzip(input, declared: declared)
            if depth == 0, Gzip.isGzip(inflater.output) { return .unwrapped([UInt8](inflater.output)) }
            if let chosen = try examine(inflater.output, declared) { return .packed(chosen) }
            return members == 1 ? .asServed : .packed(packer.compress(inflater.output))
        }
        switch verdict {
        case .asServed: return body
        case .packed(let bytes): return bytes
        case .unwrapped(let inner): return try checkVector(inner, isGzip: true, declared, depth: depth + 1)
        }
    }

    /// Packs a vector tile that is not gzip: raw, or a zlib stream, as some writers store it.
    private func packed(_ input: UnsafeRawBufferPointer, _ declared: TileFormat) throws(TileBodiesError) -> [UInt8] {
        guard Zlib.begins(input) else { return try examine(input, declared) ?? packer.compress(input) }
        do throws(TileBodiesError) { try inflater.unzlib(input) } catch {
            // The first bytes can be chance; else the fault of the stream explains more.
            do throws(TileBodiesError) { return try examine(input, declared) ?? packer.compress(input) } catch _ {
                throw error
            }
        }
        return try examine(inflater.output, declared) ?? packer.compress(inflater.output)
    }

    /// Scans an unpacked vector tile, and packs its chosen layers; `nil` if all layers are chosen.
    private func examine(
        _ tile: UnsafeRawBufferPointer, _ declared: TileFormat
    ) throws(TileBodiesError) -> [UInt8]? {
        if !tile.isEmpty { try scan(tile, declared) }
        guard let choice, let kept = try choice.kept(of: tile) else {
            try numberLayers(tile, declared)
            return nil
        }
        guard !kept.isEmpty else { throw TileBodiesError(.emptyBody, "the tile has none of the chosen layers") }
        return try kept.borrow { (bytes) throws(TileBodiesError) in
            try numberLayers(bytes, declared)
            return packer.compress(bytes)
        }
    }

    /// Gives the layers of a scanned tile their numbers.
    private func numberLayers(
        _ tile: UnsafeRawBufferPointer, _ declared: TileFormat
    ) throws(TileBodiesError) {
        guard let layers, let reading = declared.traits.layers else { return }
        checkedLayers = tile.isEmpty ? [] : try layers.numbers(of: reading(tile, true))
    }

    /// Scans an unpacked body; for other content, throws the most helpful error.
    private func scan(_ bytes: UnsafeRawBufferPointer, _ declared: TileFormat) throws(TileBodiesError) {
        do { try declared.traits.scan(bytes) } catch {
            throw DocumentSniffer.refusal(of: bytes, declared: declared) ?? error
        }
    }

    private func checkRaster(
        _ body: [UInt8], isGzip: Bool, _ declared: TileFormat
    ) throws(TileBodiesError) -> [UInt8] {
        let unpacked = try body.borrow { (input) throws(TileBodiesError) -> [UInt8]? in
            guard isGzip || Gzip.isGzip(input) else {
                try walk(input, declared)
                return nil
            }
            _ = try gunzip(input, declared: declared)
            try walk(inflater.output, declared)
            return [UInt8](inflater.output)
        }
        return unpacked ?? body
    }

    private func gunzip(_ input: UnsafeRawBufferPointer, declared: TileFormat) throws(TileBodiesError) -> Int {
        do {
            return try inflater.gunzip(input)
        } catch  where error.code == .badCoding && !Gzip.isGzip(input) {
            // The Content-Encoding is wrong; the real type of the body explains more than "not gzip".
            throw DocumentSniffer.refusal(of: input, declared: declared) ?? error
        }
    }

    private func walk(_ bytes: UnsafeRawBufferPointer, _ declared: TileFormat) throws(TileBodiesError) {
        guard !bytes.isEmpty else { throw TileBodiesError(.emptyBody, "the body unpacks to no bytes") }
        let format = takesAnyPicture ? TileFormat(pictureBeginning: bytes) ?? declared : declared
        try scan(bytes, format)
        try pictures?.check(bytes, format)
    }
}
