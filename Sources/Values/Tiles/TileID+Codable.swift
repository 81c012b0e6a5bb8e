extension TileID: Codable {
    /// Reads the text "z/x/y" and refuses a tile that does not exist.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let tile = TileID(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Tile '\(text.prefix(40))' does not exist; expected 'z/x/y' within zoom 0...22."))
        }
        self = tile
    }

    /// Writes the text "z/x/y".
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}
