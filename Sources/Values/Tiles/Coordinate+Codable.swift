extension Coordinate: Codable {
    /// Reads `[longitude, latitude]` and refuses numbers that are not finite.
    public init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let (longitude, latitude) = (try values.decode(Double.self), try values.decode(Double.self))
        guard longitude.isFinite, latitude.isFinite else {
            throw DecodingError.dataCorruptedError(in: values, debugDescription: "A coordinate is not a finite number.")
        }
        self.init(longitude: longitude, latitude: latitude)
    }

    /// Writes `[longitude, latitude]`, as GeoJSON does.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(longitude)
        try values.encode(latitude)
    }
}
