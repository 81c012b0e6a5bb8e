internal import Errors

/// What pictures of a tileset must be, besides whole: of a size, and without loss where their colours are numbers.
public struct PictureRule: Sendable, Hashable {
    /// Width and height in pixels; `nil` = any.
    public let side: Int?
    /// Whether pictures that do not keep every colour are refused: heights out of them are wrong.
    public let isLossless: Bool

    /// A rule; `nil` when it would allow every picture.
    public init?(side: Int?, isLossless: Bool) {
        guard side != nil || isLossless else { return nil }
        (self.side, self.isLossless) = (side, isLossless)
    }

    /// Refuses a whole picture that the rule does not allow.
    ///
    /// - Throws: ``TileBodiesError`` `.wrongType` that says what was found.
    func check(_ bytes: UnsafeRawBufferPointer, _ format: TileFormat) throws(TileBodiesError) {
        guard let header = PictureHeader(bytes) else {
            throw TileBodiesError(.badImage, "the \(format.traits.name) does not say its size")
        }
        if let side, header.size.width != side || header.size.height != side {
            throw TileBodiesError(
                .wrongType,
                "the picture has \(header.size) pixels, the tileset says tile_size \(side)")
        }
        guard isLossless, header.isLossy else { return }
        throw TileBodiesError(
            .wrongType,
            "the picture is a lossy \(format.traits.name), out of which heights cannot be read; PNG and lossless WebP keep them"
        )
    }
}
