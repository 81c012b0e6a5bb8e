extension TileID {
    /// The tile of a zoom that holds a place.
    ///
    /// Latitudes beyond Web Mercator give the first or last row; longitudes beyond ±180 wrap. `nil` when the zoom is not
    /// 0...22 or the place is not finite.
    public init?(at place: Coordinate, zoom: Int) {
        guard (0...Self.maxZoom).contains(zoom), place.longitude.isFinite, place.latitude.isFinite else { return nil }
        let longitude = place.longitude.remainder(dividingBy: 360)
        let point = MercatorPoint(longitude: longitude, latitude: place.latitude)
        let units = MercatorPoint.world >> Int64(zoom)
        self.init(
            trusted: zoom, Int(point.x & (MercatorPoint.world - 1)) / Int(units),
            Int(Swift.min(point.y, MercatorPoint.world - 1) / units))
    }
}
